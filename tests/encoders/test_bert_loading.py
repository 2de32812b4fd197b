import hashlib
import json
import shutil

import keras
import numpy as np
import pytest
from contract import arrays
from encoders.hugging_face_files import CONFIG, random_weights, tf_bert, write_folder
from encoders.test_every_encoder import FIXTURES, INPUTS, KEPT
from safetensors.numpy import load_file

from bert_keras_layers import BertEncoder, BertPreprocessor

PARITY = {"rtol": 0, "atol": 2e-5}


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ["hub_encoder", "hub_encoder_v2"])
def test_hub_weights_give_the_states_of_the_saved_model(name):
    import tensorflow as tf

    outputs = BertEncoder.from_hub(FIXTURES / name)(INPUTS)
    model = tf.saved_model.load(str(FIXTURES / name))
    if name == "hub_encoder":
        names = ("input_word_ids", "input_mask", "input_type_ids")
        given = dict(zip(names, INPUTS.values(), strict=True))
        expected = model(given, training=False, mask=None)
        last, pooled = expected["sequence_output"], expected["pooled_output"]
        for ours, theirs in zip(
            outputs["hidden_states"][1:], expected["encoder_outputs"], strict=True
        ):
            np.testing.assert_allclose(ours[KEPT], theirs[KEPT], **PARITY)
    else:
        pooled, last = model([*INPUTS.values()], training=False, mask=None)
    np.testing.assert_allclose(outputs["last_hidden_state"][KEPT], last[KEPT], **PARITY)
    np.testing.assert_allclose(outputs["pooler_output"], pooled, **PARITY)


@pytest.mark.tensorflow
def test_hub_state_0_is_what_the_saved_model_hides():
    import tensorflow as tf

    outputs = BertEncoder.from_hub(FIXTURES / "hub_encoder")(INPUTS)
    network = getattr(
        tf.saved_model.load(str(FIXTURES / "hub_encoder")), "layer_with_weights-0"
    )
    embedded = network._embedding_layer(INPUTS["input_ids"])
    embedded += network._position_embedding_layer(embedded)
    embedded += network._type_embedding_layer(INPUTS["token_type_ids"])
    expected = network._embedding_norm_layer(embedded)
    np.testing.assert_allclose(outputs["hidden_states"][0], expected, **PARITY)


@pytest.mark.tensorflow
def test_the_digest_of_a_saved_model_is_checked(tmp_path):
    folder = shutil.copytree(FIXTURES / "hub_encoder_v2", tmp_path / "model")
    weights = folder / "variables" / "variables.data-00000-of-00001"
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    assert BertEncoder.from_hub(str(folder), sha256=digest, dropout=0.2).num_layers == 3
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    with pytest.raises(ValueError, match=f"SHA-256 of {weights} must be {digest}"):
        BertEncoder.from_hub(folder, sha256=digest)
    with pytest.raises(ValueError, match=f"SavedModel in {folder} must be whole"):
        BertEncoder.from_hub(folder)


@pytest.mark.tensorflow
def test_a_saved_model_comes_from_the_cache_of_kagglehub(tmp_path, monkeypatch):
    monkeypatch.setenv("KAGGLEHUB_CACHE", str(tmp_path))
    handle = "tensorflow/bert/TensorFlow2/tiny/4"
    shutil.copytree(FIXTURES / "hub_encoder", tmp_path / "models" / handle)
    (tmp_path / "models" / f"{handle}.complete").touch()
    expected = BertEncoder.from_hub(FIXTURES / "hub_encoder").get_weights()
    for source in (handle, f"https://www.kaggle.com/models/{handle}"):
        received = BertEncoder.from_hub(source).get_weights()
        for one, other in zip(received, expected, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.tensorflow
def test_a_loaded_saved_model_is_read_as_its_folder_is():
    import tensorflow as tf

    model = tf.saved_model.load(str(FIXTURES / "hub_encoder"))
    live = BertEncoder.from_hub(model)
    read = BertEncoder.from_hub(FIXTURES / "hub_encoder")
    for one, other in zip(live.get_weights(), read.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match="`sha256` is checked when files"):
        BertEncoder.from_hub(model, sha256="0" * 64)
    model.variables = model.variables[:1]
    with pytest.raises(ValueError, match="The SavedModel must be a BERT encoder"):
        BertEncoder.from_hub(model)


@pytest.mark.tensorflow
def test_a_saved_model_that_is_no_bert_is_named(tmp_path):
    import tensorflow as tf

    with pytest.raises(FileNotFoundError, match=r"must have a saved_model\.pb"):
        BertEncoder.from_hub(tmp_path)
    module = tf.Module()
    module.weight = tf.Variable([1.0])
    tf.saved_model.save(module, str(tmp_path))
    with pytest.raises(
        ValueError, match=r"Model Garden. Missing: embeddings\.position"
    ):
        BertEncoder.from_hub(tmp_path)


def google_name(name):
    """The name in google-research/bert of a weight of transformers' `BertModel`."""
    name = name.removesuffix(".weight") if "_embeddings" in name else name
    if "LayerNorm" in name:
        name = name.replace(".weight", ".gamma").replace(".bias", ".beta")
    name = name.replace(".weight", ".kernel").replace("layer.", "layer_")
    return "bert/" + name.replace(".", "/")


def write_tf1_checkpoint(folder, weights):
    """Writes weights as google-research/bert does, with optimizer slots and heads."""
    import tensorflow as tf

    folder.mkdir(exist_ok=True)
    config = {key: CONFIG[key] for key in CONFIG if key not in ("model_type",)}
    del config["layer_norm_eps"]
    (folder / "bert_config.json").write_text(json.dumps(config))
    stored = {}
    for name, array in weights.items():
        google = google_name(name)
        stored[google] = array.T if google.endswith("kernel") else array
        stored[f"{google}/adam_m"] = np.zeros_like(stored[google])
    stored["cls/predictions/output_bias"] = np.zeros(30, "float32")
    stored["global_step"] = np.array(7)
    tf.raw_ops.SaveV2(
        prefix=str(folder / "bert_model.ckpt"),
        tensor_names=list(stored),
        shape_and_slices=[""] * len(stored),
        tensors=list(stored.values()),
    )
    return folder


@pytest.mark.tensorflow
def test_a_tf1_checkpoint_gives_the_states_of_tf_bert_with_tanh_gelu(tmp_path):
    weights = random_weights(CONFIG)
    folder = write_tf1_checkpoint(tmp_path / "tf1", weights)
    config = {**CONFIG, "hidden_act": "gelu_new"}
    reference = tf_bert(write_folder(tmp_path / "hf", config, weights))
    expected = reference(INPUTS, output_hidden_states=True)
    outputs = BertEncoder.from_checkpoint(folder)(INPUTS)
    for ours, theirs in zip(
        outputs["hidden_states"], expected.hidden_states, strict=True
    ):
        np.testing.assert_allclose(ours[KEPT], theirs[KEPT], **PARITY)
    np.testing.assert_allclose(outputs["pooler_output"], expected[1], **PARITY)


@pytest.mark.tensorflow
def test_what_is_missing_in_a_tf1_checkpoint_is_named(tmp_path):
    weights = random_weights(CONFIG)
    del weights["encoder.layer.1.output.dense.bias"]
    folder = write_tf1_checkpoint(tmp_path / "tf1", weights)
    with pytest.raises(ValueError, match=r"Missing: encoder\.layer\.1\.output\.dense"):
        BertEncoder.from_checkpoint(folder)
    shutil.copy(folder / "bert_model.ckpt.index", folder / "other.ckpt.index")
    with pytest.raises(ValueError, match="must have one checkpoint"):
        BertEncoder.from_checkpoint(folder)
    for file in folder.glob("*.index"):
        file.unlink()
    with pytest.raises(FileNotFoundError, match=r"must have a bert_model\.ckpt\.index"):
        BertEncoder.from_checkpoint(folder)
    (folder / "bert_config.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"must have a bert_config\.json"):
        BertEncoder.from_checkpoint(folder)


@pytest.mark.tensorflow
def test_a_live_tf_bert_is_copied(minilm):
    reference = tf_bert(minilm)
    encoder = BertEncoder.from_transformers(reference)
    loaded = BertEncoder.from_pretrained(minilm)
    for one, other in zip(encoder.get_weights(), loaded.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert encoder.architecture == loaded.architecture


@pytest.mark.tensorflow
def test_a_live_model_with_a_head_is_copied_without_it():
    from transformers import (
        BertConfig,
        RobertaConfig,
        TFBertForTokenClassification,
        TFRobertaModel,
    )

    sizes = {key: CONFIG[key] for key in CONFIG if key != "model_type"}
    model = TFBertForTokenClassification(BertConfig(**sizes))
    model.build_in_name_scope()
    expected = model(INPUTS, output_hidden_states=True).hidden_states
    outputs = BertEncoder.from_transformers(model)(INPUTS)
    assert "pooler_output" not in outputs
    for ours, theirs in zip(outputs["hidden_states"], expected, strict=True):
        np.testing.assert_allclose(ours[KEPT], theirs[KEPT], **PARITY)

    roberta = TFRobertaModel(RobertaConfig(**sizes))
    roberta.build_in_name_scope()
    with pytest.raises(ValueError, match="TFRobertaModel must describe a BERT"):
        BertEncoder.from_transformers(roberta)


@pytest.mark.parametrize("activation", ["gelu", "gelu_new"])
def test_a_saved_folder_loads_equally(activation, small_encoder, tmp_path):
    encoder = small_encoder(activation=activation, layer_norm_epsilon=1e-7)
    expected = arrays(encoder(INPUTS))
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u2028", "Ä", "##b"]
    preprocessor = BertPreprocessor(words, lowercase=False)
    encoder.save_pretrained(tmp_path / "bert", preprocessor)

    loaded = BertEncoder.from_pretrained(tmp_path / "bert")
    assert loaded.architecture == encoder.architecture
    for one, other in zip(arrays(loaded(INPUTS)), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    restored = BertPreprocessor.from_pretrained(tmp_path / "bert")
    assert restored.vocabulary == tuple(words)
    assert restored.lowercase is False
    assert restored.sequence_length == 20
    with pytest.raises(FileExistsError, match="must be no"):
        encoder.save_pretrained(tmp_path / "bert")


def test_a_saved_folder_holds_the_weights_under_their_names(minilm, tmp_path):
    encoder = BertEncoder.from_pretrained(minilm)
    encoder.save_pretrained(tmp_path / "bert")
    written = load_file(tmp_path / "bert" / "model.safetensors")
    original = load_file(minilm / "model.safetensors")
    del original["embeddings.position_ids"]
    assert written.keys() == original.keys()
    for name, array in written.items():
        np.testing.assert_array_equal(array, original[name])


@pytest.mark.tensorflow
def test_transformers_reads_a_saved_folder(small_encoder, tmp_path):
    encoder = small_encoder()
    encoder.save_pretrained(tmp_path / "bert")
    expected = tf_bert(tmp_path / "bert")(INPUTS, output_hidden_states=True)
    for ours, theirs in zip(
        encoder(INPUTS)["hidden_states"], expected.hidden_states, strict=True
    ):
        ours = keras.ops.convert_to_numpy(ours)
        np.testing.assert_allclose(ours[KEPT], theirs[KEPT], **PARITY)

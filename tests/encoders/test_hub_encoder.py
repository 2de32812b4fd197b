import json
import pathlib
import shutil

import keras
import numpy as np
import pytest
from contract import arrays, as_model, check_shapes
from encoders.hugging_face_files import random_weights, tf_bert
from encoders.test_every_encoder import FIXTURES, HUBS, INPUTS, KEPT, hub

from bert_keras_layers import (
    BertEncoder,
    HubEncoder,
    TextClassifier,
    TransformersEncoder,
)

pytestmark = pytest.mark.tensorflow

PARITY = {"rtol": 0, "atol": 2e-5}
LISTS = ("hub_encoder_v2", "hub_albert_list")
PLAIN = ("hub_encoder", "hub_encoder_v2")


def own_outputs(name, training=False):
    """The states that a SavedModel returns itself, and its pooled output."""
    import tensorflow as tf

    model = tf.saved_model.load(str(FIXTURES / name))
    if name in LISTS:
        pooled, last = model([*INPUTS.values()], training=training, mask=None)
        return [last], pooled
    names = ("input_word_ids", "input_mask", "input_type_ids")
    given = dict(zip(names, INPUTS.values(), strict=True))
    outputs = model(given, training=training, mask=None)
    return outputs["encoder_outputs"], outputs["pooled_output"]


@pytest.mark.parametrize("name", HUBS)
def test_states_are_those_of_the_saved_model(name):
    expected, pooled = own_outputs(name)
    outputs = hub(name)(INPUTS)
    states = outputs["hidden_states"][-len(expected) :]
    for ours, theirs in zip(states, expected, strict=True):
        np.testing.assert_allclose(ours[KEPT], theirs[KEPT], **PARITY)
    np.testing.assert_allclose(outputs["pooler_output"], pooled, **PARITY)
    # MobileBERT's files return the embedding output too, the others do not.
    returned = len(expected) - (name == "hub_mobilebert")
    assert len(outputs["hidden_states"]) == (
        4 if name in LISTS or name == "hub_albert" else returned + 1
    )


@pytest.mark.parametrize("name", [name for name in HUBS if name != "hub_mobilebert"])
def test_state_0_is_the_embedding_output(name):
    encoder = hub(name)
    weights = {w.path.rsplit("/", 1)[-1]: np.array(w) for w in encoder.weights}
    ids, types = INPUTS["input_ids"], INPUTS["token_type_ids"]
    summed = (
        weights["word_embeddings_embeddings"][ids]
        + weights["position_embedding_embeddings"][: ids.shape[1]]
        + weights["type_embeddings_embeddings"][types]
    )
    centred = summed - summed.mean(-1, keepdims=True)
    expected = centred / np.sqrt(summed.var(-1, keepdims=True) + 1e-12)
    expected *= weights["embeddings_layer_norm_gamma"]
    expected += weights["embeddings_layer_norm_beta"]
    if "embedding_projection_kernel" in weights:
        expected = expected @ weights["embedding_projection_kernel"]
        expected += weights["embedding_projection_bias"]
    first = encoder(INPUTS)["hidden_states"][0]
    np.testing.assert_allclose(first[KEPT], expected[KEPT], **PARITY)


@pytest.mark.parametrize("name", PLAIN)
def test_four_ways_give_the_same_states(name, tmp_path):
    live = hub(name)
    expected = live(INPUTS)
    native = live.to_native()
    native.save_pretrained(tmp_path / "bert")
    reference = tf_bert(tmp_path / "bert")(INPUTS, output_hidden_states=True)
    ways = {
        "native": native(INPUTS),
        "TFBertModel": {
            "hidden_states": reference.hidden_states,
            "pooler_output": reference.pooler_output,
        },
        "TransformersEncoder": TransformersEncoder.from_pretrained(tmp_path / "bert")(
            INPUTS
        ),
    }
    for outputs in ways.values():
        for ours, theirs in zip(
            outputs["hidden_states"], expected["hidden_states"], strict=True
        ):
            np.testing.assert_allclose(ours[KEPT], theirs[KEPT], **PARITY)
        np.testing.assert_allclose(
            outputs["pooler_output"], expected["pooler_output"], **PARITY
        )


@pytest.mark.parametrize("name", HUBS)
def test_shapes_export_and_xla(name, tmp_path):
    """The contract of layers, but for what needs a configuration."""
    import tensorflow as tf

    encoder = hub(name)
    for weight in encoder.weights:
        # Else states of MobileBERT, which has no LayerNorm, reach 39 and not about 1.
        weight.assign(0.7 * weight)
    expected = arrays(encoder(INPUTS))
    model = as_model(encoder, INPUTS)
    check_shapes(encoder, model, INPUTS, expected)
    model.export(tmp_path / "export", verbose=False)
    served = tf.saved_model.load(tmp_path / "export")  # Keep: it owns the variables.
    for ours, theirs in zip(served.serve(INPUTS), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, **PARITY)

    model.compile(keras.optimizers.SGD(0.1), "mse", jit_compile=True)
    for ours, theirs in zip(model.predict_on_batch(INPUTS), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, **PARITY)
    before = [weight.numpy() for weight in model.weights]
    rng = np.random.default_rng(0)
    model.train_on_batch(INPUTS, [rng.normal(size=x.shape) for x in expected])
    for weight, old in zip(model.weights, before, strict=True):
        # The bias of the keys adds the same to all scores of a query: no gradient.
        assert (weight.numpy() != old).any() or "key_bias" in weight.path, weight.path


@pytest.mark.parametrize("name", HUBS)
def test_dropout_is_on_in_training_only_and_never_when_frozen(name):
    encoder = hub(name)
    still, noisy = arrays(encoder(INPUTS)), arrays(encoder(INPUTS, training=True))
    assert all((one != other).any() for one, other in zip(still, noisy, strict=True))
    encoder.trainable = False
    for one, other in zip(still, arrays(encoder(INPUTS, training=True)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_dropout_of_the_embeddings_has_the_rate_of_the_file():
    encoder = hub()
    first = encoder(INPUTS)["hidden_states"][0].numpy()
    shares = []
    for _ in range(20):
        noisy = encoder(INPUTS, training=True)["hidden_states"][0].numpy()
        kept = noisy != 0
        np.testing.assert_allclose(noisy[kept], first[kept] / 0.9, rtol=1e-4)
        shares.append(kept.mean())
    assert np.mean(shares) == pytest.approx(0.9, abs=0.02)


def test_a_file_of_it_fails_closed_and_its_weights_still_load(tmp_path):
    model = as_model(hub(), INPUTS)
    for weight in model.weights:
        weight.assign(weight * 1.5)
    expected = model.predict_on_batch(INPUTS)
    model.save(tmp_path / "model.keras")
    for safe_mode in (True, False):
        with pytest.raises(ValueError, match=r"convert it with `to_native\(\)`"):
            keras.models.load_model(tmp_path / "model.keras", safe_mode=safe_mode)
    again = as_model(hub(), INPUTS)
    again.load_weights(tmp_path / "model.keras")
    for one, other in zip(again.predict_on_batch(INPUTS), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_to_native_takes_the_weights_as_they_are_now():
    encoder = hub()
    model = TextClassifier(encoder, 2, layers=[1, 2])
    model.fit(INPUTS, np.array([0, 1]), verbose=0)
    expected = arrays(encoder(INPUTS))
    native = encoder.to_native(dropout=0.3)
    assert native.architecture.dropout == 0.3
    for one, other in zip(arrays(native(INPUTS)), expected, strict=True):
        np.testing.assert_allclose(one, other, **PARITY)
    shorter = encoder.truncate(1).to_native()
    assert shorter.num_layers == 1
    np.testing.assert_allclose(
        arrays(shorter(INPUTS)["last_hidden_state"])[0], expected[1], **PARITY
    )


@pytest.mark.parametrize("name", [name for name in HUBS if name not in PLAIN])
def test_what_is_no_plain_bert_has_no_native_form(name):
    with pytest.raises(ValueError, match="The SavedModel must"):
        hub(name).to_native()


def test_an_export_needs_no_original(tmp_path, run_python):
    shutil.copytree(FIXTURES / "hub_encoder", tmp_path / "original")
    encoder = HubEncoder.from_pretrained(tmp_path / "original")
    inputs = encoder.inputs()
    model = keras.Model(inputs, encoder.truncate(1)(inputs)["last_hidden_state"])
    expected = model.predict_on_batch(INPUTS)
    model.export(tmp_path / "export", verbose=False)
    shutil.rmtree(tmp_path / "original")
    given = json.dumps({name: x.tolist() for name, x in INPUTS.items()})
    printed = run_python(
        f"""
import json, numpy as np, tensorflow as tf
served = tf.saved_model.load({str(tmp_path / "export")!r})
inputs = {{k: tf.constant(v) for k, v in json.loads({given!r}).items()}}
print(json.dumps(served.serve(inputs).numpy().tolist()))
"""
    )
    received = np.array(json.loads(printed.splitlines()[-1]))
    np.testing.assert_allclose(received, expected, rtol=1e-5, atol=1e-6)


def test_an_encoder_inside_a_saved_model_will_do():
    import tensorflow as tf

    model = tf.saved_model.load(str(FIXTURES / "hub_encoder"))
    inner = HubEncoder(getattr(model, "layer_with_weights-0"))
    for one, other in zip(arrays(inner(INPUTS)), arrays(hub()(INPUTS)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_pooler_can_be_left_out():
    encoder = HubEncoder.from_pretrained(FIXTURES / "hub_encoder", pooler=False)
    assert "pooler_output" not in encoder(INPUTS)
    assert not any("pooler" in weight.path for weight in encoder.weights)


def test_what_is_no_encoder_is_named():
    import tensorflow as tf

    with pytest.raises(ValueError, match=r"`model` must be a loaded SavedModel"):
        HubEncoder("https://tfhub.dev/tensorflow/bert/4")
    with pytest.raises(ValueError, match=r"must be a BERT encoder.*0 layers"):
        HubEncoder(tf.Module())
    with pytest.raises(ValueError, match="fixed to float32"):
        HubEncoder.from_pretrained(FIXTURES / "hub_encoder", dtype="mixed_bfloat16")


OLD_NAMES = {
    "embeddings.word_embeddings.weight": "word_embeddings/embeddings",
    "embeddings.position_embeddings.weight": (
        "embedding_postprocessor/position_embeddings"
    ),
    "embeddings.token_type_embeddings.weight": (
        "embedding_postprocessor/type_embeddings"
    ),
    "embeddings.LayerNorm": "embedding_postprocessor/layer_norm",
    "encoder.layer.": "encoder/layer_",
    ".attention.self": "/self_attention",
    ".attention.output.dense": "/self_attention_output",
    ".attention.output.LayerNorm": "/self_attention_layer_norm",
    ".intermediate.dense": "/intermediate",
    ".output.dense": "/output",
    ".output.LayerNorm": "/output_layer_norm",
    "pooler.dense": "pooler_transform",
}


def test_variable_names_of_2019_are_read(tmp_path):
    """By names and shapes alone: no exporter of that time runs any more."""
    import tensorflow as tf
    from encoders.hugging_face_files import CONFIG, write_folder

    weights = random_weights(CONFIG)
    config = {**CONFIG, "hidden_act": "gelu_new"}
    expected = BertEncoder.from_pretrained(
        write_folder(tmp_path / "hf", config, weights)
    )
    module = tf.Module()
    module.variables_of_2019 = []
    for name, array in weights.items():
        for theirs, old in OLD_NAMES.items():
            name = name.replace(theirs, old)
        is_norm = "layer_norm" in name
        name = name.replace(".weight", "/gamma" if is_norm else "/kernel")
        name = name.replace(".bias", "/beta" if is_norm else "/bias").replace(".", "/")
        array = array.T if name.endswith("kernel") else array
        if "self_attention/" in name:  # (in, heads, size of a head)
            array = array.reshape(*array.shape[:-1], 2, 4)
        elif name.endswith("self_attention_output/kernel"):
            array = array.reshape(2, 4, 8)
        variable = tf.Variable(array, name=f"bert_model/{name}")
        module.variables_of_2019.append(variable)
    model = type("Loaded", (), {"variables": module.variables_of_2019})()
    received = BertEncoder.from_hub(model)
    for one, other in zip(received.weights, expected.weights, strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(ValueError, match=r"`BertEncoder\.from_hub` may still"):
        HubEncoder(model)


def test_only_a_folder_with_a_saved_model_is_loaded(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must have a saved_model\.pb"):
        HubEncoder.from_pretrained(pathlib.Path(tmp_path))
    with pytest.raises(ValueError, match="SHA-256"):
        HubEncoder.from_pretrained(FIXTURES / "hub_encoder", sha256="0" * 64)

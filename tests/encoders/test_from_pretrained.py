import json
import pathlib

import keras
import numpy as np
import pytest
from contract import arrays
from encoders.hugging_face_files import CONFIG, random_weights, tf_bert, write_folder

from bert_keras_layers import BertEncoder, BertPreprocessor, GlobalPooling

STORED = pathlib.Path(__file__).with_name("minilm_states.npz")
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TEXTS = ["I love Paris", "Every hidden state of BERT, as ordinary Keras tensors!"]
PARITY = {"rtol": 0, "atol": 2e-5}


@pytest.fixture
def folder(tmp_path):
    return write_folder(tmp_path / "bert")


def states_of(outputs):
    """Returns states and pooler output, stacked: `(states, batch, tokens, width)`."""
    return np.stack(arrays(outputs["hidden_states"]))


def assert_equals_tf_bert(folder, inputs):
    outputs = BertEncoder.from_pretrained(folder)(inputs)
    expected = tf_bert(folder)(inputs, output_hidden_states=True)
    kept = inputs["attention_mask"] == 1
    for ours, theirs in zip(
        outputs["hidden_states"], expected.hidden_states, strict=True
    ):
        np.testing.assert_allclose(ours.numpy()[kept], theirs.numpy()[kept], **PARITY)
    np.testing.assert_allclose(
        outputs["pooler_output"], expected.pooler_output, **PARITY
    )


@pytest.mark.tensorflow
def test_every_state_of_real_weights_equals_tf_bert(minilm):
    inputs = BertPreprocessor.from_pretrained(minilm)(TEXTS, TEXTS[::-1])
    assert_equals_tf_bert(minilm, inputs)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"hidden_act": "gelu_new"},
        {"hidden_act": "relu", "type_vocab_size": 3},
        {"layer_norm_eps": 0.1},
    ],
)
def test_the_architecture_of_the_config_is_the_one_of_tf_bert(changes, tmp_path):
    folder = write_folder(tmp_path / "bert", {**CONFIG, **changes})
    rng = np.random.default_rng(1)
    ids = rng.integers(0, 30, (4, 9))
    lengths = np.array([[9], [1], [5], [3]])
    inputs = {
        "input_ids": ids,
        "attention_mask": (np.arange(9) < lengths).astype("int32"),
        "token_type_ids": rng.integers(0, changes.get("type_vocab_size", 2), (4, 9)),
    }
    assert_equals_tf_bert(folder, inputs)


def test_every_state_of_real_weights_equals_the_stored_ones(minilm):
    # Made with TFBertModel by make_minilm_states.py; every 16th unit.
    inputs = BertPreprocessor.from_pretrained(minilm)(TEXTS)
    outputs = BertEncoder.from_pretrained(minilm)(inputs)
    kept = inputs["attention_mask"] == 1
    with np.load(STORED) as stored:
        states = states_of(outputs)[:, kept, ::16]
        np.testing.assert_allclose(states, stored["hidden_states"], **PARITY)
        pooler = keras.ops.convert_to_numpy(outputs["pooler_output"])[:, ::16]
        np.testing.assert_allclose(pooler, stored["pooler_output"], **PARITY)


@pytest.mark.tensorflow
def test_the_stored_states_are_those_of_tf_bert(minilm):
    inputs = BertPreprocessor.from_pretrained(minilm)(TEXTS)
    expected = tf_bert(minilm)(inputs, output_hidden_states=True)
    kept = inputs["attention_mask"] == 1
    with np.load(STORED) as stored:
        states = np.stack([s.numpy() for s in expected.hidden_states])[:, kept, ::16]
        np.testing.assert_allclose(states, stored["hidden_states"], **PARITY)


def test_the_published_sentence_vector_comes_out(minilm):
    inputs = BertPreprocessor.from_pretrained(minilm)(["hello world"])
    states = BertEncoder.from_pretrained(minilm)(inputs)["hidden_states"]
    vector = keras.ops.normalize(GlobalPooling("mean")(states[-1]), axis=-1)
    np.testing.assert_allclose(
        keras.ops.convert_to_numpy(vector)[0, :5],
        [-0.034477, 0.031023, 0.006735, 0.026109, -0.039362],
        atol=1e-5,
    )


def test_the_hash_of_the_weights_is_checked(minilm, folder):
    BertEncoder.from_pretrained(minilm, sha256=SHA256)
    with pytest.raises(ValueError, match=f"must be {SHA256}"):
        BertEncoder.from_pretrained(folder, sha256=SHA256)


def test_arguments_win_over_the_configuration(folder):
    encoder = BertEncoder.from_pretrained(folder, dropout=0.3, name="bert")
    assert (encoder.get_config()["dropout"], encoder.name) == (0.3, "bert")


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("style", ["plain", "prefixed", "old"])
def test_all_ways_to_name_the_same_weights_load_equally(style, dtype, tmp_path):
    weights = {
        name: array.astype("float16").astype(dtype)
        for name, array in random_weights(CONFIG).items()
    }
    plain = BertEncoder.from_pretrained(write_folder(tmp_path / "a", weights=weights))
    if style != "plain":
        weights = {f"bert.{name}": array for name, array in weights.items()}
        weights["cls.predictions.bias"] = np.zeros(30, dtype)
        weights["bert.embeddings.position_ids"] = np.arange(20)[None]
    if style == "old":
        old = {
            "LayerNorm.weight": "LayerNorm.gamma",
            "LayerNorm.bias": "LayerNorm.beta",
        }
        for new, name in old.items():
            weights = {key.replace(new, name): array for key, array in weights.items()}
    other = BertEncoder.from_pretrained(write_folder(tmp_path / "b", weights=weights))
    assert all(
        np.array_equal(one, two)
        for one, two in zip(plain.get_weights(), other.get_weights(), strict=True)
    )


def test_a_checkpoint_without_a_pooler_gives_an_encoder_without_one(tmp_path):
    weights = {
        name: array
        for name, array in random_weights(CONFIG).items()
        if not name.startswith("pooler")
    }
    encoder = BertEncoder.from_pretrained(write_folder(tmp_path / "a", weights=weights))
    assert "pooler_output" not in encoder({"input_ids": np.ones((1, 3), "int32")})


def without_a_weight(weights):
    del weights["encoder.layer.1.output.dense.bias"]


def with_a_weight_too_many(weights):
    weights["encoder.layer.3.output.dense.bias"] = np.zeros(8, "float32")


def with_another_shape(weights):
    name = "encoder.layer.1.output.dense.weight"
    weights[name] = weights[name].T.copy()


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            without_a_weight,
            "Missing: encoder.layer.1.output.dense.bias. Left over: none",
        ),
        (with_a_weight_too_many, "Missing: none. Left over: encoder.layer.3.output"),
        (
            with_another_shape,
            r"layer.1.output.dense.weight must have the shape \(16, 8\).*\(8, 16\)",
        ),
    ],
)
def test_each_weight_must_be_there_and_fit(damage, message, tmp_path):
    weights = random_weights(CONFIG)
    damage(weights)
    with pytest.raises(ValueError, match=message):
        BertEncoder.from_pretrained(write_folder(tmp_path / "bert", weights=weights))


def test_another_number_of_layers_than_in_the_file_is_named(folder):
    with pytest.raises(ValueError, match=r"Left over: encoder.layer.2.*and 11 more"):
        BertEncoder.from_pretrained(folder, num_layers=2)


def test_a_truncated_file_is_named(folder):
    file = folder / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged"):
        BertEncoder.from_pretrained(folder)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_missing_file_is_named(name, folder):
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=f"must have a {name}"):
        BertEncoder.from_pretrained(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("model_type", "roberta"),
        ("position_embedding_type", "relative_key"),
        ("is_decoder", True),
        ("hidden_act", "silu"),
    ],
)
def test_what_is_no_plain_bert_is_refused(key, value, folder):
    config = {**CONFIG, key: value}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ValueError, match=rf"{key} among.*{key}={value!r}"):
        BertEncoder.from_pretrained(folder)


def test_a_config_without_sizes_is_named(folder):
    config = {key: value for key, value in CONFIG.items() if key != "hidden_size"}
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(
        ValueError, match=r"must name the sizes of BERT: \['hidden_size'\]"
    ):
        BertEncoder.from_pretrained(folder)


def test_a_path_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        BertEncoder.from_pretrained(tmp_path / "nowhere")

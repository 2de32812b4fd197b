import json

import keras
import numpy as np
import pytest
from contract import arrays, check_layer
from encoders.hugging_face_files import CONFIG, random_weights, tf_bert, write_folder
from safetensors.numpy import load_file, save_file

from bert_keras_layers import BertEncoder, TextClassifier, TransformersEncoder

pytestmark = pytest.mark.tensorflow
transformers = pytest.importorskip("transformers")

IDS = np.array([[2, 7, 9, 4, 3], [2, 8, 3, 1, 1]], "int32")
KEPT = IDS > 1
INPUTS = {
    "input_ids": IDS,
    "attention_mask": KEPT.astype("int32"),
    "token_type_ids": np.array([[0, 0, 1, 1, 1], [0, 0, 0, 0, 0]], "int32"),
}
SIZES = {key: value for key, value in CONFIG.items() if key != "model_type"}
FAMILIES = {
    "bert": SIZES,
    "roberta": {**SIZES, "pad_token_id": 1},
    "electra": {**SIZES, "embedding_size": 4},
    "albert": {**SIZES, "embedding_size": 4},
    "distilbert": {
        "vocab_size": 30,
        "dim": 8,
        "n_layers": 3,
        "n_heads": 2,
        "hidden_dim": 16,
        "max_position_embeddings": 20,
    },
}
PARITY = {"rtol": 0, "atol": 2e-5}


def config_of(family):
    return transformers.AutoConfig.for_model(family, **FAMILIES[family])


def model_of(family):
    model = transformers.TFAutoModel.from_config(config_of(family))
    model.build_in_name_scope()
    rng = np.random.default_rng(0)
    for weight in model.weights:  # Biases too, so that nothing hides behind zeros.
        weight.assign(rng.normal(scale=0.3, size=weight.shape))
    return model


def states_of(model):
    inputs = dict(INPUTS)
    if model.config.model_type == "distilbert":
        del inputs["token_type_ids"]
    return model(inputs, output_hidden_states=True)


@pytest.mark.parametrize("family", FAMILIES)
def test_contract(family, tmp_path):
    encoder = TransformersEncoder(config_of(family), name="encoder")
    check_layer(encoder, INPUTS, tmp_path)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_states_and_weights_are_those_of_the_model(family):
    model = model_of(family)
    expected = states_of(model)
    encoder = TransformersEncoder(model)
    outputs = encoder(INPUTS)
    for ours, theirs in zip(
        outputs["hidden_states"], expected.hidden_states, strict=True
    ):
        np.testing.assert_allclose(ours[KEPT], theirs[KEPT], **PARITY)
    assert ("pooler_output" in outputs) == ("pooler_output" in expected)
    if "pooler_output" in expected:
        np.testing.assert_allclose(
            outputs["pooler_output"], expected.pooler_output, **PARITY
        )
    assert encoder.count_params() == model.count_params()
    assert {id(w.value) for w in encoder.weights} == {id(w) for w in model.weights}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("num_layers", [0, 2])
def test_truncate_drops_blocks_and_their_weights(family, num_layers, tmp_path):
    model = model_of(family)
    expected = states_of(model).hidden_states[: num_layers + 1]
    encoder = TransformersEncoder(model)
    shorter = encoder.truncate(num_layers)
    inputs = shorter.inputs()
    states = shorter(inputs)["hidden_states"]
    outputs = {f"state_{i}": state for i, state in enumerate(states)}
    truncated = keras.Model(inputs, outputs)
    truncated.save(tmp_path / "shorter.keras")
    loaded = keras.models.load_model(tmp_path / "shorter.keras", safe_mode=True)
    for function in (truncated, loaded):
        for ours, theirs in zip(function(INPUTS).values(), expected, strict=True):
            np.testing.assert_allclose(ours[KEPT], theirs[KEPT], **PARITY)
    assert {id(w) for w in shorter.weights} < {id(w) for w in encoder.weights}
    truncated.export(tmp_path / "export", verbose=False)


def test_positions_of_roberta_start_after_the_padding_id():
    encoder = TransformersEncoder(config_of("roberta"))
    assert encoder.max_positions == 18
    with pytest.raises(ValueError, match=r"has 18 positions.*\(1, 19\)"):
        encoder({"input_ids": np.full((1, 19), 5)})


def test_dropout_is_on_in_training_only_and_never_when_frozen():
    encoder = TransformersEncoder(config_of("bert"))
    still, noisy = arrays(encoder(INPUTS)), arrays(encoder(INPUTS, training=True))
    for one, other in zip(still, noisy, strict=True):
        assert (one != other).any()
    encoder.trainable = False
    for one, other in zip(still, arrays(encoder(INPUTS, training=True)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_a_model_lacks_is_absent():
    without = transformers.TFBertForTokenClassification(config_of("bert"))
    assert "pooler_output" not in TransformersEncoder(without)(INPUTS)
    encoder = TransformersEncoder(config_of("bert"), pooler=False)
    assert "pooler_output" not in encoder(INPUTS)
    assert not any("pooler" in weight.path for weight in encoder.weights)


@pytest.mark.parametrize("dtype", ["float32", "mixed_bfloat16"])
def test_types_of_a_model_are_fixed(dtype):
    model = model_of("bert")
    if dtype == "float32":
        assert TransformersEncoder(model, dtype=dtype).compute_dtype == "float32"
        return
    with pytest.raises(ValueError, match=r"fixed to float32.*dtype=mixed_bfloat16"):
        TransformersEncoder(model, dtype=dtype)
    half = TransformersEncoder(model.config, dtype=dtype)
    for encoder in (half, half.truncate(1)):
        states = encoder(INPUTS)["hidden_states"]
        assert {state.dtype.name for state in states} == {"bfloat16"}
    assert (
        transformers.modeling_tf_utils.keras.mixed_precision.global_policy().name
        == ("float32")
    )


def torch_name(model, name):
    """The name in torch of a weight of a TensorFlow model."""
    path = name.removesuffix(":0").partition(f"/{model.base_model_prefix}/")[2]
    path = path.replace("layer_._", "layer/").replace("groups_._", "groups/")
    path = path.replace("albert_layers_._", "albert_layers/")
    *parents, last = path.split("/")
    kinds = {"kernel": "weight", "gamma": "weight", "beta": "bias"}
    return ".".join([*parents, kinds.get(last, last).replace("embeddings", "weight")])


def write_as_torch(model, folder, prefix=""):
    weights = {
        prefix + torch_name(model, w.name): np.ascontiguousarray(
            w.numpy().T if "kernel" in w.name else w.numpy()
        )
        for w in model.weights
    }
    folder.mkdir(exist_ok=True)
    model.config.save_pretrained(folder)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def write_as_tensorflow(model, folder, prefix=""):
    model.save_pretrained(folder, safe_serialization=True)
    return folder


def write_as_h5(model, folder, prefix=""):
    model.save_pretrained(folder)
    assert (folder / "tf_model.h5").is_file()
    return folder


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("write", [write_as_torch, write_as_tensorflow, write_as_h5])
def test_every_format_of_a_folder_is_read(write, family, tmp_path):
    model = model_of(family)
    encoder = TransformersEncoder.from_pretrained(write(model, tmp_path / "model"))
    expected = TransformersEncoder(model)
    for one, other in zip(encoder.weights, expected.weights, strict=True):
        np.testing.assert_array_equal(one, other)


def test_real_weights_written_by_torch_give_the_states_of_tf_bert(minilm):
    expected = tf_bert(minilm)(INPUTS, output_hidden_states=True).hidden_states
    encoder = TransformersEncoder.from_pretrained(minilm)
    native = BertEncoder.from_pretrained(minilm)
    for function in (encoder, native, encoder.to_native()):
        for ours, theirs in zip(
            function(INPUTS)["hidden_states"], expected, strict=True
        ):
            np.testing.assert_allclose(ours[KEPT], theirs[KEPT], **PARITY)


def test_a_checkpoint_with_a_head_is_read_without_it(tmp_path):
    model = model_of("bert")
    folder = write_as_torch(model, tmp_path / "model", prefix="bert.")
    weights = load_file(folder / "model.safetensors")
    weights["classifier.weight"] = np.zeros((2, 8), "float32")
    for name in [name for name in weights if "pooler" in name]:
        del weights[name]
    save_file(weights, folder / "model.safetensors")
    encoder = TransformersEncoder.from_pretrained(folder)
    assert "pooler_output" not in encoder(INPUTS)
    expected = TransformersEncoder(model, pooler=False)
    for one, other in zip(encoder.weights, expected.weights, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda w: w.pop("encoder.layer.1.output.dense.bias"), r"Missing: \['encoder"),
        (lambda w: w.pop("pooler.dense.bias"), r"Missing: \['pooler"),
        (
            lambda w: w.update({"encoder.layer.3.output.dense.bias": np.zeros(8)}),
            r"Left over: \['encoder\.layer\.3",
        ),
        (
            lambda w: w.update(
                {"encoder.layer.0.output.dense.weight": np.zeros((16, 8), "float32")}
            ),
            r"must have the shape \(16, 8\).*Received: shape \(8, 16\)",
        ),
    ],
)
def test_weights_that_do_not_fit_are_named(change, message, tmp_path):
    weights = random_weights(CONFIG)
    change(weights)
    with pytest.raises(ValueError, match=message):
        TransformersEncoder.from_pretrained(
            write_folder(tmp_path / "model", CONFIG, weights)
        )


def test_a_damaged_or_absent_file_is_named(tmp_path):
    folder = write_folder(tmp_path / "model")
    file = folder / "model.safetensors"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    with pytest.raises(ValueError, match="SHA-256"):
        TransformersEncoder.from_pretrained(folder, sha256="0" * 64)
    file.write_bytes(content[:-100])
    with pytest.raises(ValueError, match="damaged or incomplete"):
        TransformersEncoder.from_pretrained(folder)
    file.unlink()
    with pytest.raises(
        FileNotFoundError, match=r"model\.safetensors or a tf_model\.h5"
    ):
        TransformersEncoder.from_pretrained(folder)
    (folder / "config.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"must have a config\.json"):
        TransformersEncoder.from_pretrained(folder)


def test_what_is_no_plain_bert_has_no_native_form():
    with pytest.raises(ValueError, match=r"must describe a BERT encoder.*albert"):
        TransformersEncoder(config_of("albert")).to_native()


def test_what_is_no_encoder_is_named():
    with pytest.raises(ValueError, match="Received: Dense"):
        TransformersEncoder(keras.layers.Dense(2))
    gpt = transformers.GPT2Config(
        n_layer=1, n_embd=8, n_head=2, vocab_size=30, n_positions=8
    )
    with pytest.raises(ValueError, match="must be an encoder with its blocks"):
        TransformersEncoder(gpt)


def test_a_classifier_on_it_trains_and_reloads_without_the_original(
    minilm, tmp_path, run_python
):
    weights = random_weights(CONFIG)
    folder = write_folder(tmp_path / "bert", CONFIG, weights)
    model = TextClassifier(TransformersEncoder.from_pretrained(folder), 2)
    model.compile(keras.optimizers.Adam(1e-2), "sparse_categorical_crossentropy")
    before = [w.numpy() for w in model.encoder.weights]
    labels = np.array([0, 1])
    untrained, _ = model.evaluate(INPUTS, labels, verbose=0)
    model.fit(INPUTS, labels, epochs=40, verbose=0)
    assert model.evaluate(INPUTS, labels, verbose=0)[0] < untrained / 2
    for weight, old in zip(model.encoder.weights, before, strict=True):
        assert (weight.numpy() != old).any(), weight.path
    expected = model.predict(INPUTS, verbose=0)
    model.save(tmp_path / "model.keras")
    for file in folder.iterdir():
        file.unlink()
    printed = run_python(
        f"""
import json, keras, numpy as np
import bert_keras_layers
model = keras.models.load_model({str(tmp_path / "model.keras")!r}, safe_mode=True)
inputs = {{k: np.array(v, "int32") for k, v in json.loads('''{
            json.dumps({k: v.tolist() for k, v in INPUTS.items()})
        }''').items()}}
print(json.dumps(model.predict(inputs, verbose=0).tolist()))
"""
    )
    received = json.loads(printed.splitlines()[-1])
    np.testing.assert_allclose(received, expected, atol=1e-6)


def test_the_gradients_are_those_of_the_model_itself():
    import tensorflow as tf

    model = model_of("bert")
    encoder = TransformersEncoder(model)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(INPUTS)[0] ** 3)
    expected = dict(
        zip(
            [id(w) for w in model.trainable_weights],
            tape.gradient(loss, model.trainable_weights),
            strict=True,
        )
    )
    variables = encoder.truncate(encoder.num_layers).trainable_weights
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(encoder(INPUTS)["last_hidden_state"] ** 3)
    received = tape.gradient(loss, [v.value for v in variables])
    for variable, gradient in zip(variables, received, strict=True):
        one = tf.convert_to_tensor(gradient).numpy()
        other = tf.convert_to_tensor(expected[id(variable.value)]).numpy()
        scale = np.abs(other).max()
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5 * scale)


def test_the_order_of_weights_is_the_file_format():
    encoder = TransformersEncoder(config_of("bert"))
    names = [weight.path.split("/", 1)[1] for weight in encoder.weights]
    parts = [name.split("/")[0] for name in names]
    order = ["embeddings"] * 5
    order += [part for i in range(3) for part in [f"block_{i}"] * 16]
    assert parts == [*order, "pooler", "pooler"]
    assert names[:2] == [
        "embeddings/embeddings_LayerNorm_beta",
        "embeddings/embeddings_LayerNorm_gamma",
    ]
    assert names[5] == "block_0/encoder_layer_._0_attention_output_LayerNorm_beta"
    assert [names[5:21]] == [sorted(names[5:21])]


def test_without_transformers_the_error_names_the_extra(run_python):
    printed = run_python(
        """
import sys
sys.modules["transformers"] = None
import bert_keras_layers
try:
    bert_keras_layers.TransformersEncoder.from_pretrained("folder")
except ImportError as error:
    print(error)
"""
    )
    assert 'pip install "bert-keras-layers[transformers]"' in printed
    assert len(printed.strip().splitlines()) == 1

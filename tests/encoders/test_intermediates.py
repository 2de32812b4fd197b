import keras
import numpy as np
import pytest
from contract import arrays, check_layer
from encoders.hugging_face_files import tf_bert

from bert_keras_layers import BertEncoder, TextClassifier

IDS = np.array([[2, 7, 9, 4, 3], [2, 8, 3, 0, 0]], "int32")
KEPT = IDS > 0
INPUTS = {
    "input_ids": IDS,
    "attention_mask": KEPT.astype("int32"),
    "token_type_ids": np.array([[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]], "int32"),
}
ALL = (
    "attention_scores",
    "attention_probabilities",
    "attention_output",
    "ffn_activation",
    "pre_norm",
)
SHAPES = {
    "attention_scores": (2, 2, 5, 5),
    "attention_probabilities": (2, 2, 5, 5),
    "attention_output": (2, 5, 8),
    "ffn_activation": (2, 5, 16),
    "pre_norm": (2, 5, 8),
}


@pytest.fixture
def encoder(small_encoder):
    """With weights and biases that hide nothing."""
    encoder = small_encoder(intermediates=ALL, name="encoder", activation="relu")
    encoder.build()
    rng = np.random.default_rng(0)
    for weight in encoder.weights:
        weight.assign(rng.normal(scale=0.5, size=weight.shape))
    return encoder


def layer_norm(x, layer):
    gamma, beta = arrays([layer.gamma, layer.beta])
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt(x.var(-1, keepdims=True) + 1e-12) * gamma + beta


def dense(x, layer):
    kernel, bias = arrays([layer.kernel, layer.bias])
    return x @ kernel + bias


def softmax(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def test_contract(small_encoder, tmp_path):
    encoder = small_encoder(intermediates=ALL, name="encoder", num_layers=2)
    check_layer(encoder, INPUTS, tmp_path)


def test_each_block_gives_one_tensor_per_name(encoder):
    for outputs in (encoder(INPUTS), encoder(encoder.inputs())):
        assert set(outputs) >= set(SHAPES)
        for name, shape in SHAPES.items():
            assert len(outputs[name]) == encoder.num_layers
            for tensor in outputs[name]:
                symbolic = isinstance(tensor, keras.KerasTensor)
                open_shape = tuple(5 if n is None else n for n in tensor.shape[1:])
                assert open_shape == shape[1:], (name, symbolic)


def test_only_what_is_asked_for_comes_out(small_encoder):
    plain = {"hidden_states", "last_hidden_state", "pooler_output"}
    assert set(small_encoder()(INPUTS)) == plain
    one = small_encoder(intermediates=["pre_norm"])(INPUTS)
    assert set(one) == {*plain, "pre_norm"}


def test_every_tensor_is_what_numpy_computes(encoder):
    outputs = {
        name: arrays(x) for name, x in encoder(INPUTS).items() if isinstance(x, list)
    }
    for i, block in enumerate(encoder.blocks):
        state = outputs["hidden_states"][i]
        heads = dense(state, block.query_key_value).reshape(2, 5, 3, 2, 4)
        query, key, value = heads.transpose(2, 0, 3, 1, 4)
        scores = query @ key.swapaxes(-1, -2) / np.sqrt(4)
        masked = np.where(KEPT[:, None, None], scores, -1e9)
        mixed = (softmax(masked) @ value).transpose(0, 2, 1, 3).reshape(2, 5, 8)
        attended = dense(mixed, block.attention_output)
        middle = layer_norm(state + attended, block.attention_norm)
        activated = np.maximum(dense(middle, block.intermediate), 0)
        summed = middle + dense(activated, block.output_projection)
        expected = {
            "attention_scores": scores,
            "attention_probabilities": softmax(masked),
            "attention_output": attended,
            "ffn_activation": activated,
            "pre_norm": summed,
        }
        for name, array in expected.items():
            np.testing.assert_allclose(
                outputs[name][i], array, rtol=1e-4, atol=1e-4, err_msg=name
            )
        after = layer_norm(outputs["pre_norm"][i], block.output_norm)
        np.testing.assert_allclose(outputs["hidden_states"][i + 1], after, atol=1e-5)


def test_probabilities_sum_to_one_in_training_too(encoder):
    outputs = encoder(INPUTS, training=True)
    for array in arrays(outputs["attention_probabilities"]):
        np.testing.assert_allclose(array.sum(-1), 1, rtol=1e-5)
        assert (array[1, :, :, 3:] == 0).all()  # padding


@pytest.mark.tensorflow
def test_probabilities_are_the_attentions_of_transformers(minilm):
    pytest.importorskip("transformers")
    model = tf_bert(minilm)
    ids = np.array([[101, 1045, 2293, 3000, 102], [101, 2748, 102, 0, 0]])
    inputs = {"input_ids": ids, "attention_mask": (ids > 0).astype("int32")}
    expected = model(inputs, output_attentions=True).attentions
    encoder = BertEncoder.from_pretrained(
        minilm, intermediates=["attention_probabilities"]
    )
    received = encoder(inputs)["attention_probabilities"]
    assert len(received) == len(expected) == 6
    for one, other in zip(received, expected, strict=True):
        for row, length in enumerate((5, 3)):
            np.testing.assert_allclose(
                one[row, :, :length], other[row, :, :length], rtol=0, atol=2e-5
            )


def test_tensors_of_tokens_carry_the_mask(encoder):
    outputs = encoder(INPUTS)
    get_mask = keras.src.backend.get_keras_mask
    for name, shape in SHAPES.items():
        for tensor in outputs[name]:
            mask = get_mask(tensor)
            if len(shape) == 3:
                np.testing.assert_array_equal(mask, KEPT)
            else:
                assert mask is None


def test_a_shorter_encoder_keeps_them(encoder, tmp_path):
    expected = encoder(INPUTS)
    shorter = encoder.truncate(2)
    assert shorter.intermediates == ALL
    for name in SHAPES:
        for one, other in zip(
            arrays(shorter(INPUTS)[name]), arrays(expected[name])[:2], strict=True
        ):
            np.testing.assert_array_equal(one, other)


def test_a_model_can_be_built_on_one(encoder, tmp_path):
    inputs = encoder.inputs()
    pooled = keras.layers.Dense(1)(encoder(inputs)["ffn_activation"][1])
    model = keras.Model(inputs, pooled)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras", safe_mode=True)
    assert loaded.layers[-2].intermediates == ALL
    np.testing.assert_allclose(
        *(arrays(m(INPUTS))[0] for m in (model, loaded)), atol=1e-6
    )
    classifier = TextClassifier(encoder, 2, layers=[1])
    assert classifier.encoder.intermediates == ALL


@pytest.mark.tensorflow
def test_what_is_not_asked_for_costs_nothing(small_encoder):
    import tensorflow as tf

    def operations(names, *kept):
        encoder = small_encoder(intermediates=names, pooler=False)
        graph = tf.function(
            lambda inputs: [encoder(inputs)[name] for name in kept]
        ).get_concrete_function(keras.tree.map_structure(tf.constant, INPUTS))
        return sorted(op.type for op in graph.graph.get_operations())

    plain = operations((), "last_hidden_state")
    attention = ("attention_scores", "attention_probabilities")
    assert operations(attention, "last_hidden_state") == plain
    # The others are there too: each needs only its shape back.
    more = operations(ALL, "last_hidden_state")
    for kind in ("MatMul", "BatchMatMulV2", "Softmax", "AddV2", "Mul", "Relu"):
        assert more.count(kind) == plain.count(kind), kind


@pytest.mark.parametrize("names", [["attention"], "pre_norm", ["pre_norm", "pre_norm"]])
def test_unknown_names_are_refused(names, small_encoder):
    with pytest.raises(ValueError, match=r"`intermediates` must be .*pre_norm.*Rec"):
        small_encoder(intermediates=names)

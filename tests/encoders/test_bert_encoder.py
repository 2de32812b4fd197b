import keras
import numpy as np
import pytest
from contract import arrays, check_layer

from bert_keras_layers import BertEncoder, GlobalPooling

IDS = np.array([[2, 7, 9, 4, 3], [2, 8, 3, 0, 0]], "int32")
INPUTS = {
    "input_ids": IDS,
    "attention_mask": (IDS > 0).astype("int32"),
    "token_type_ids": np.array([[0, 0, 0, 1, 1], [0, 0, 0, 0, 0]], "int32"),
}


def test_contract(small_encoder, tmp_path):
    check_layer(small_encoder(name="encoder"), INPUTS, tmp_path)


def test_all_states_come_out_under_one_index(small_encoder):
    encoder = small_encoder()
    outputs = encoder(INPUTS)
    assert [tuple(x.shape) for x in outputs["hidden_states"]] == [(2, 5, 8)] * 4
    assert tuple(outputs["pooler_output"].shape) == (2, 8)
    last = keras.ops.convert_to_numpy(outputs["last_hidden_state"])
    np.testing.assert_array_equal(arrays(outputs["hidden_states"])[-1], last)
    # State 0 leaves LayerNorm: mean 0 and variance 1 over the width.
    first = keras.ops.convert_to_numpy(outputs["hidden_states"][0])
    np.testing.assert_allclose(first.mean(-1), 0, atol=1e-6)
    np.testing.assert_allclose(first.var(-1), 1, rtol=1e-4)


def test_every_state_carries_the_attention_mask(small_encoder):
    get_mask = keras.src.backend.get_keras_mask
    outputs = small_encoder()(INPUTS)
    for state in (*outputs["hidden_states"], outputs["last_hidden_state"]):
        np.testing.assert_array_equal(get_mask(state), INPUTS["attention_mask"] == 1)
    assert get_mask(outputs["pooler_output"]) is None
    unmasked = small_encoder()({"input_ids": IDS})
    assert get_mask(unmasked["last_hidden_state"]) is None


def test_mask_and_types_are_optional(small_encoder):
    encoder = small_encoder()
    spelled_out = {
        "input_ids": IDS,
        "attention_mask": np.ones_like(IDS),
        "token_type_ids": np.zeros_like(IDS),
    }
    for short, long in zip(
        arrays(encoder({"input_ids": IDS})), arrays(encoder(spelled_out)), strict=True
    ):
        np.testing.assert_allclose(short, long, atol=1e-6)


@pytest.mark.parametrize("mode", ["cls", "mean", "max"])
def test_more_padding_changes_nothing(mode, small_encoder):
    encoder, pooling = small_encoder(), GlobalPooling(mode)
    wider = {name: np.pad(x, [(0, 0), (0, 9)]) for name, x in INPUTS.items()}
    for one, other in zip(
        encoder(INPUTS)["hidden_states"], encoder(wider)["hidden_states"], strict=True
    ):
        np.testing.assert_allclose(
            *(keras.ops.convert_to_numpy(pooling(x)) for x in (one, other)), atol=1e-6
        )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "mixed_float16"])
def test_an_all_padding_row_is_finite_in_half_precision(dtype, small_encoder):
    mask = INPUTS["attention_mask"] * [[1], [0]]
    outputs = small_encoder(dtype=dtype)({**INPUTS, "attention_mask": mask})
    assert all(np.isfinite(array).all() for array in arrays(outputs))


def test_dropout_is_on_in_training_only(small_encoder):
    encoder = small_encoder()
    still, again = arrays(encoder(INPUTS)), arrays(encoder(INPUTS, training=False))
    noisy = arrays(encoder(INPUTS, training=True))
    for one, other, third in zip(still, again, noisy, strict=True):
        np.testing.assert_array_equal(one, other)
        assert (one != third).any()


def test_a_frozen_encoder_runs_without_dropout_and_gradients(small_encoder, tmp_path):
    encoder = small_encoder()
    encoder.trainable = False
    still = arrays(encoder(INPUTS))
    for one, other in zip(still, arrays(encoder(INPUTS, training=True)), strict=True):
        np.testing.assert_array_equal(one, other)

    inputs = encoder.inputs()
    model = keras.Model(inputs, encoder(inputs)["pooler_output"])
    model.save(tmp_path / "frozen.keras")
    loaded = keras.models.load_model(tmp_path / "frozen.keras")
    assert model.trainable_weights == loaded.trainable_weights == []
    loaded.layers[-1].trainable = True
    assert len(loaded.trainable_weights) == len(model.weights)


@pytest.mark.tensorflow
@pytest.mark.parametrize("trainable", [True, False])
def test_nothing_is_differentiated_in_a_frozen_encoder(trainable, small_encoder):
    import tensorflow as tf

    encoder = small_encoder()
    encoder.build()
    encoder.trainable = trainable
    kernel = encoder.blocks[0].intermediate.kernel.value
    with tf.GradientTape() as tape:
        tape.watch(kernel)
        loss = tf.reduce_sum(encoder(INPUTS)["last_hidden_state"] ** 3)
    assert (tape.gradient(loss, kernel) is not None) == trainable


@pytest.mark.parametrize("num_layers", [0, 1, 3])
def test_truncate_keeps_the_first_blocks_and_their_weights(num_layers, small_encoder):
    encoder = small_encoder()
    expected = arrays(encoder(INPUTS)["hidden_states"][: num_layers + 1])
    shorter = encoder.truncate(num_layers)
    outputs = shorter(INPUTS)
    for one, other in zip(arrays(outputs["hidden_states"]), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert "pooler_output" not in outputs
    assert shorter.num_layers == num_layers
    kept = encoder.weights[: 5 + 12 * num_layers]
    assert [id(w) for w in shorter.weights] == [id(w) for w in kept]
    assert shorter.truncate(num_layers) is shorter


def test_truncate_names_the_range(small_encoder):
    with pytest.raises(ValueError, match=r"between 0 and 3.*num_layers=4"):
        small_encoder().truncate(4)


def test_the_order_of_weights_is_the_file_format(small_encoder):
    encoder = small_encoder(num_layers=1)
    encoder.build()
    paths = [weight.path.split("/", 1)[-1] for weight in encoder.weights]
    norm = ["gamma", "beta"]
    dense = ["kernel", "bias"]
    assert [path.split("/")[-1] for path in paths] == [
        *["embeddings"] * 3,
        *norm,
        *dense * 2,
        *norm,
        *dense * 2,
        *norm,
        *dense,
    ]
    shapes = [tuple(weight.shape) for weight in encoder.weights]
    assert shapes[:3] == [(30, 8), (20, 8), (2, 8)]
    assert shapes[5:8] == [(8, 24), (24,), (8, 8)]


def test_a_text_longer_than_the_positions_is_refused(small_encoder):
    with pytest.raises(ValueError, match=r"has 20 positions.*\(1, 21\)"):
        small_encoder()({"input_ids": np.ones((1, 21), "int32")})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_heads": 3}, "multiple of `num_heads`.*hidden_size=8, num_heads=3"),
        ({"activation": "tanh"}, r"`activation` must be one of \['gelu', 'gelu_new'"),
        ({"num_layers": -1}, "`num_layers` must be an integer, at least 0.*-1"),
        ({"vocabulary_size": 2.5}, "`vocabulary_size` must be an integer.*2.5"),
        ({"dropout": 1.0}, "`dropout` must be at least 0 and below 1"),
    ],
)
def test_sizes_that_cannot_be_are_named(changes, message, small_encoder):
    with pytest.raises(ValueError, match=message):
        small_encoder(**changes)


def test_the_defaults_are_bert_base():
    sizes = BertEncoder().get_config()
    assert (sizes["num_layers"], sizes["hidden_size"], sizes["num_heads"]) == (
        12,
        768,
        12,
    )
    assert (sizes["vocabulary_size"], sizes["intermediate_size"]) == (30522, 3072)

import keras
import numpy as np
import pytest
from contract import ALLCLOSE, arrays, check_layer, check_padding
from hypothesis import given, settings
from hypothesis import strategies as st
from ragged import ragged_texts

from bert_keras_layers import GlobalPooling

HIDDEN = np.array([[[1, -4], [3, -2], [99, 99]], [[5, 5], [7, 7], [9, 9]]], "float32")
# The second text is all padding.
MASK = np.array([[1, 1, 0], [0, 0, 0]], "int32")
MODES = ["cls", "last", "max", "mean", "mean_sqrt_length", "min", "sum"]


def pooled(mode, hidden, mask, dtype="float32", **arguments):
    layer = GlobalPooling(mode, arguments.pop("special_tokens", True), dtype=dtype)
    return arrays(layer(hidden, mask=mask, **arguments))[0]


def numpy_pooled(mode, row):
    """Pools the vectors `(tokens, width)` that are left of a text."""
    if not len(row):
        return np.zeros(row.shape[-1])
    return {
        "cls": lambda: row[0],
        "last": lambda: row[-1],
        "max": lambda: row.max(0),
        "mean": lambda: row.mean(0),
        "mean_sqrt_length": lambda: row.sum(0) / np.sqrt(len(row)),
        "min": lambda: row.min(0),
        "sum": lambda: row.sum(0),
    }[mode]()


@pytest.mark.parametrize("mode", ["mean", MODES], ids=["mean", "all"])
def test_contract(mode, tmp_path):
    check_layer(GlobalPooling(mode, name="pool"), HIDDEN, tmp_path, MASK)


def test_contract_without_a_mask(tmp_path):
    layer = GlobalPooling(["cls", "max"], special_tokens=False, name="pool")
    check_layer(layer, HIDDEN, tmp_path)


@pytest.mark.parametrize("mask", [MASK, MASK == 1, MASK.astype("float32"), MASK * 7])
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("cls", [[1, -4], [0, 0]]),
        ("last", [[3, -2], [0, 0]]),
        ("mean", [[2, -3], [0, 0]]),
        ("max", [[3, -2], [0, 0]]),
        ("min", [[1, -4], [0, 0]]),
        ("sum", [[4, -6], [0, 0]]),
        (["max", "mean"], [[3, -2, 2, -3], [0, 0, 0, 0]]),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_padding_never_reaches_the_output(mode, expected, mask, dtype):
    np.testing.assert_array_equal(pooled(mode, HIDDEN, mask, dtype), expected)


@settings(deadline=None, max_examples=50)
@given(texts=ragged_texts())
def test_each_mode_pools_the_kept_tokens_as_numpy_does(texts):
    hidden, mask = texts
    expected = [
        np.concatenate([numpy_pooled(mode, row[kept]) for mode in MODES])
        for row, kept in zip(hidden, mask, strict=True)
    ]
    np.testing.assert_allclose(pooled(MODES, hidden, mask), expected, **ALLCLOSE)


@settings(deadline=None, max_examples=20)
@given(texts=ragged_texts(), special_tokens=st.booleans())
def test_padding_and_neighbours_never_reach_a_text(texts, special_tokens):
    check_padding(GlobalPooling(MODES, special_tokens), *texts)


@settings(deadline=None, max_examples=50)
@given(texts=ragged_texts())
def test_without_special_tokens_the_ends_of_each_text_are_left_out(texts):
    hidden, mask = texts
    expected = []
    for row, kept in zip(hidden, mask, strict=True):
        words = {mode: row[kept][1:-1] for mode in MODES} | {"cls": row[kept]}
        expected.append(np.concatenate([numpy_pooled(m, words[m]) for m in MODES]))
    received = pooled(MODES, hidden, mask, special_tokens=False)
    np.testing.assert_allclose(received, expected, **ALLCLOSE)


@settings(deadline=None, max_examples=50)
@given(texts=ragged_texts(), seed=st.integers(0, 99))
def test_a_special_tokens_mask_says_exactly_which_tokens_are_left_out(texts, seed):
    hidden, mask = texts
    special = np.random.default_rng(seed).integers(0, 2, mask.shape)
    expected = []
    for row, kept, left_out in zip(hidden, mask, special == 1, strict=True):
        words = {mode: row[kept & ~left_out] for mode in MODES} | {"cls": row[kept]}
        expected.append(np.concatenate([numpy_pooled(m, words[m]) for m in MODES]))
    received = pooled(
        MODES, hidden, mask, special_tokens=False, special_tokens_mask=special
    )
    np.testing.assert_allclose(received, expected, **ALLCLOSE)


def test_pairs_in_a_functional_model_lose_both_seps_through_saving(
    small_encoder, tmp_path
):
    encoder = small_encoder()
    inputs = encoder.inputs()
    state = encoder(inputs)["hidden_states"][-1]  # Carries the mask.
    special = keras.ops.logical_or(
        keras.ops.equal(inputs["input_ids"], 2), keras.ops.equal(inputs["input_ids"], 3)
    )
    pool = GlobalPooling(["mean", "cls", "last"], special_tokens=False)
    outputs = [pool(state, special_tokens_mask=special), state]
    keras.Model(inputs, outputs).save(tmp_path / "pairs.keras")
    model = keras.models.load_model(tmp_path / "pairs.keras")

    ids = np.array([[2, 5, 6, 3, 7, 8, 3, 0, 0], [2, 3, 3, 0, 0, 0, 0, 0, 0]], "int32")
    feed = {"input_ids": ids, "attention_mask": ids != 0, "token_type_ids": 0 * ids}
    vectors, (pair, empty) = model.predict(feed, verbose=0)
    expected = np.concatenate([pair[[1, 2, 4, 5]].mean(0), pair[0], pair[5]])
    np.testing.assert_allclose(vectors[0], expected, **ALLCLOSE)
    expected = np.concatenate([0 * empty[0], empty[0], 0 * empty[0]])
    np.testing.assert_allclose(vectors[1], expected, **ALLCLOSE)


@pytest.mark.parametrize("mode", ["mean", "sum", "mean_sqrt_length"])
def test_sums_are_taken_in_float32(mode):
    hidden = np.full((1, 5000, 1), 20.0, "float32")  # Sums to 100000 > 65504.
    hidden[:, ::2] *= -0.5
    received = pooled(mode, hidden, None, "mixed_float16")[0]
    exact = {"mean": 5.0, "sum": 25000.0, "mean_sqrt_length": 25000 / 5000**0.5}[mode]
    np.testing.assert_array_equal(received, np.float16(exact))


def test_gradients_are_finite_with_nan_in_the_padding_and_rows_without_tokens():
    inputs, mask = keras.Input((3, 2)), keras.Input((3,), dtype="bool")
    padded = keras.ops.where(mask[..., None], keras.layers.Dense(2)(inputs), np.nan)
    model = keras.Model([inputs, mask], GlobalPooling(MODES)(padded, mask=mask))
    model.compile(keras.optimizers.SGD(0.1), "mse")
    kernel = keras.ops.convert_to_numpy(model.weights[0])
    for rows in ([[True, True, False], [False] * 3], [[False] * 3] * 2):
        model.train_on_batch([HIDDEN, np.array(rows)], np.ones((2, 14)))
        assert all(np.isfinite(w).all() for w in arrays(model.weights))
    assert (keras.ops.convert_to_numpy(model.weights[0]) != kernel).any()


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="JAX finds every NaN")
def test_no_nan_arises_on_the_way_to_zeros():
    import jax

    with jax.debug_nans(True):
        assert not GlobalPooling(MODES)(HIDDEN, mask=0 * MASK).any()


def test_mask_stops_here():
    assert GlobalPooling("mean").compute_mask(HIDDEN, MASK) is None


@pytest.mark.parametrize("mode", ["median", ["mean", "median"], []])
def test_unknown_mode_names_the_choices(mode):
    with pytest.raises(ValueError, match=r"one of \['cls', 'last', 'max', 'mean', "):
        GlobalPooling(mode)


def test_a_wrong_rank_is_named():
    with pytest.raises(ValueError, match=r"\(batch, tokens, width\).*\(3, 2\)"):
        GlobalPooling()(HIDDEN[0])


@pytest.mark.parametrize("wrong", [MASK[..., None], MASK[:, :2], MASK[0]])
def test_a_mask_of_another_shape_is_named(wrong):
    with pytest.raises(ValueError, match=r"`mask` must have .* here \(2, 3\)\. Receiv"):
        GlobalPooling()(HIDDEN, mask=wrong)
    with pytest.raises(ValueError, match=r"`special_tokens_mask` must have the shape"):
        GlobalPooling(special_tokens=False)(HIDDEN, special_tokens_mask=wrong)


def test_a_special_tokens_mask_without_use_is_refused():
    with pytest.raises(ValueError, match="Received: special_tokens=True"):
        GlobalPooling()(HIDDEN, special_tokens_mask=MASK)

import keras
import numpy as np
import pytest
from contract import ALLCLOSE, check_layer
from hypothesis import given, settings
from hypothesis import strategies as st

from bert_keras_layers import GlobalPooling

HIDDEN = np.array([[[1, -4], [3, -2], [99, 99]], [[5, 5], [7, 7], [9, 9]]], "float32")
MASK = np.array([[1, 1, 0], [0, 0, 0]])  # The second text is all padding.
MODES = ["cls", "mean", "max", ["mean", "cls"]]


def pooled(mode, hidden, mask, dtype="float32"):
    output = GlobalPooling(mode, dtype=dtype)(hidden, mask=mask)
    return keras.ops.convert_to_numpy(keras.ops.cast(output, "float32"))


@pytest.mark.parametrize("mode", MODES)
def test_contract(mode, tmp_path):
    check_layer(GlobalPooling(mode, name="pool"), HIDDEN, tmp_path)


@pytest.mark.parametrize("mask", [MASK, MASK == 1, MASK.astype("float32"), MASK * 7])
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("cls", [[1, -4], [0, 0]]),
        ("mean", [[2, -3], [0, 0]]),
        ("max", [[3, -2], [0, 0]]),
        (["max", "mean"], [[3, -2, 2, -3], [0, 0, 0, 0]]),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_padding_never_reaches_the_output(mode, expected, mask, dtype):
    np.testing.assert_array_equal(pooled(mode, HIDDEN, mask, dtype), expected)


@settings(deadline=None)
@given(
    lengths=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    padding=st.integers(0, 3),
    seed=st.integers(0, 99),
)
def test_ragged_batches_pool_as_in_numpy_whatever_the_padding(lengths, padding, seed):
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=(len(lengths), 5 + padding, 3)).astype("float32")
    mask = np.arange(5 + padding) < np.array(lengths)[:, None]
    expected = [
        np.concatenate([row[0], row[:n].mean(0), row[:n].max(0)]) if n else np.zeros(9)
        for row, n in zip(hidden, lengths, strict=True)
    ]
    received = pooled(["cls", "mean", "max"], hidden, mask)
    np.testing.assert_allclose(received, expected, **ALLCLOSE)


def test_mean_survives_a_sum_too_large_for_half_precision():
    hidden = np.full((1, 5000, 1), 20.0, "float32")  # Sums to 100000 > 65504.
    assert pooled("mean", hidden, None, "mixed_float16")[0, 0] == 20.0


def test_gradients_of_an_all_padding_row_are_finite():
    inputs = keras.Input((3, 2))
    dense = keras.layers.Dense(2)
    masked = keras.layers.Masking(99.0)(inputs)
    model = keras.Model(inputs, GlobalPooling(["mean", "max"])(dense(masked)))
    model.compile(keras.optimizers.SGD(0.1), "mse")
    model.train_on_batch(np.full((1, 3, 2), 99.0), np.ones((1, 4)))
    assert all(np.isfinite(keras.ops.convert_to_numpy(w)).all() for w in model.weights)


def test_mask_stops_here():
    assert GlobalPooling("mean").compute_mask(HIDDEN, MASK) is None


@pytest.mark.parametrize("mode", ["sum", ["mean", "sum"], []])
def test_unknown_mode_names_the_choices(mode):
    with pytest.raises(ValueError, match=r"one of \['cls', 'max', 'mean'\]"):
        GlobalPooling(mode)


def test_a_wrong_rank_is_named():
    with pytest.raises(ValueError, match=r"\(batch, tokens, width\).*\(3, 2\)"):
        GlobalPooling()(HIDDEN[0])

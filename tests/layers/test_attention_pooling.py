import keras
import numpy as np
import pytest
from contract import ALLCLOSE, arrays, check_layer, check_padding
from hypothesis import given, settings
from hypothesis import strategies as st
from ragged import ragged_texts

from bert_keras_layers import AttentionPooling

RNG = np.random.default_rng(0)
HIDDEN = RNG.normal(size=(2, 3, 4)).astype("float32")
# The second text is all padding.
MASK = np.array([[1, 1, 0], [0, 0, 0]], "int32")


def learned(layer, width=4):
    """Builds a layer and gives it large random weights."""
    layer.build((None, None, width))
    layer.set_weights([RNG.normal(size=w.shape) for w in layer.weights])
    return layer


def numpy_pooled(layer, row):
    """Recomputes the averages `(heads, width)` and weights of the tokens left."""
    keys, (query, *dense) = row, layer.get_weights()
    if dense:
        keys = np.tanh(keys @ dense[0] + dense[1])
    scores = np.exp((keys @ query).T / np.sqrt(len(query)))  # (heads, tokens)
    weights = scores / scores.sum(-1, keepdims=True)
    return weights @ row, weights


@pytest.mark.parametrize(
    "layer",
    [
        AttentionPooling(name="pool"),
        AttentionPooling(2, key_size=5, dropout=0.1, name="pool"),
        AttentionPooling(3, return_weights=True, name="pool"),
    ],
    ids=["plain", "keys", "weights"],
)
def test_contract(layer, tmp_path):
    config = layer.get_config()
    check_layer(AttentionPooling.from_config(config), HIDDEN, tmp_path, MASK)


def test_contract_without_a_mask(tmp_path):
    check_layer(AttentionPooling(name="pool"), HIDDEN, tmp_path)


@settings(deadline=None, max_examples=40)
@given(texts=ragged_texts(), heads=st.sampled_from([1, 2]), keys=st.booleans())
def test_heads_pool_the_kept_tokens_as_numpy_does(texts, heads, keys):
    hidden, mask = texts
    layer = AttentionPooling(heads, 5 if keys else None, return_weights=True)
    learned(layer, width=3)
    pooled, weights = arrays(layer(hidden, mask=mask))
    expected, expected_weights = np.zeros((len(mask), heads, 3)), np.zeros_like(weights)
    for i, (row, kept) in enumerate(zip(hidden, mask, strict=True)):
        if kept.any():
            expected[i], expected_weights[i][:, kept] = numpy_pooled(layer, row[kept])
    expected = expected.reshape(len(mask), -1)
    np.testing.assert_allclose(pooled, expected, **ALLCLOSE)
    np.testing.assert_allclose(weights, expected_weights, **ALLCLOSE)


@settings(deadline=None, max_examples=15)
@given(texts=ragged_texts(), keys=st.booleans())
def test_padding_and_neighbours_never_reach_a_text(texts, keys):
    layer = learned(AttentionPooling(2, 5 if keys else None), width=3)
    check_padding(layer, *texts)


@pytest.mark.parametrize("mask", [MASK, MASK == 1, MASK.astype("float32"), MASK * 7])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_a_text_without_tokens_pools_to_zeros(mask, dtype):
    layer = AttentionPooling(2, return_weights=True, dtype=dtype)
    pooled, weights = arrays(layer(HIDDEN, mask=mask))
    assert not pooled[1].any()
    assert not weights[1].any()
    assert not weights[0, :, 2].any()
    mean = HIDDEN[0, :2].mean(0)
    np.testing.assert_allclose(pooled[0], [*mean, *mean], atol=0.05)


def test_a_single_token_is_returned_as_it_is():
    (pooled,) = arrays(learned(AttentionPooling())(HIDDEN[:, :1]))
    np.testing.assert_allclose(pooled, HIDDEN[:, 0], **ALLCLOSE)


def test_scores_beyond_half_precision_are_compared():
    layer = AttentionPooling(dtype="mixed_float16", return_weights=True)
    hidden = np.array([[[60000.0] * 4, [59000.0] * 4]], "float16")
    layer.build(hidden.shape)
    layer.query.kernel.assign(np.full((4, 1), 10.0))  # Scores to 1.2e6.
    pooled, weights = arrays(layer(hidden))
    np.testing.assert_array_equal(weights, [[[1, 0]]])
    np.testing.assert_array_equal(pooled, hidden[:, 0])


def test_gradients_are_finite_with_nan_in_the_padding_and_rows_without_tokens():
    inputs, mask = keras.Input((3, 4)), keras.Input((3,), dtype="bool")
    padded = keras.ops.where(mask[..., None], keras.layers.Dense(4)(inputs), np.nan)
    pool = AttentionPooling(2, key_size=5, return_weights=True)
    model = keras.Model([inputs, mask], list(pool(padded, mask=mask)))
    model.compile(keras.optimizers.SGD(0.1), ["mse", "mse"])
    before = arrays(model.weights)
    for rows in ([[True, True, False], [False] * 3], [[False] * 3] * 2):
        targets = [np.ones((2, 8)), np.ones((2, 2, 3))]
        model.train_on_batch([HIDDEN, np.array(rows)], targets)
        assert all(np.isfinite(w).all() for w in arrays(model.weights))
    for old, new in zip(before, arrays(model.weights), strict=True):
        assert (old != new).any()


def test_dropout_changes_the_averages_when_training_and_not_the_weights():
    layer = AttentionPooling(dropout=0.5, return_weights=True)
    hidden = RNG.normal(size=(1, 50, 4)).astype("float32")
    still, weights = arrays(layer(hidden))
    again, _ = arrays(layer(hidden, training=False))
    np.testing.assert_array_equal(again, still)
    dropped, same_weights = arrays(layer(hidden, training=True))
    assert (dropped != still).any()
    np.testing.assert_array_equal(same_weights, weights)


def test_the_order_of_the_weights_is_that_of_the_file():
    layer = learned(AttentionPooling(2, key_size=5))
    assert [tuple(w.shape) for w in layer.weights] == [(5, 2), (4, 5), (5,)]


@pytest.mark.skipif(keras.backend.backend() != "jax", reason="JAX finds every NaN")
def test_no_nan_arises_on_the_way_to_zeros():
    import jax

    with jax.debug_nans(True):
        assert not AttentionPooling(2, key_size=5)(HIDDEN, mask=0 * MASK).any()


@pytest.mark.parametrize("return_weights", [False, True])
def test_mask_stops_here(return_weights):
    layer = AttentionPooling(return_weights=return_weights)
    assert layer.compute_mask(HIDDEN, MASK) is None
    for output in keras.tree.flatten(layer(HIDDEN, mask=MASK)):
        assert keras.src.backend.get_keras_mask(output) is None


@pytest.mark.parametrize("size", [0, -1, 2.5, "8", None])
def test_sizes_must_be_positive_integers(size):
    with pytest.raises(ValueError, match=f"`num_heads` must be .*num_heads={size!r}"):
        AttentionPooling(size)
    if size is not None:
        with pytest.raises(ValueError, match=f"`key_size` must be.*key_size={size!r}"):
            AttentionPooling(key_size=size)


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_dropout_out_of_range_is_named(rate):
    with pytest.raises(ValueError, match=f"`dropout` must be .* Received: {rate}"):
        AttentionPooling(dropout=rate)


def test_a_wrong_rank_is_named():
    with pytest.raises(ValueError, match=r"\(batch, tokens, width\).*\(3, 4\)"):
        AttentionPooling()(HIDDEN[0])


def test_a_mask_of_another_shape_is_named():
    with pytest.raises(ValueError, match=r"`mask` must have .* here \(2, 3\)\. Receiv"):
        AttentionPooling()(HIDDEN, mask=MASK[:, :2])

import keras
import numpy as np
import pytest
from contract import ALLCLOSE, arrays, check_layer, check_padding
from hypothesis import given, settings
from ragged import ragged_texts

from bert_keras_layers import LayerAttention

RNG = np.random.default_rng(0)
STATES = [RNG.normal(size=(2, 3, 4)).astype("float32") for _ in range(6)]
MASK = np.array([[1, 1, 0], [0, 0, 0]], "int32")


def learned(layer):
    """Builds a layer on all six states and gives it large random weights."""
    layer.build([state.shape for state in STATES])
    layer.set_weights([RNG.normal(size=w.shape) for w in layer.weights])
    return layer


def numpy_weights(layer, states):
    """Recomputes the weights `(batch, tokens, layers)` from the layer's own."""
    keys, (query, *dense) = np.stack(states, axis=2), layer.get_weights()
    if dense:
        keys = np.tanh(keys @ dense[0] + dense[1])
    scores = (keys @ query)[..., 0] / np.sqrt(len(query))
    return np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)


@pytest.mark.parametrize(
    "layer",
    [
        LayerAttention(name="attention"),
        LayerAttention(None, key_size=5, name="attention"),
        LayerAttention([0, -1], layer_dropout=0.1, name="attention"),
        LayerAttention(3, return_weights=True, name="attention"),
    ],
    ids=["plain", "keys", "dropout", "weights"],
)
def test_contract(layer, tmp_path):
    check_layer(LayerAttention.from_config(layer.get_config()), STATES, tmp_path, MASK)


def test_contract_without_a_mask(tmp_path):
    check_layer(LayerAttention(name="attention"), STATES, tmp_path)


@settings(deadline=None, max_examples=10)
@given(texts=ragged_texts(num_states=3))
def test_padding_and_neighbours_never_reach_a_token_through_keys(texts):
    check_padding(LayerAttention(layers=2, key_size=4), *texts)


@pytest.mark.parametrize("key_size", [None, 5])
@pytest.mark.parametrize("chosen", [[4, 0, 1], [2], [-1, -1]])
def test_the_softmax_of_the_scores_weighs_the_layers_of_each_token(key_size, chosen):
    layer = learned(LayerAttention(chosen, key_size, return_weights=True))
    states = [STATES[i] for i in chosen]
    expected = numpy_weights(layer, states)
    mixed, weights = arrays(layer(STATES))
    np.testing.assert_allclose(weights, expected, **ALLCLOSE)
    expected_mix = np.einsum("btl,btlw->btw", expected, np.stack(states, axis=2))
    np.testing.assert_allclose(mixed, expected_mix, **ALLCLOSE)


def test_an_untrained_layer_is_nearly_the_average():
    (mixed,) = arrays(LayerAttention(None)(STATES))
    np.testing.assert_allclose(mixed, np.mean(STATES, axis=0), atol=0.05)


@pytest.mark.parametrize("mask", [MASK, [MASK] * 6])
def test_the_mask_goes_with_the_mix_and_with_the_weights(mask):
    layer = LayerAttention(return_weights=True)
    assert layer.compute_mask(STATES, mask) == (MASK, MASK)
    for output in layer(STATES, mask=MASK):
        received = keras.src.backend.get_keras_mask(output)
        np.testing.assert_array_equal(received, MASK)


def test_layers_that_stay_share_all_of_the_softmax_token_by_token():
    layer = learned(LayerAttention(3, layer_dropout=0.5, return_weights=True))
    all_weights = numpy_weights(layer, STATES[3:])
    seen = set()
    for _ in range(5):
        mixed, weights = arrays(layer(STATES, training=True))
        stays = weights > 0
        expected = np.where(stays, all_weights, 0)
        expected = expected / expected.sum(-1, keepdims=True)
        np.testing.assert_allclose(weights, expected, **ALLCLOSE)
        expected = np.einsum("btl,btlw->btw", weights, np.stack(STATES[3:], axis=2))
        np.testing.assert_allclose(mixed, expected, **ALLCLOSE)
        seen |= set(map(tuple, stays.reshape(-1, 3).tolist()))
    assert len(seen) > 3
    _, still = arrays(layer(STATES, training=False))
    np.testing.assert_allclose(still, all_weights, **ALLCLOSE)


def test_scores_beyond_half_precision_are_compared():
    layer = LayerAttention(2, dtype="mixed_float16", return_weights=True)
    states = [np.full((1, 1, 4), 60000.0, "float16"), np.ones((1, 1, 4), "float16")]
    layer.build([state.shape for state in states])
    layer.query.kernel.assign(np.full((4, 1), 10.0))  # Scores to 1.2e6.
    mixed, weights = arrays(layer(states))
    np.testing.assert_array_equal(weights, [[[1, 0]]])
    np.testing.assert_array_equal(mixed, states[0])


def test_the_order_of_the_weights_is_that_of_the_file():
    layer = learned(LayerAttention(key_size=5))
    assert [tuple(w.shape) for w in layer.weights] == [(5, 1), (4, 5), (5,)]


@pytest.mark.parametrize("size", [0, -1, 2.5, "8"])
def test_a_key_size_must_be_a_positive_integer(size):
    with pytest.raises(ValueError, match="`key_size` must be a positive integer"):
        LayerAttention(key_size=size)


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_dropout_out_of_range_is_named(rate):
    with pytest.raises(ValueError, match=f"layer_dropout.*Received: {rate}"):
        LayerAttention(layer_dropout=rate)

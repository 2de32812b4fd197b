from itertools import combinations

import keras
import numpy as np
import pytest
from contract import ALLCLOSE, arrays, check_layer, check_padding
from hypothesis import given, settings
from ragged import ragged_texts

from bert_keras_layers import LayerMix

RNG = np.random.default_rng(0)
STATES = [RNG.normal(size=(2, 3, 4)).astype("float32") for _ in range(6)]
MASK = np.array([[1, 1, 0], [0, 0, 0]], "int32")
LOGITS = np.array([0.5, -1.0, 2.0], "float32")
WEIGHTS = np.exp(LOGITS) / np.exp(LOGITS).sum()


def learned(layer, logits=LOGITS, scale=1.5):
    """Builds a layer on all six states and gives it weights."""
    layer.build([state.shape for state in STATES])
    layer.layer_logits.assign(logits)
    layer.scale.assign(scale)
    return layer


@pytest.mark.parametrize(
    "layer",
    [
        LayerMix(name="mix"),
        LayerMix([0, -1], "sum", name="mix"),
        LayerMix(layer_norm=True, layer_dropout=0.1, name="mix"),
        LayerMix(3, "mean", return_weights=True, name="mix"),
    ],
    ids=lambda layer: f"{layer.mode}-{layer.layer_norm}-{layer.return_weights}",
)
def test_contract(layer, tmp_path):
    check_layer(LayerMix.from_config(layer.get_config()), STATES, tmp_path, MASK)


def test_contract_without_a_mask(tmp_path):
    check_layer(LayerMix(name="mix"), STATES, tmp_path)


@settings(deadline=None, max_examples=10)
@given(texts=ragged_texts(num_states=3))
def test_padding_and_neighbours_never_reach_a_token_through_layer_norm(texts):
    check_padding(LayerMix(layers=2, layer_norm=True), *texts)


@pytest.mark.parametrize("mode", ["softmax", "mean"])
def test_an_untrained_mix_is_the_average(mode):
    (mixed,) = arrays(LayerMix(None, mode)(STATES))
    np.testing.assert_allclose(mixed, np.mean(STATES, axis=0), **ALLCLOSE)


def test_a_sum_is_a_sum():
    (mixed,) = arrays(LayerMix([1, 1, -1], "sum")(STATES))
    np.testing.assert_allclose(mixed, 2 * STATES[1] + STATES[5], **ALLCLOSE)


def test_softmax_of_the_logits_weighs_the_layers_and_the_scale_all():
    (mixed,) = arrays(learned(LayerMix([4, 0, 1]))(STATES))
    expected = 1.5 * sum(w * STATES[i] for w, i in zip(WEIGHTS, [4, 0, 1], strict=True))
    np.testing.assert_allclose(mixed, expected, **ALLCLOSE)


def test_one_large_logit_selects_one_layer():
    (mixed,) = arrays(learned(LayerMix(3), logits=[0, 1000, 0], scale=1.0)(STATES))
    np.testing.assert_allclose(mixed, STATES[4], **ALLCLOSE)


def test_layer_norm_makes_states_of_any_size_equal_partners():
    layer = learned(LayerMix(3, layer_norm=True))
    (mixed,) = arrays(layer([state * 10.0**i for i, state in enumerate(STATES)]))
    normal = [
        (state - state.mean(-1, keepdims=True)) / state.std(-1, keepdims=True)
        for state in STATES[3:]
    ]
    expected = 1.5 * np.tensordot(WEIGHTS, normal, 1)
    np.testing.assert_allclose(mixed, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("softmax", WEIGHTS), ("mean", [1 / 3] * 3), ("sum", [1] * 3)],
)
def test_weights_come_before_the_scale_one_row_per_text(mode, expected):
    layer = LayerMix(3, mode, return_weights=True)
    if mode == "softmax":
        learned(layer)
    _, weights = arrays(layer(STATES))
    np.testing.assert_allclose(weights, np.full((2, 3), expected), **ALLCLOSE)


@pytest.mark.parametrize("mask", [MASK, [MASK] * 6])
def test_the_mask_goes_with_the_mix_and_not_with_the_weights(mask):
    layer = LayerMix(return_weights=True)
    assert layer.compute_mask(STATES, mask) == (MASK, None)
    mixed, weights = layer(STATES, mask=MASK)
    np.testing.assert_array_equal(keras.src.backend.get_keras_mask(mixed), MASK)
    assert keras.src.backend.get_keras_mask(weights) is None


@pytest.mark.parametrize("rate", [0.4, 0.9])
def test_layers_that_stay_share_all_of_the_softmax(rate):
    layer = learned(LayerMix(3, layer_dropout=rate, return_weights=True))
    seen = set()
    for _ in range(60):
        mixed, (weights, other_row) = arrays(layer(STATES, training=True))
        stays = weights > 0
        expected = np.where(stays, WEIGHTS, 0) / WEIGHTS[stays].sum()
        np.testing.assert_allclose(weights, expected, **ALLCLOSE)
        np.testing.assert_array_equal(weights, other_row)
        np.testing.assert_allclose(
            mixed, 1.5 * np.tensordot(weights, STATES[3:], 1), **ALLCLOSE
        )
        seen.add(tuple(stays.tolist()))
    assert len(seen) > 2
    assert (True, True, True) in seen  # Where none would stay, all do.


def test_layer_dropout_of_a_mean_is_the_mean_of_those_that_stay():
    layer = LayerMix(None, "mean", layer_dropout=0.5)
    subsets = [list(some) for n in range(1, 7) for some in combinations(STATES, n)]
    means = [np.mean(subset, axis=0) for subset in subsets]
    for _ in range(5):
        (mixed,) = arrays(layer(STATES, training=True))
        assert any(np.allclose(mixed, mean, **ALLCLOSE) for mean in means)


def test_layer_dropout_is_on_in_training_only():
    layer = learned(LayerMix(3, layer_dropout=0.9))
    (still,) = arrays(layer(STATES, training=False))
    (default,) = arrays(layer(STATES))
    np.testing.assert_array_equal(default, still)
    # Where none would stay all do, as in 73 of 100 draws: 60 leave no room for chance.
    draws = [arrays(layer(STATES, training=True))[0] for _ in range(60)]
    assert any((mixed != still).any() for mixed in draws)


def test_the_sum_is_taken_in_float32():
    large = np.full((1, 1, 1), 60000.0, "float16")
    layer = LayerMix(None, "sum", dtype="mixed_float16")
    (mixed,) = arrays(layer([large, large, -large]))  # On the way: 120000 > 65504.
    assert mixed[0, 0, 0] == 60000.0


def test_an_unknown_mode_names_the_choices():
    with pytest.raises(ValueError, match=r"one of \['mean', 'softmax', 'sum'\].*'max'"):
        LayerMix(mode="max")


@pytest.mark.parametrize("rate", [-0.1, 1.0])
def test_dropout_out_of_range_is_named(rate):
    with pytest.raises(ValueError, match=f"layer_dropout.*Received: {rate}"):
        LayerMix(layer_dropout=rate)


def test_a_sum_has_no_layer_dropout():
    with pytest.raises(ValueError, match=r"weights that sum to one.*layer_dropout=0.1"):
        LayerMix(mode="sum", layer_dropout=0.1)

"""What LayerConcat, LayerStack, LayerMix and LayerAttention have in common."""

import keras
import numpy as np
import pytest
from contract import arrays, check_padding
from hypothesis import given, settings
from ragged import ragged_texts

from bert_keras_layers import LayerAttention, LayerConcat, LayerMix, LayerStack

RNG = np.random.default_rng(0)
STATES = [RNG.normal(size=(2, 3, 4)).astype("float32") for _ in range(6)]
MASK = np.array([[1, 1, 0], [1, 0, 0]], "int32")

every_layer = pytest.mark.parametrize(
    "layer_class", [LayerAttention, LayerConcat, LayerMix, LayerStack]
)


@every_layer
def test_the_last_four_are_the_default(layer_class):
    keras.utils.set_random_seed(1)
    expected = arrays(layer_class(layers=[2, 3, 4, 5])(STATES))
    keras.utils.set_random_seed(1)
    np.testing.assert_array_equal(arrays(layer_class()(STATES)), expected)


@every_layer
@pytest.mark.parametrize("mask", [MASK, [MASK] * 6, [None, MASK, None]])
def test_mask_passes_through(layer_class, mask):
    assert layer_class().compute_mask(STATES, mask) is MASK


@every_layer
def test_the_mask_of_the_states_reaches_the_next_layer(layer_class):
    states = [keras.layers.Masking()(state * (i > 0)) for i, state in enumerate(STATES)]
    masks = [keras.src.backend.get_keras_mask(state) for state in states]
    output = layer_class()(states)
    received = keras.src.backend.get_keras_mask(output)
    np.testing.assert_array_equal(received, masks[0])


@every_layer
@settings(deadline=None, max_examples=15)
@given(texts=ragged_texts(num_states=3))
def test_padding_and_neighbours_never_reach_a_token(layer_class, texts):
    check_padding(layer_class(layers=2), *texts)


@every_layer
def test_one_state_of_one_token_will_do(layer_class):
    (output,) = arrays(layer_class(1)([STATES[0][:, :1]]))
    np.testing.assert_allclose(output.reshape(2, 1, 4), STATES[0][:, :1])


@every_layer
def test_layers_may_be_chosen_in_any_integers_and_saved(layer_class):
    layer = layer_class(np.array([0, -1]))
    assert layer.get_config()["layers"] == [0, -1]


@every_layer
def test_a_layer_out_of_range_is_refused_when_built(layer_class):
    with pytest.raises(ValueError, match="must be 1 to 6"):
        layer_class(7).build([state.shape for state in STATES])


@every_layer
@pytest.mark.parametrize("wrong", [STATES[0], {"hidden_states": STATES}])
def test_what_is_no_list_of_states_is_named(layer_class, wrong):
    with pytest.raises(ValueError, match="must be a list of tensors, such as"):
        layer_class(1)(wrong)


@every_layer
def test_unequal_shapes_are_named(layer_class):
    with pytest.raises(ValueError, match=r"share one shape.*\(2, 3, 4\)"):
        layer_class()([*STATES, STATES[1][:, :2]])


@every_layer
def test_a_wrong_rank_is_named(layer_class):
    with pytest.raises(ValueError, match=r"\(batch, tokens, width\).*\(2, 4\)"):
        layer_class()([state[:, 0] for state in STATES])

import keras
import numpy as np
import pytest
from contract import check_layer

from bert_keras_layers import LayerConcat

RNG = np.random.default_rng(0)
STATES = [RNG.normal(size=(2, 3, 4)).astype("float32") for _ in range(6)]
MASK = np.array([[1, 1, 0], [1, 0, 0]])


@pytest.mark.parametrize("layers", [4, None, [0, -1]])
def test_contract(layers, tmp_path):
    check_layer(LayerConcat(layers, name="concat"), STATES, tmp_path)


@pytest.mark.parametrize(
    ("layers", "chosen"), [(4, [2, 3, 4, 5]), ([5, 0], [5, 0]), ([-2], [4])]
)
def test_states_stand_side_by_side_in_the_order_chosen(layers, chosen):
    expected = np.concatenate([STATES[i] for i in chosen], axis=-1)
    np.testing.assert_array_equal(LayerConcat(layers)(STATES), expected)


def test_the_last_four_are_the_default():
    np.testing.assert_array_equal(LayerConcat()(STATES), LayerConcat(4)(STATES))


@pytest.mark.parametrize("mask", [MASK, [MASK] * 6])
def test_mask_passes_through(mask):
    assert LayerConcat().compute_mask(STATES, mask) is MASK


def test_the_mask_of_the_states_reaches_the_next_layer():
    states = [keras.layers.Masking()(state * (i > 0)) for i, state in enumerate(STATES)]
    masks = [keras.src.backend.get_keras_mask(state) for state in states]
    output = LayerConcat()(states)
    received = keras.src.backend.get_keras_mask(output)
    np.testing.assert_array_equal(received, masks[0])


def test_a_layer_out_of_range_is_refused_when_built():
    with pytest.raises(ValueError, match="must be 1 to 6"):
        LayerConcat(7)(STATES)


@pytest.mark.parametrize("wrong", [STATES[0], {"hidden_states": STATES}])
def test_what_is_no_list_of_states_is_named(wrong):
    with pytest.raises(ValueError, match="must be a list of tensors, such as"):
        LayerConcat(1)(wrong)


def test_unequal_shapes_are_named():
    with pytest.raises(ValueError, match=r"share one shape.*\(2, 3, 4\)"):
        LayerConcat()([*STATES, STATES[1][:, :2]])

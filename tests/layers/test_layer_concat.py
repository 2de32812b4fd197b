import numpy as np
import pytest
from contract import check_layer

from bert_keras_layers import LayerConcat

RNG = np.random.default_rng(0)
STATES = [RNG.normal(size=(2, 3, 4)).astype("float32") for _ in range(6)]
MASK = np.array([[1, 1, 0], [0, 0, 0]], "int32")


@pytest.mark.parametrize("layers", [4, [0, -1]])
def test_contract(layers, tmp_path):
    check_layer(LayerConcat(layers, name="concat"), STATES, tmp_path, MASK)


def test_contract_without_a_mask(tmp_path):
    check_layer(LayerConcat(name="concat"), STATES, tmp_path)


@pytest.mark.parametrize(
    ("layers", "chosen"), [(4, [2, 3, 4, 5]), ([5, 0], [5, 0]), ([-2], [4])]
)
def test_states_stand_side_by_side_in_the_order_chosen(layers, chosen):
    expected = np.concatenate([STATES[i] for i in chosen], axis=-1)
    np.testing.assert_array_equal(LayerConcat(layers)(STATES), expected)

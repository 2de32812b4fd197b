import keras
import numpy as np
import pytest
from contract import check_layer

from bert_keras_layers import LayerStack

RNG = np.random.default_rng(0)
STATES = [RNG.normal(size=(2, 3, 4)).astype("float32") for _ in range(6)]
MASK = np.array([[1, 1, 0], [0, 0, 0]], "int32")


def test_contract(tmp_path):
    check_layer(LayerStack([0, -1], name="stack"), STATES, tmp_path, MASK)


def test_contract_without_a_mask(tmp_path):
    check_layer(LayerStack(name="stack"), STATES, tmp_path)


@pytest.mark.parametrize(
    ("layers", "chosen"), [(4, [2, 3, 4, 5]), ([5, 0], [5, 0]), ([-2], [4])]
)
def test_the_layer_axis_stands_after_the_tokens(layers, chosen):
    stacked = keras.ops.convert_to_numpy(LayerStack(layers)(STATES))
    assert stacked.shape == (2, 3, len(chosen), 4)
    for place, layer in enumerate(chosen):
        np.testing.assert_array_equal(stacked[:, :, place], STATES[layer])

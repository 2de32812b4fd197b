"""Layers in float32 keep the mask of a bfloat16 encoder's states."""

import keras
import numpy as np
import pytest
from contract import arrays
from encoders.test_bert_encoder import INPUTS

from bert_keras_layers import (
    AttentionPooling,
    DenseHead,
    GlobalPooling,
    LayerAttention,
    LayerConcat,
    LayerMix,
    LayerStack,
    LayerwiseHead,
    RecurrentHead,
    WordPooling,
)

ON_LISTS = [LayerConcat(), LayerStack(), LayerMix(), LayerAttention(), LayerwiseHead(2)]
ON_TENSORS = [GlobalPooling("max"), AttentionPooling(), RecurrentHead(2)]


@pytest.fixture
def states(small_encoder):
    return small_encoder(dtype="mixed_bfloat16")(INPUTS)["hidden_states"]


@pytest.mark.parametrize(
    "layer", [*ON_LISTS, *ON_TENSORS], ids=lambda layer: type(layer).__name__
)
def test_padding_in_another_type_stays_padding(layer, states):
    of_list = layer in ON_LISTS
    mask = INPUTS["attention_mask"] == 1
    float32 = [keras.ops.cast(state, "float32") for state in states]
    expected = layer(float32 if of_list else float32[-1], mask=mask)
    received = layer(states if of_list else states[-1])
    for one, other in zip(arrays(received), arrays(expected), strict=True):
        np.testing.assert_array_equal(one, other)
    masks = layer.compute_mask(float32 if of_list else float32[-1], mask)
    if masks is not None:
        np.testing.assert_array_equal(keras.src.backend.get_keras_mask(received), mask)


def test_words_leave_out_the_padding_of_another_type(states):
    word_ids = np.array([[0, 0, 1, 1, 2], [0, 1, 1, 1, 1]])
    mask = INPUTS["attention_mask"]
    layer = WordPooling("mean")
    expected = layer([keras.ops.cast(states[-1], "float32"), word_ids], mask=mask)
    received = layer([states[-1], keras.ops.convert_to_tensor(word_ids)])
    np.testing.assert_array_equal(arrays(received)[0], arrays(expected)[0])


def test_a_dense_head_hands_the_mask_on(states):
    received = keras.src.backend.get_keras_mask(DenseHead(2)(states[-1]))
    np.testing.assert_array_equal(received, INPUTS["attention_mask"] == 1)

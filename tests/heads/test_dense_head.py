import keras
import numpy as np
import pytest
from contract import ALLCLOSE, check_layer

from bert_keras_layers import DenseHead

VECTORS = np.random.default_rng(0).normal(size=(4, 6)).astype("float32")


def test_contract(tmp_path):
    check_layer(DenseHead(3, name="head"), VECTORS, tmp_path)


def test_contract_on_tokens(tmp_path):
    head = DenseHead(3, "softmax", hidden_units=[5, 4], dropout=0.0, name="head")
    check_layer(head, VECTORS.reshape(2, 2, 6), tmp_path)


def test_dense_layers_and_activations_follow_each_other():
    head = DenseHead(3, "softmax", hidden_units=[5], hidden_activation="tanh")
    received = keras.ops.convert_to_numpy(head(VECTORS))
    kernel, bias, last_kernel, last_bias = head.get_weights()
    logits = np.tanh(VECTORS @ kernel + bias) @ last_kernel + last_bias
    expected = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    np.testing.assert_allclose(received, expected, **ALLCLOSE)


def test_dropout_is_on_in_training_only():
    head = DenseHead(3, dropout=0.5)
    still = keras.ops.convert_to_numpy(head(VECTORS))
    again = keras.ops.convert_to_numpy(head(VECTORS, training=False))
    np.testing.assert_array_equal(again, still)
    assert (keras.ops.convert_to_numpy(head(VECTORS, training=True)) != still).any()


@pytest.mark.parametrize("sizes", [(0, []), (3, [0]), (2.5, []), (3, [4, "5"])])
def test_sizes_must_be_positive_integers(sizes):
    with pytest.raises(ValueError, match="must be positive integers"):
        DenseHead(sizes[0], hidden_units=sizes[1])


def test_dropout_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"below 1. Received: 1.0"):
        DenseHead(3, dropout=1.0)

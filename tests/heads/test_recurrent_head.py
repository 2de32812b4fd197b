import keras
import numpy as np
import pytest
from contract import ALLCLOSE, arrays, check_layer, check_padding

from bert_keras_layers import RecurrentHead

RNG = np.random.default_rng(0)
TOKENS = RNG.normal(size=(2, 4, 3)).astype("float32")
MASK = np.array([[1, 1, 1, 0], [1, 1, 0, 0]], "int32")


def test_contract(tmp_path):
    head = RecurrentHead(3, "softmax", hidden_units=[5, 4], dropout=0.0, name="head")
    check_layer(head, TOKENS, tmp_path, MASK)


def test_contract_without_a_mask(tmp_path):
    check_layer(RecurrentHead(3, hidden_units=[5], name="head"), TOKENS, tmp_path)


def test_padding_and_neighbours_never_reach_a_token():
    check_padding(RecurrentHead(3, hidden_units=[5, 4]), TOKENS, MASK.astype(bool))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(tokens, kernel, recurrent_kernel, bias):
    """One direction over `(tokens, width)`, gates in the order of Keras."""
    state = cell = np.zeros(len(recurrent_kernel))
    outputs = []
    for token in tokens:
        gates = token @ kernel + state @ recurrent_kernel + bias
        enter, forget, candidate, leave = np.split(gates, 4)
        cell = sigmoid(forget) * cell + sigmoid(enter) * np.tanh(candidate)
        state = sigmoid(leave) * np.tanh(cell)
        outputs.append(state)
    return np.array(outputs)


def test_both_directions_of_each_layer_see_the_kept_tokens_only():
    head = RecurrentHead(3, hidden_units=[5, 4])
    (received,) = arrays(head(TOKENS, mask=MASK))
    weights = head.get_weights()
    for text, kept, scores in zip(TOKENS, MASK.sum(-1), received, strict=True):
        tokens = text[:kept]
        for layer in (weights[:6], weights[6:12]):
            backward = lstm(tokens[::-1], *layer[3:])[::-1]
            tokens = np.concatenate([lstm(tokens, *layer[:3]), backward], -1)
        kernel, bias = weights[12:]
        np.testing.assert_allclose(scores[:kept], tokens @ kernel + bias, **ALLCLOSE)
        np.testing.assert_allclose(scores[kept:], [bias] * (4 - kept), **ALLCLOSE)


def test_the_defaults_are_those_of_the_paper():
    assert RecurrentHead(9).get_config()["hidden_units"] == [768, 768]
    head = RecurrentHead(9, hidden_units=(5, 4))
    head.build((None, None, 3))
    recurrent = [w.shape for w in head.weights if w.path.endswith("recurrent_kernel")]
    assert recurrent == [(5, 4 * 5)] * 2 + [(4, 4 * 4)] * 2  # In both directions.
    assert head.weights[-2].shape == (2 * 4, 9)


def test_dropout_is_on_in_training_only():
    head = RecurrentHead(3, hidden_units=[5], dropout=0.5)
    (still,), (again,) = arrays(head(TOKENS)), arrays(head(TOKENS, training=False))
    np.testing.assert_array_equal(again, still)
    assert (arrays(head(TOKENS, training=True))[0] != still).any()


def test_gradients_are_finite_with_nan_in_the_padding():
    spoiled = np.where(MASK[..., None] == 1, TOKENS, np.nan).astype("float32")
    inputs, mask = keras.Input((4, 3)), keras.Input((4,), dtype="int32")
    head = RecurrentHead(2, hidden_units=[5])
    model = keras.Model([inputs, mask], head(inputs, mask=mask))
    model.compile("sgd", "mse")
    model.train_on_batch([spoiled, MASK], np.ones((2, 4, 2)))
    assert all(np.isfinite(weight).all() for weight in head.get_weights())


def test_the_mask_passes_through():
    assert RecurrentHead(2).compute_mask(TOKENS, MASK) is MASK


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden_units": []}, r"at least one LSTM layer. Received: hidden_units=\[\]"),
        ({"hidden_units": [5, 0]}, "must be positive integers"),
        ({"units": 0}, "must be positive integers. Received: units=0"),
        ({"dropout": -0.1}, "below 1. Received: -0.1"),
    ],
)
def test_a_wrong_argument_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        RecurrentHead(**{"units": 2, **options})


def test_a_wrong_rank_or_mask_is_named():
    with pytest.raises(ValueError, match=r"\(batch, tokens, width\).*\(4, 3\)"):
        RecurrentHead(2, hidden_units=[5])(TOKENS[0])
    with pytest.raises(ValueError, match=r"`mask` must have the shape"):
        RecurrentHead(2, hidden_units=[5])(TOKENS, mask=MASK[:, :2])

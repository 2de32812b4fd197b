import numpy as np
import pytest

from bert_keras_layers.models.text_inputs import text_inputs


@pytest.mark.parametrize(
    "texts",
    [
        ["one", "two"],
        ("one", "two", "three"),
        ("one", "two"),
        np.array(["one", "two"]),
        np.array(["one", "two"], object),
        [b"one"],
        [None, "two"],
    ],
)
def test_a_sequence_with_a_text_in_it_is_texts(texts):
    assert text_inputs(texts).texts is texts
    assert text_inputs(texts).pairs is None


def test_a_tuple_of_two_sequences_is_pairs():
    inputs = text_inputs((["a", "b"], np.array(["c", "d"])))
    assert inputs.texts == ["a", "b"]
    assert list(inputs.pairs) == ["c", "d"]


@pytest.mark.parametrize(
    "x",
    [
        {"input_ids": np.ones((1, 3), "int32")},
        np.ones((2, 3)),
        [[1, 2], [3, 4]],
        [np.ones(2), np.ones(2)],
        (np.ones(2), np.ones(2)),
        np.array([["one"], ["two"]]),
        None,
        iter(["one"]),
    ],
)
def test_everything_else_is_left_to_keras(x):
    assert text_inputs(x) is None


def test_a_bare_string_is_refused():
    with pytest.raises(ValueError, match=r"as a list, even a single one.*'one'"):
        text_inputs("one")

import keras
import numpy as np
import pytest

from bert_keras_layers.encoders.encoder_inputs import (
    standardize_inputs,
    symbolic_inputs,
)

IDS = np.array([[1, 2, 3]])
FAMILIES = [
    ("input_ids", "attention_mask", "token_type_ids"),
    ("input_word_ids", "input_mask", "input_type_ids"),
    ("token_ids", "padding_mask", "segment_ids"),
]


@pytest.mark.parametrize("names", FAMILIES)
def test_names_of_every_library_are_translated(names):
    given = dict(zip(names, (IDS, IDS > 1, IDS), strict=True))
    standard = standardize_inputs(given)
    assert list(standard) == ["input_ids", "attention_mask", "token_type_ids"]
    assert all(a is b for a, b in zip(standard.values(), given.values(), strict=True))
    assert list(given) == list(names)


def test_symbolic_inputs_are_open_int32():
    inputs = symbolic_inputs()
    assert set(inputs) == set(FAMILIES[0])
    assert {(x.shape, x.dtype) for x in inputs.values()} == {((None, None), "int32")}
    assert standardize_inputs(inputs) == inputs


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (IDS, "takes a dict with `input_ids`.*Received: ndarray"),
        ({"ids": IDS}, r"Received also: \['ids'\]"),
        ({"attention_mask": IDS}, r"name the ids once.*\['attention_mask'\]"),
        ({"input_ids": IDS, "token_ids": IDS}, "name the ids once"),
        ({"input_ids": IDS[0]}, r"`input_ids` must have the shape \(batch, tokens\)"),
        ({"input_ids": IDS / 1}, "`input_ids` must hold integers.*float64"),
        ({"input_ids": IDS > 1}, "`input_ids` must hold integers.*bool"),
        (
            {"input_ids": IDS, "attention_mask": IDS[:, :2]},
            r"`attention_mask` must have the shape of `input_ids`, \(1, 3\)",
        ),
        (
            {"input_ids": IDS, "token_type_ids": np.repeat(IDS, 2, 0)},
            r"`token_type_ids` must have the shape.*\(2, 3\)",
        ),
    ],
)
def test_a_wrong_input_is_named(inputs, message):
    with pytest.raises(ValueError, match=message):
        standardize_inputs(inputs)


def test_open_dimensions_fit_any_length():
    inputs = {
        "input_ids": keras.Input((None,), dtype="int32"),
        "attention_mask": keras.Input((7,), dtype="int32"),
    }
    assert standardize_inputs(inputs) == inputs

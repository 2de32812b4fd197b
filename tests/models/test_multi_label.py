"""TextClassifier with any number of labels per text."""

import keras
import numpy as np
import pytest

from bert_keras_layers import BertPreprocessor, TextClassifier

pytestmark = pytest.mark.one_backend

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "very", "a", "."]
TEXTS = ["good", "a very good film .", "bad", "a bad film", "very very", "good bad"]
SETS = [["good"], ["good", "film"], ["bad"], ["film", "bad"], [], ["bad", "good"]]
ROWS = [[0, 0, 1], [0, 1, 1], [1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 0, 1]]


@pytest.fixture
def model(small_encoder):
    preprocessor = BertPreprocessor(WORDS)
    # No block to compile: this is about targets.
    return TextClassifier(
        small_encoder(), 3, preprocessor, layers=[0], multi_label=True
    )


def test_fit_learns_labels_from_lists_of_names(model):
    model.optimizer.learning_rate = 2e-2
    model.fit(TEXTS * 4, SETS * 4, 8, 25, verbose=0)
    assert model.labels == ["bad", "film", "good"]
    results = model.evaluate(TEXTS, SETS, verbose=0, return_dict=True)
    assert results["f1"] == results["binary_accuracy"] == 1.0
    probabilities = model.predict(TEXTS, verbose=0)
    np.testing.assert_array_equal(probabilities > 0.5, np.array(ROWS) == 1)
    clipped = np.where(np.array(ROWS) == 1, probabilities, 1 - probabilities)
    np.testing.assert_allclose(results["loss"], -np.log(clipped).mean(), rtol=1e-4)


@pytest.mark.parametrize(
    "targets",
    [
        SETS,
        tuple(map(tuple, SETS)),
        list(map(set, SETS)),
        [np.array(names, object) for names in SETS],
        [[name.encode() for name in names] for names in SETS],
        ROWS,
        np.array(ROWS, bool),
        np.array(ROWS, "float64"),
    ],
)
def test_names_and_rows_become_zeros_and_ones(targets, model):
    model.set_labels(["bad", "film", "good"])
    rows = model.encode_targets(targets)
    assert rows.dtype == "float32"
    np.testing.assert_array_equal(rows, ROWS)


def test_texts_without_labels_are_rows_of_zeros(model):
    model.set_labels(["bad", "film", "good"])
    np.testing.assert_array_equal(model.encode_targets([[], []]), np.zeros((2, 3)))


def test_one_label_is_a_yes_or_no(small_encoder):
    model = TextClassifier(small_encoder(), 1, multi_label=True, labels=["spam"])
    np.testing.assert_array_equal(model.encode_targets([["spam"], []]), [[1], [0]])


def test_a_keras_file_keeps_what_was_learned(model, tmp_path):
    model.fit(TEXTS, SETS, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras", safe_mode=True)
    assert loaded.labels == model.labels
    expected = model.predict(TEXTS, verbose=0)
    np.testing.assert_allclose(loaded.predict(TEXTS, verbose=0), expected, atol=1e-6)
    expected = model.evaluate(TEXTS, SETS, verbose=0)
    np.testing.assert_allclose(loaded.evaluate(TEXTS, SETS, verbose=0), expected, 1e-4)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (["good"] * 6, r"a list of names per text.*Received: 'good' at index 0"),
        ([*SETS[:5], None], r"a list of names per text.*Received: None at index 5"),
        ([*SETS[:5], ["bad", 3]], r"Received: \['bad', 3\] at index 5"),
        ([["new"], *SETS[1:]], r"must be 3 different class names"),
        ([0, 1, 2, 0, 1, 2], r"\(texts, 3\)\. Received: shape \(6,\)"),
        (np.full((6, 3), 0.5), "0 or 1. Received: 0.5"),
        (np.full((6, 3), np.nan), "0 or 1. Received: nan"),
        ([[0, 1], [1]], r"\(texts, 3\)\. Received: something else"),
        (None, r"\(texts, 3\)\. Received: shape \(\)"),
    ],
)
def test_wrong_targets_are_named(targets, message, model):
    with pytest.raises(ValueError, match=message):
        model.fit(TEXTS, targets, verbose=0)


def test_class_weights_are_refused(model):
    with pytest.raises(ValueError, match="needs one class per text"):
        model.fit(TEXTS, ROWS, class_weight={0: 1.0, 1: 2.0}, verbose=0)


def test_an_unknown_label_is_named(model):
    model.set_labels(["bad", "film", "good"])
    with pytest.raises(ValueError, match=r"Received: \['fun'\]"):
        model.encode_targets([["fun"], []])

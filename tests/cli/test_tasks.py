import collections

import numpy as np
import pytest

from bert_keras_layers import BertPreprocessor
from bert_keras_layers_cli.choices import parse_layers
from bert_keras_layers_cli.runs.classification import Classification
from bert_keras_layers_cli.runs.regression import Regression
from bert_keras_layers_cli.runs.tagging import Tagging
from bert_keras_layers_cli.runs.training_run import _split
from bert_keras_layers_cli.runs.training_task import Examples, TrainingOptions

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film"]


@pytest.fixture
def options(tmp_path):
    return TrainingOptions(tmp_path / "data.tsv", "encoder", tmp_path / "out")


def test_each_label_is_split_in_the_same_share(options):
    labels = ["a"] * 20 + ["b"] * 10 + ["rare"]
    examples = Examples([f"text {i}" for i in range(31)], labels)
    for seed in range(20):
        np.random.seed(seed)
        train, test = _split(Classification(options), examples, 0.2)
        assert collections.Counter(test.targets) == {"a": 4, "b": 2}
        assert collections.Counter(train.targets) == {"a": 16, "b": 8, "rare": 1}
        pairs = [*zip(*train, strict=True), *zip(*test, strict=True)]
        assert sorted(pairs) == sorted(zip(*examples, strict=True))


def test_numbers_are_split_whatever_they_are(options):
    examples = Examples([f"text {i}" for i in range(10)], np.arange(10.0).tolist())
    train, test = _split(Regression(options), examples, 0.2)
    assert (len(train.inputs), len(test.inputs)) == (8, 2)


@pytest.mark.parametrize(
    ("text", "layers"),
    [("all", None), ("4", 4), ("-1", [-1]), ("0,-1", [0, -1]), ("0,", [0])],
)
def test_layers_on_a_command_line(text, layers):
    assert parse_layers(text) == layers


def test_a_regressor_learns_unit_numbers_and_answers_in_their_unit(
    options, small_encoder
):
    targets = [100_000.0, 100_900.0, 100_300.0]
    examples = Examples(["good film", "bad film", "film"], targets)
    task = Regression(options)
    task.learn(examples)
    encoder = small_encoder(num_layers=1)
    encoder.trainable = False
    model = task.build(encoder, BertPreprocessor(VOCABULARY), 1)
    model.optimizer.learning_rate = 0.0  # It learns nothing but the unit.
    before = model.predict(examples.inputs, verbose=0)
    task.fit(model, examples, epochs=1, verbose=0)
    assert model.history.history["loss"][0] < 10
    after = model.predict(examples.inputs, verbose=0)
    expected = 100_400 + before * np.std(targets)
    np.testing.assert_allclose(after, expected, rtol=1e-6)


def test_errors_of_numbers_stand_beside_those_of_the_mean(options):
    class Model:
        def predict(self, texts, verbose):
            return np.array([[2.0], [5.0]])

    train, test = Examples("abc", [1.0, 2.0, 6.0]), Examples("de", [1.0, 5.0])
    assert Regression(options).scores(Model(), train, test) == {
        "test_mean_absolute_error": 0.5,
        "baseline": "always the mean, 3.000",
        "baseline_mean_absolute_error": 2.0,
    }


@pytest.mark.parametrize("cell", ["four", "4,5", "nan", "-inf"])
def test_what_is_no_number_is_named(cell, options):
    options.data.write_text(f"text\tlabel\na\t1\nb\t{cell}\n", "utf-8")
    with pytest.raises(ValueError, match=rf"a number in each row. Received: '{cell}'"):
        Regression(options).read(options.data)


class Tagger:
    def __init__(self, tags):
        self.tags = tags

    def predict_tags(self, sentences):
        return self.tags


def test_tags_are_counted_by_word_and_by_entity(options):
    train = Examples([["a", "b"], ["c"]], [["O", "B-x"], ["O"]])
    test = Examples([["a", "b", "c"], ["d"]], [["B-x", "I-x", "O"], ["B-new"]])
    task = Tagging(options)
    task.learn(train)
    scores = task.scores(Tagger([["B-x", "I-x", "B-x"], [None]]), train, test)
    assert scores.pop("test_entity_f1") == pytest.approx(2 * 0.5 * 0.5)
    assert scores == {
        "tags": ["B-x", "O"],
        "test_words": 4,
        "test_accuracy": 0.5,
        "baseline": "always 'O'",
        "baseline_accuracy": 0.25,
    }


def test_tags_that_name_no_entities_have_no_entity_scores(options):
    examples = Examples([["a", "b"]], [["O", "VERB"]])
    task = Tagging(options)
    task.learn(examples)
    scores = task.scores(Tagger([["O", "VERB"]]), examples, examples)
    assert "test_entity_f1" not in scores


def test_without_seqeval_the_rest_is_reported(options, monkeypatch, capsys):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    examples = Examples([["a", "b"]], [["O", "B-x"]])
    task = Tagging(options)
    task.learn(examples)
    scores = task.scores(Tagger([["O", "B-x"]]), examples, examples)
    assert scores["test_accuracy"] == 1
    assert "test_entity_f1" not in scores
    assert "pip install 'bert-keras-layers[tagging]'" in capsys.readouterr().err


def test_examples_to_learn_from_must_differ(options):
    for task, target in (
        (Classification, "x"),
        (Regression, 2.0),
        (Tagging, ["O", "O"]),
    ):
        with pytest.raises(ValueError, match=r"data\.tsv must have at least two diff"):
            task(options).learn(Examples(["a", "b"], [target, target]))

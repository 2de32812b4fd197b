"""Training: a table of texts -> a trained, tested and exported classifier."""

import collections
import pathlib
from dataclasses import dataclass

import keras
import numpy as np

from bert_keras_layers.cli.table_file import LabelledTexts, read_table
from bert_keras_layers.encoders.bert_encoder import BertEncoder
from bert_keras_layers.models.text_classifier import TextClassifier
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor
from bert_keras_layers.serving.export import check_export_folder, export_saved_model


@dataclass(frozen=True)
class TrainingOptions:
    """The options of `bert-keras train`, whose help describes them."""

    data: pathlib.Path
    encoder: str
    output: pathlib.Path
    test: pathlib.Path | None
    test_share: float
    text_column: str
    label_column: str
    layers: str
    pooling: str
    fine_tune: bool
    epochs: int
    batch_size: int
    learning_rate: float | None
    seed: int


def run_training(options: TrainingOptions) -> dict[str, str]:
    """Trains, tests and exports; returns the lines of the result table.

    Raises:
        ValueError: If the table or an option is wrong, with one sentence.
        FileNotFoundError: If a file or the encoder is not there.
    """
    keras.utils.set_random_seed(options.seed)
    check_export_folder(options.output)
    train, test = _read_tables(options)
    labels = sorted(set(train.labels))
    layers = parse_layers(options.layers)
    encoder = BertEncoder.from_pretrained(options.encoder)
    encoder.trainable = options.fine_tune
    model = TextClassifier(
        encoder,
        len(labels),
        BertPreprocessor.from_pretrained(options.encoder),
        layers=layers,
        pooling=options.pooling.split(","),
        labels=labels,
    )
    if options.learning_rate is not None:
        model.optimizer.learning_rate = options.learning_rate
    test_numbers = model.encode_targets(test.labels)
    model.fit(
        train.texts,
        train.labels,
        batch_size=options.batch_size,
        epochs=options.epochs,
    )
    _, accuracy = model.evaluate(test.texts, test_numbers, verbose=0)
    version = export_saved_model(model, options.output)

    ((majority, _),) = collections.Counter(train.labels).most_common(1)
    baseline = np.mean([label == majority for label in test.labels])
    return {
        "training texts": str(len(train.texts)),
        "test texts": str(len(test.texts)),
        "labels": ", ".join(labels),
        "test accuracy": f"{accuracy:.3f}",
        f"always {majority!r}": f"{baseline:.3f}",
        "SavedModel": str(version),
    }


def parse_layers(text: str) -> int | list[int] | None:
    """Returns the layers that a command line names.

    Example:
    >>> parse_layers("4"), parse_layers("0,-1"), parse_layers("0,")
    (4, [0, -1], [0])
    """
    if text == "all":
        return None
    try:
        numbers = [int(number) for number in text.strip(",").split(",")]
    except ValueError:
        raise ValueError(
            "Layers must be 'all', a number such as '4', or a list such as '0,-1'. "
            f"Received: {text!r}"
        ) from None
    # One number is how many; a negative one, or one with a comma, is an index.
    return numbers if "," in text or numbers[0] < 0 else numbers[0]


def _read_tables(options: TrainingOptions) -> tuple[LabelledTexts, LabelledTexts]:
    columns = options.text_column, options.label_column
    table = read_table(options.data, *columns)
    if len(set(table.labels)) < 2:
        raise ValueError(
            f"{options.data} must have at least two different labels. "
            f"Received: only {table.labels[0]!r}"
        )
    if options.test is not None:
        return table, read_table(options.test, *columns)
    return _split(table, options.test_share)


def _split(table: LabelledTexts, share: float) -> tuple[LabelledTexts, LabelledTexts]:
    """Returns texts to train and to test on, in the same mix of labels."""
    rows_of = collections.defaultdict(list)
    for i in np.random.permutation(len(table.texts)):
        rows_of[table.labels[i]].append(i)
    train: list[int] = []
    test: list[int] = []
    for rows in rows_of.values():
        cut = round(len(rows) * share)
        test += rows[:cut]
        train += rows[cut:]
    if not test or len({table.labels[i] for i in train}) < len(rows_of):
        raise ValueError(
            "The test share must leave texts of each label to train on, and some to "
            f"test on. Received: {share} of {len(table.texts)} texts"
        )
    first, second = (
        LabelledTexts([table.texts[i] for i in rows], [table.labels[i] for i in rows])
        for rows in (train, test)
    )
    return first, second

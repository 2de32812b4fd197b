"""Training run: labelled texts -> a trained, tested and exported model."""

import collections
import sys
from collections.abc import Hashable

import keras
import numpy as np

from bert_keras_layers.encoders.bert_encoder import BertEncoder
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor
from bert_keras_layers.serving.export import check_export_folder, export_saved_model
from bert_keras_layers_cli.choices import parse_layers
from bert_keras_layers_cli.data.model_file import write_model
from bert_keras_layers_cli.data.output_file import check_output
from bert_keras_layers_cli.runs.classification import Classification
from bert_keras_layers_cli.runs.regression import Regression
from bert_keras_layers_cli.runs.tagging import Tagging
from bert_keras_layers_cli.runs.training_task import (
    Examples,
    MakeTask,
    Results,
    TrainingOptions,
    TrainingTask,
)

_TASKS: dict[str, MakeTask] = {
    "classification": Classification,
    "regression": Regression,
    "tagging": Tagging,
}


def run_training(options: TrainingOptions) -> Results:
    """Trains, tests and exports; returns what to print.

    Raises:
        ValueError: If the data or an option is wrong, with one sentence.
        FileNotFoundError: If a file or the encoder is not there.
    """
    keras.utils.set_random_seed(options.seed)
    check_export_folder(options.output)
    if options.save is not None:
        check_output(options.save, ".keras")
    task = _TASKS[options.task](options)
    train, test = _read_examples(task, options)
    layers = parse_layers(options.layers)
    encoder = BertEncoder.from_pretrained(options.encoder)
    encoder.trainable = options.fine_tune
    preprocessor = BertPreprocessor.from_pretrained(options.encoder)
    model = task.build(encoder, preprocessor, layers)
    task.check(model, test)
    if options.learning_rate is not None:
        model.optimizer.learning_rate = options.learning_rate
    task.fit(
        model,
        train,
        batch_size=options.batch_size,
        epochs=options.epochs,
        verbose=1 if sys.stdout.isatty() else 2,  # A bar, or a line per epoch.
    )
    results = {
        "task": options.task,
        "training_examples": len(train.inputs),
        "test_examples": len(test.inputs),
        **task.scores(model, train, test),
    }
    if options.save is not None:
        write_model(model, options.save)
        results["keras_file"] = str(options.save)
    version = export_saved_model(model, options.output)
    return {**results, "saved_model": str(version)}


def _read_examples(
    task: TrainingTask, options: TrainingOptions
) -> tuple[Examples, Examples]:
    examples = task.read(options.data)
    task.learn(examples)
    if options.test is not None:
        return examples, task.read(options.test)
    return _split(task, examples, options.test_share)


def _split(
    task: TrainingTask, examples: Examples, share: float
) -> tuple[Examples, Examples]:
    """Returns examples to train and to test on, each group in the same share."""
    groups: dict[Hashable, list[int]] = collections.defaultdict(list)
    for row in np.random.permutation(len(examples.inputs)):
        groups[task.group(examples.targets[row])].append(int(row))
    train: list[int] = []
    test: list[int] = []
    for rows in groups.values():
        cut = round(len(rows) * share)
        test += rows[:cut]
        train += rows[cut:]
    left = {task.group(examples.targets[row]) for row in train}
    if not 0 <= share < 1 or not test or len(left) < len(groups):
        raise ValueError(
            "The test share must leave examples of each label to train on, and some "
            f"to test on. Received: {share} of {len(examples.inputs)} examples"
        )
    return examples.take(train), examples.take(test)

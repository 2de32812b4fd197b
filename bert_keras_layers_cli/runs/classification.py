"""Classification: a table of texts and labels -> a TextClassifier."""

import collections
import pathlib
from collections.abc import Hashable
from typing import Any

import numpy as np

from bert_keras_layers.models.text_classifier import TextClassifier
from bert_keras_layers_cli.data.table_file import read_columns
from bert_keras_layers_cli.runs.training_task import Examples, Results, TrainingTask


class Classification(TrainingTask):
    """One class per text: accuracy, beside that of the most frequent class."""

    def read(self, path: pathlib.Path) -> Examples:
        names = [self.options.text_column, self.options.label_column]
        return Examples(*read_columns(path, names))

    def learn(self, examples: Examples) -> None:
        self.labels = self.different(examples.targets, "labels")

    def build(self, encoder: Any, preprocessor: Any, layers: Any) -> TextClassifier:
        return TextClassifier(
            encoder,
            len(self.labels),
            preprocessor,
            layers=layers,
            pooling=(self.options.pooling or "mean").split(","),
            labels=self.labels,
        )

    def group(self, target: str) -> Hashable:
        return target

    def scores(self, model: Any, train: Examples, test: Examples) -> Results:
        _, accuracy = model.evaluate(test.inputs, test.targets, verbose=0)
        ((majority, _),) = collections.Counter(train.targets).most_common(1)
        return {
            "labels": self.labels,
            "test_accuracy": float(accuracy),
            "baseline": f"always {majority!r}",
            "baseline_accuracy": float(np.mean(np.array(test.targets) == majority)),
        }

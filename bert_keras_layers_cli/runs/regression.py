"""Regression: a table of texts and numbers -> a TextRegressor."""

import math
import pathlib
from typing import Any

import numpy as np

from bert_keras_layers.models.text_regressor import TextRegressor
from bert_keras_layers_cli.data.table_file import read_columns
from bert_keras_layers_cli.runs.training_task import Examples, Results, TrainingTask


class Regression(TrainingTask):
    """One number per text: mean absolute error, beside that of always the mean.

    It is trained on numbers of mean 0 and deviation 1, whatever their unit; the head
    then takes up the unit, so that the model answers in it.
    """

    def read(self, path: pathlib.Path) -> Examples:
        names = [self.options.text_column, self.options.label_column]
        texts, cells = read_columns(path, names)
        return Examples(texts, [_number(cell, path) for cell in cells])

    def learn(self, examples: Examples) -> None:
        self.different(examples.targets, "numbers")
        self.mean = float(np.mean(examples.targets))
        self.deviation = float(np.std(examples.targets))

    def build(self, encoder: Any, preprocessor: Any, layers: Any) -> TextRegressor:
        return TextRegressor(
            encoder,
            preprocessor,
            layers=layers,
            pooling=(self.options.pooling or "mean").split(","),
        )

    def fit(self, model: Any, train: Examples, **options: Any) -> None:
        targets = (np.array(train.targets) - self.mean) / self.deviation
        super().fit(model, Examples(train.inputs, targets.tolist()), **options)
        dense = model.head.denses[-1]
        kernel, bias = dense.get_weights()
        scaled = [kernel * self.deviation, bias * self.deviation + self.mean]
        dense.set_weights(scaled)

    def scores(self, model: Any, train: Examples, test: Examples) -> Results:
        predicted = model.predict(test.inputs, verbose=0)[:, 0]
        targets = np.array(test.targets)
        mean = float(np.mean(train.targets))
        return {
            "test_mean_absolute_error": float(np.abs(predicted - targets).mean()),
            "baseline": f"always the mean, {mean:.3f}",
            "baseline_mean_absolute_error": float(np.abs(mean - targets).mean()),
        }


def _number(cell: str, path: pathlib.Path) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"{path} must have a number in each row. Received: {cell!r}")
    return number

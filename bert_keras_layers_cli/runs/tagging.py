"""Tagging: a file of words and tags -> a TokenClassifier."""

import collections
import importlib.util
import itertools
import pathlib
import re
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from bert_keras_layers.models.entity_scores import entity_scores
from bert_keras_layers.models.token_classifier import TokenClassifier
from bert_keras_layers_cli.data.tagged_file import read_tagged
from bert_keras_layers_cli.runs.training_task import Examples, Results, TrainingTask

_ENTITY_TAG = re.compile(r"O|[BIES]-.+")


class Tagging(TrainingTask):
    """One tag per word: accuracy, beside that of the most frequent tag; entity F1."""

    def read(self, path: pathlib.Path) -> Examples:
        columns = self.options.token_column, self.options.tag_column
        return Examples(*read_tagged(path, *columns))

    def learn(self, examples: Examples) -> None:
        self.labels = self.different(_flat(examples.targets), "tags")

    def build(self, encoder: Any, preprocessor: Any, layers: Any) -> TokenClassifier:
        return TokenClassifier(
            encoder,
            len(self.labels),
            preprocessor,
            layers=layers,
            word_pooling=self.options.pooling or "first",
            labels=self.labels,
        )

    def check(self, model: Any, test: Examples) -> None:
        """Takes any tags: those that DATA lacks count as wrong."""

    def scores(self, model: Any, train: Examples, test: Examples) -> Results:
        # Words that were cut off count as wrong.
        predicted = model.predict_tags(test.inputs)
        right, given = np.array(_flat(test.targets)), np.array(_flat(predicted), object)
        ((majority, _),) = collections.Counter(_flat(train.targets)).most_common(1)
        results: Results = {
            "tags": self.labels,
            "test_words": len(right),
            "test_accuracy": float(np.mean(right == given)),
            "baseline": f"always {majority!r}",
            "baseline_accuracy": float(np.mean(right == majority)),
        }
        tags = {*self.labels, *right}
        if not tags - {"O"} or not all(map(_ENTITY_TAG.fullmatch, tags)):
            return results
        if importlib.util.find_spec("seqeval") is None:
            message = (
                "Entity F1 needs seqeval: pip install 'bert-keras-layers[tagging]'"
            )
            print(message, file=sys.stderr)
            return results
        f1 = entity_scores(test.targets, predicted)["f1"]
        return {**results, "test_entity_f1": f1}


def _flat(rows: Iterable[Iterable[Any]]) -> list[Any]:
    return list(itertools.chain.from_iterable(rows))

"""Labelled model: a text model whose outputs are probabilities of named classes."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Self

import keras
import numpy as np

from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.heads.dense_head import DenseHead
from bert_keras_layers.models.text_model import TextModel
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor


class LabelledModel(TextModel):
    """Base of classifiers: names of classes, config, and how they are trained.

    A subclass builds the functional model and then calls `_assemble`.
    """

    head: DenseHead
    labels: list[str] | None
    _arguments: dict[str, Any]
    _labelled = "text"

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return self.head.units

    def get_config(self) -> dict[str, Any]:
        serialize = keras.saving.serialize_keras_object
        return {
            "name": self.name,
            "trainable": self.trainable,
            "encoder": serialize(self.encoder),
            "num_classes": self.num_classes,
            "preprocessor": serialize(self.preprocessor),
            "labels": self.labels and list(self.labels),
            **self._arguments,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Self:
        config = dict(config)
        for part in ("encoder", "preprocessor"):
            config[part] = keras.saving.deserialize_keras_object(
                config[part], custom_objects=custom_objects
            )
        return cls(**config)

    def _numbers_of(self, names: Sequence[str], learn: bool) -> np.ndarray:
        if self.labels is None and learn:
            self._set_labels(sorted(set(names)))
        if self.labels is None:
            raise ValueError(
                "Class names need a model with `labels`: give them to the constructor, "
                f"or train on names first. Received: {sorted(set(names))}"
            )
        numbers = {label: number for number, label in enumerate(self.labels)}
        unknown = sorted(set(names) - set(numbers))
        if unknown:
            raise ValueError(
                f"Class names must be among {list(self.labels)}. Received: {unknown}"
            )
        return np.array([numbers[name] for name in names], "int32")

    def _set_labels(self, labels: Sequence[str]) -> None:
        strings = not isinstance(labels, str) and all(
            isinstance(label, str) for label in labels
        )
        if not strings or not len(set(labels)) == len(labels) == self.num_classes:
            raise ValueError(
                f"`labels` must be {self.num_classes} different class names, one per "
                f"class. Received: {labels!r}"
            )
        self.labels = list(labels)

    def _assemble(
        self,
        encoder: Encoder,
        preprocessor: BertPreprocessor | None,
        head: DenseHead,
        labels: Sequence[str] | None,
        arguments: dict[str, Any],
    ) -> None:
        """Keeps the parts and compiles.

        Args:
            encoder: Cut above the highest layer in use.
            preprocessor: Fitted to the encoder.
            head: With an output per class.
            labels: Names of the classes, if known.
            arguments: The other arguments of the constructor, for the config.
        """
        self.encoder = encoder
        self.preprocessor = preprocessor
        self.head = head
        self.labels = None
        self._arguments = arguments
        if labels is not None:
            self._set_labels(labels)
        self.compile(
            keras.optimizers.AdamW(5e-5 if encoder.trainable else 1e-3),
            loss="sparse_categorical_crossentropy",
            metrics=["accuracy"],
        )

    def _checked_numbers(self, classes: np.ndarray) -> np.ndarray:
        if classes.ndim != 1 or classes.dtype.kind not in "iub":
            raise ValueError(
                f"`y` must be one class number or name per {self._labelled}. Received: "
                f"an array of shape {classes.shape} and dtype {classes.dtype}"
            )
        wrong = classes[(classes < 0) | (classes >= self.num_classes)]
        if wrong.size:
            raise ValueError(
                f"Class numbers must be 0 to {self.num_classes - 1}. "
                f"Received: {wrong[0]}"
            )
        return classes.astype("int32")


def check_num_classes(num_classes: Any) -> None:
    """Raises a `ValueError` unless it is an integer of at least 2."""
    if not isinstance(num_classes, Integral) or num_classes < 2:
        raise ValueError(
            "`num_classes` must be an integer, at least 2. "
            f"Received: num_classes={num_classes}"
        )

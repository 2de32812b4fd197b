"""Class labels: the names of the classes of a model."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np


def check_num_classes(num_classes: Any, least: int = 2) -> None:
    """Raises a `ValueError` unless it is an integer, at least `least`."""
    if not isinstance(num_classes, Integral) or num_classes < least:
        raise ValueError(
            f"`num_classes` must be an integer, at least {least}. "
            f"Received: num_classes={num_classes}"
        )


class ClassLabels:
    """The part of a model that knows names of classes; it needs a `head`."""

    head: Any
    labels: list[str] | None

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return int(self.head.units)

    def numbers_of(self, names: Sequence[str], learn: bool) -> np.ndarray:
        """Returns class numbers int32 `(names,)`.

        Args:
            names: Of classes.
            learn: Whether to take them as `labels`, sorted, if there are none.

        Raises:
            ValueError: If a name is unknown.
        """
        if self.labels is None and learn:
            self.set_labels(sorted(set(names)))
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

    def encode_class_weight(self, weight: dict[Any, float]) -> dict[int, float]:
        """Returns weights by class number, for weights by number or name."""
        if not all(isinstance(name, str) for name in weight):
            return weight
        numbers = self.numbers_of(list(weight), learn=False).tolist()
        return dict(zip(numbers, weight.values(), strict=True))

    def set_labels(self, labels: Sequence[str] | None) -> None:
        """Sets the names of the classes, or that there are none yet.

        Raises:
            ValueError: If they are not one different name per class.
        """
        if labels is None:
            self.labels = None
            return
        strings = not isinstance(labels, str) and all(
            isinstance(label, str) for label in labels
        )
        if not strings or not len(set(labels)) == len(labels) == self.num_classes:
            raise ValueError(
                f"`labels` must be {self.num_classes} different class names, one per "
                f"class. Received: {labels!r}"
            )
        self.labels = list(labels)

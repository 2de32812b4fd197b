"""Class numbers: targets that are numbers, one per text -> checked numbers."""

from typing import Any

import numpy as np


def class_numbers(targets: Any, num_classes: int, per: str = "text") -> np.ndarray:
    """Returns class numbers int32 `(texts,)`; one-hot arrays as they are.

    Args:
        targets: A number per text, or an array `(texts, num_classes)`.
        num_classes: Number of classes.
        per: What has one, for error messages.

    Raises:
        ValueError: If it is something else, or a number is out of range.

    Example:
    >>> class_numbers([1, 0, 1], 2)
    array([1, 0, 1], dtype=int32)
    """
    classes = np.asarray(targets)
    if classes.dtype.kind == "O":
        classes = np.asarray(classes.tolist())
    if classes.ndim == 2 and classes.shape[1] == 1:
        classes = classes[:, 0]
    one_hot = classes.shape[1:] == (num_classes,)
    if one_hot and classes.dtype.kind in "iufb":
        return classes
    if classes.ndim != 1 or classes.dtype.kind not in "iub":
        raise ValueError(
            f"`y` must be one class number or name per {per}. Received: "
            f"an array of shape {classes.shape} and dtype {classes.dtype}"
        )
    wrong = classes[(classes < 0) | (classes >= num_classes)]
    if wrong.size:
        raise ValueError(
            f"Class numbers must be 0 to {num_classes - 1}. Received: {wrong[0]}"
        )
    return classes.astype("int32")

"""Label sets: any number of labels per text -> lists of names, or zeros and ones."""

from typing import Any

import numpy as np


def label_sets(targets: Any) -> list[list[str]] | None:
    """Returns the names of each text's labels, or None if there is no text in them.

    Args:
        targets: A sequence with one list, tuple, set or array of names per text,
            empty for a text without labels; bytes are UTF-8.

    Raises:
        ValueError: If only some of it are lists of names.

    Example:
    >>> label_sets([["late", "broken"], [], ("late",)])
    [['late', 'broken'], [], ['late']]
    """
    if hasattr(targets, "numpy"):
        targets = targets.numpy()
    kind = getattr(getattr(targets, "dtype", None), "kind", "O")
    if targets is None or kind in "iufb":
        return None
    rows = targets.tolist() if hasattr(targets, "tolist") else list(targets)
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    if not any(_has_text(row) for row in rows) and not all(row == [] for row in rows):
        return None
    for index, row in enumerate(rows):
        if not isinstance(row, list | tuple | set | frozenset) or not all(
            isinstance(name, str | bytes) for name in row
        ):
            raise ValueError(
                "Labels must be a list of names per text, an empty one for none. "
                f"Received: {row!r} at index {index}"
            )
    return [
        [name.decode() if isinstance(name, bytes) else name for name in row]
        for row in rows
    ]


def label_rows(targets: Any, num_classes: int) -> np.ndarray:
    """Returns zeros and ones float32 `(texts, num_classes)`, checked.

    Args:
        targets: An array, or a sequence of one row per text.
        num_classes: Number of labels.

    Raises:
        ValueError: If there are other numbers, or it has another shape.

    Example:
    >>> label_rows([[1, 0], [1, 1]], 2)
    array([[1., 0.],
           [1., 1.]], dtype=float32)
    """
    try:
        rows = np.asarray(targets, "float32")
    except (TypeError, ValueError):
        rows = None
    if rows is None or rows.ndim != 2 or rows.shape[1] != num_classes:
        received = "something else" if rows is None else f"shape {rows.shape}"
        raise ValueError(
            "`y` must be a list of names per text, or zeros and ones of the shape "
            f"(texts, {num_classes}). Received: {received}"
        )
    wrong = rows[(rows != 0) & (rows != 1)]
    if wrong.size:
        raise ValueError(f"Labels must be marked by 0 or 1. Received: {wrong[0]}")
    return rows


def _has_text(row: Any) -> bool:
    if isinstance(row, str | bytes):
        return True
    return hasattr(row, "__iter__") and any(isinstance(x, str | bytes) for x in row)

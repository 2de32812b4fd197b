"""Class names: targets that are text -> a list of names."""

from typing import Any


def class_names(targets: Any) -> list[str] | None:
    """Returns the names in a sequence of targets, or None if there is no text in it.

    Args:
        targets: A list, array, Series or string tensor; bytes are UTF-8.

    Raises:
        ValueError: If only some of the targets are text, such as when one is missing.

    Example:
    >>> class_names([b"yes", "no"]), class_names([1, 0])
    (['yes', 'no'], None)
    """
    if hasattr(targets, "numpy"):
        targets = targets.numpy()
    if targets is None or getattr(targets, "ndim", 1) != 1:
        return None
    names = targets.tolist() if hasattr(targets, "tolist") else list(targets)
    if not any(isinstance(name, str | bytes) for name in names):
        return None
    for index, name in enumerate(names):
        if not isinstance(name, str | bytes):
            raise ValueError(
                "Class names must all be strings. "
                f"Received: {name!r} at index {index}, a {type(name).__name__}"
            )
    return [name.decode() if isinstance(name, bytes) else name for name in names]

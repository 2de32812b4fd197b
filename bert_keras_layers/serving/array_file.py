"""Array files: arrays by name -> a .npz file without pickle, and back."""

import os
from typing import Any

import numpy as np

# NumPy's strings end before trailing NULs; with a byte more there are none.
_END = b"."


def write_arrays(path: str | os.PathLike[str], arrays: dict[str, np.ndarray]) -> None:
    r"""Writes arrays of numbers, and object arrays of bytes or text, which is UTF-8.

    Raises:
        ValueError: If an array holds something else.

    Example:
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> from bert_keras_layers.serving.array_file import read_arrays, write_arrays
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "arrays.npz")
    ...     write_arrays(file, {"texts": np.array(["Ça", b"a\0"], object)})
    ...     read_arrays(file)["texts"].tolist()
    [b'\xc3\x87a', b'a\x00']
    """
    with open(path, "wb") as file:
        plain: dict[str, Any] = {key: _plain(array) for key, array in arrays.items()}
        np.savez(file, **plain)


def read_arrays(path: str | os.PathLike[str]) -> dict[str, np.ndarray]:
    """Returns the arrays of a file that `write_arrays` wrote; texts as bytes."""
    with np.load(path, allow_pickle=False) as file:
        return {name: _restored(file[name]) for name in file.files}


def _plain(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind in "biuf":
        return array
    if array.dtype != object:
        raise ValueError(
            "An array must hold numbers, or be an object array of texts. "
            f"Received: dtype {array.dtype}"
        )
    values = [text.encode() if isinstance(text, str) else text for text in array.flat]
    return np.array([value + _END for value in values], "S").reshape(array.shape)


def _restored(array: np.ndarray) -> np.ndarray:
    if array.dtype.kind != "S":
        return array
    values = [value[: -len(_END)] for value in array.flat]
    return np.array(values, object).reshape(array.shape)

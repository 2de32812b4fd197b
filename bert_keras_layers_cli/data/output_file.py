"""Output files: checked before there is anything to write."""

import os
import pathlib


def check_output(path: pathlib.Path, ending: str) -> None:
    """Checks that a file can be written.

    Raises:
        ValueError: If it has another ending, or its folder cannot be written.
    """
    if path.suffix != ending or path.is_dir():
        raise ValueError(f"The file must end in {ending}. Received: {path}")
    nearest = next(folder for folder in path.absolute().parents if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise ValueError(f"A file needs a folder that can be written. Received: {path}")

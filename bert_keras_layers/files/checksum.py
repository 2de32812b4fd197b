"""Checksums: a file -> proof that it is the expected one."""

import hashlib
import os


def check_sha256(path: str | os.PathLike[str], expected: str) -> None:
    """Checks that a file has the expected SHA-256 hash.

    The file is read in pieces, so its size does not matter.

    Args:
        path: The file; `~` is expanded.
        expected: The hash as 64 hexadecimal digits.

    Raises:
        ValueError: If the hash is another one; the file, the expected and the
            received hash are named.
        FileNotFoundError: If there is no such file.

    Example:
    >>> import pathlib, tempfile
    >>> from bert_keras_layers.files.checksum import check_sha256
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "empty")
    ...     path.touch()
    ...     check_sha256(path, "e3b0c44298fc1c149afbf4c8996fb924"
    ...                        "27ae41e4649b934ca495991b7852b855")
    """
    with open(os.path.expanduser(path), "rb") as file:
        received = hashlib.file_digest(file, "sha256").hexdigest()
    if received != expected.strip().lower():
        raise ValueError(
            f"The SHA-256 of {os.fspath(path)} must be {expected}. Received: {received}"
        )

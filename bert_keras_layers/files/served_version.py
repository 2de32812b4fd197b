"""Served versions: a folder of versions, or one of them -> the one that is served."""

import os
import pathlib

from bert_keras_layers.files.published_folder import newest_version


def served_version(folder: str | os.PathLike[str]) -> pathlib.Path:
    """Returns the SavedModel that a server would take: of versions the newest.

    Args:
        folder: A SavedModel, or a folder with versions such as `1`; `~` is expanded.

    Raises:
        FileNotFoundError: If there is no SavedModel in `folder`.

    Example:
    >>> import pathlib, tempfile
    >>> from bert_keras_layers.files.served_version import served_version
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for version in ("9", "10"):
    ...         pathlib.Path(folder, version).mkdir()
    ...         pathlib.Path(folder, version, "saved_model.pb").touch()
    ...     served_version(folder).name
    '10'
    """
    path = pathlib.Path(folder).expanduser()
    version = path if _is_saved_model(path) else newest_version(path)
    if version is None or not _is_saved_model(version):
        raise FileNotFoundError(
            f"There must be a SavedModel in {path}, or in a version such as "
            f"{path / '1'}. Received: {path}"
        )
    return version


def _is_saved_model(path: pathlib.Path) -> bool:
    return (path / "saved_model.pb").is_file()

"""Pretrained folders: a folder or a Hugging Face hub id -> a folder on this disk."""

import os
import pathlib
import re
from collections.abc import Sequence

# What the hub accepts as an id: "name" or "owner/name".
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9_][\w.-]*)?", re.ASCII)


def pretrained_folder(
    source: str | os.PathLike[str],
    patterns: Sequence[str],
    revision: str | None = None,
) -> pathlib.Path:
    """Returns the folder of a checkpoint, fetching it from the hub if it must.

    An existing folder is returned as it is. Anything else is fetched from the
    Hugging Face hub, unless it looks like a path.

    Args:
        source: A folder, or a hub id such as `"bert-base-uncased"` or
            `"google-bert/bert-base-uncased"`. `~` is expanded.
        patterns: Names of the files to fetch from the hub, such as
            `["vocab.txt", "*.safetensors"]`.
        revision: Branch, tag or commit on the hub; `None` is the main branch.

    Returns:
        The folder, as a `pathlib.Path`.

    Raises:
        FileNotFoundError: If `source` is a path with no folder there, or the
            hub (or its local cache, when offline) has no such id.
        ValueError: If `source` can be neither a folder nor a hub id.

    Example:
    >>> import pathlib, tempfile
    >>> from bert_keras_layers.files.pretrained_folder import pretrained_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pretrained_folder(folder, ["vocab.txt"]) == pathlib.Path(folder)
    True
    """
    name = os.fspath(source)
    folder = pathlib.Path(name).expanduser()
    if name and folder.is_dir():
        return folder
    if folder.is_file():
        raise ValueError(
            f"`source` must be a folder or a hub id, not a file. Received: {name!r}"
        )
    if isinstance(source, os.PathLike) or _looks_like_path(name):
        raise FileNotFoundError(
            f"`source` must be an existing folder or a hub id. Received: {name!r}, "
            "which looks like a path, and there is no folder"
        )
    if not _HUB_ID.fullmatch(name):
        raise ValueError(
            "`source` must be an existing folder or a hub id such as "
            f"'bert-base-uncased'. Received: {name!r}"
        )
    return _fetched(name, patterns, revision)


def _looks_like_path(name: str) -> bool:
    return name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name


def _fetched(name: str, patterns: Sequence[str], revision: str | None) -> pathlib.Path:
    import huggingface_hub
    from huggingface_hub.errors import (
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    try:
        folder = huggingface_hub.snapshot_download(
            name, revision=revision, allow_patterns=list(patterns)
        )
    except (
        HFValidationError,
        LocalEntryNotFoundError,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    ) as error:
        raise FileNotFoundError(
            "`source` must be an existing folder or a hub id that can be reached. "
            f"Received: {name!r}, revision={revision!r} "
            f"({type(error).__name__})"
        ) from error
    return pathlib.Path(folder)

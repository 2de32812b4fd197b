"""Hub folders: a folder, URL or Kaggle handle -> a SavedModel folder on this disk."""

import importlib
import os
import pathlib
import re
from typing import Any

# "owner/model/TensorFlow2/variation[/version]", alone or as either form of Kaggle URL.
# Kaggle keeps SavedModels under that framework; without it this could be any path.
_KAGGLE_URL = r"https?://(www\.)?kaggle\.com/models/"
_NAME = r"[a-z0-9][\w.-]*"
_KAGGLE = re.compile(
    rf"({_KAGGLE_URL})?(?P<owner>{_NAME})/(?P<model>{_NAME})/(frameworks/)?"
    rf"(?P<framework>tensorflow2)/(variations/)?(?P<variation>{_NAME})"
    r"(/(versions/)?(?P<version>\d+))?/?([?#].*)?",
    re.ASCII | re.IGNORECASE,
)


def hub_folder(source: str | os.PathLike[str]) -> pathlib.Path:
    """Returns the folder of a SavedModel, fetching it if it must.

    An existing folder is returned as it is. A URL is fetched by tensorflow_hub, a
    Kaggle handle or URL by kagglehub; both keep what they fetched in their caches
    (`TFHUB_CACHE_DIR`, `KAGGLEHUB_CACHE`), whole or not at all.

    Args:
        source: One of
            - a folder with a `saved_model.pb`; `~` is expanded;
            - a URL that tensorflow_hub resolves, such as
              `"https://tfhub.dev/tensorflow/bert_en_uncased_L-12_H-768_A-12/4"`, or
              an archive at `http://`, `https://` or `gs://`;
            - a Kaggle handle `"owner/model/TensorFlow2/variation"`, a version after
              it or not, or the URL of its page. Without a version Kaggle is asked
              for the newest one at each call.

    Returns:
        The folder, as a `pathlib.Path`.

    Raises:
        FileNotFoundError: If there is no such folder, no `saved_model.pb` in it, or
            the source cannot be fetched.
        ValueError: If a Kaggle URL names no TensorFlow2 model, or a URL leads to a
            folder in a bucket.
        ImportError: If the source must be fetched and the packages of the extra
            `hub` are not installed.

    Example:
    >>> import pathlib, tempfile
    >>> from bert_keras_layers.files.hub_folder import hub_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pathlib.Path(folder, "saved_model.pb").touch()
    ...     hub_folder(folder) == pathlib.Path(folder)
    True
    """
    name = os.fspath(source)
    folder = pathlib.Path(name).expanduser()
    if not isinstance(source, os.PathLike) and not folder.is_dir():
        folder = _fetched(name) or folder
    if not name or not folder.is_dir():
        raise FileNotFoundError(
            "`source` must be a SavedModel folder, a URL, or a Kaggle handle "
            f"'owner/model/TensorFlow2/variation'. Received: {name!r}, and there is "
            "no such folder"
        )
    if not (folder / "saved_model.pb").is_file():
        raise FileNotFoundError(
            f"A SavedModel folder must have a saved_model.pb. Received: {folder}"
        )
    return folder


def _fetched(name: str) -> pathlib.Path | None:
    if kaggle := _KAGGLE.fullmatch(name):
        parts = ("owner", "model", "framework", "variation", "version")
        handle = "/".join(kaggle[part] for part in parts if kaggle[part])
        return _path_from(_package("kagglehub", name).model_download, handle, name)
    if re.match(_KAGGLE_URL, name, re.IGNORECASE):
        raise ValueError(
            "A Kaggle URL must name a TensorFlow2 model, as in https://www.kaggle.com/"
            f"models/owner/model/TensorFlow2/variation/1. Received: {name!r}"
        )
    if name.startswith(("http://", "https://", "gs://")):
        return _path_from(_package("tensorflow_hub", name).resolve, name, name)
    return None


def _package(package: str, name: str) -> Any:
    try:
        return importlib.import_module(package)
    except ImportError as error:  # tensorflow_hub needs pkg_resources of setuptools.
        raise ImportError(
            f"{package}, and setuptools below 82, must be installed: "
            f'pip install "bert-keras-layers[hub]". Received: {name!r} ({error})'
        ) from error


def _path_from(fetch: Any, handle: str, name: str) -> pathlib.Path:
    try:
        path = fetch(handle)
    except Exception as error:  # Each library has its own errors, without a base.
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise FileNotFoundError(
            "`source` must be a SavedModel that can be fetched. "
            f"Received: {name!r} ({reason})"
        ) from error
    if "://" in path:
        raise ValueError(
            "A SavedModel in a bucket must be a .tar.gz archive, or be copied to this "
            f"disk first. Received: {name!r}"
        )
    return pathlib.Path(path)

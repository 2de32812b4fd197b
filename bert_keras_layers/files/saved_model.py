"""SavedModels: a folder, URL or Kaggle handle -> the loaded object, undamaged."""

import contextlib
import os
import pathlib
from collections.abc import Iterator
from typing import Any

from bert_keras_layers.files.checksum import check_sha256
from bert_keras_layers.files.hub_folder import hub_folder

_WEIGHTS = "variables/variables.data-00000-of-00001"


def load_saved_model(source: str | os.PathLike[str], sha256: str | None = None) -> Any:
    """Returns a SavedModel as the live object that TensorFlow makes of it.

    Args:
        source: What `hub_folder` takes: a folder, a URL or a Kaggle handle.
        sha256: Expected digest of `variables/variables.data-00000-of-00001`, in
            hex, checked before the model is loaded.

    Raises:
        FileNotFoundError: If there is no SavedModel, or it cannot be fetched.
        ValueError: If the digest differs or a file is damaged; the folder is named.
        ImportError: If TensorFlow, or what fetches the source, is not installed.
    """
    folder = hub_folder(source)
    if sha256 is not None:
        check_sha256(folder / _WEIGHTS, sha256)
    import tensorflow as tf

    with damage_named(folder):
        return tf.saved_model.load(str(folder))


@contextlib.contextmanager
def damage_named(folder: pathlib.Path) -> Iterator[None]:
    """Turns what TensorFlow raises on the files of a SavedModel into one sentence.

    Args:
        folder: The SavedModel that is read inside.

    Raises:
        ValueError: In place of any error but an `ImportError` or a `MemoryError`.
    """
    try:
        yield
    except (ImportError, MemoryError):
        raise
    except Exception as error:  # A changed byte can raise nearly anything.
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(
            f"The SavedModel in {folder} must be whole and made of operations that "
            f"are installed. Received: {reason[:300]}"
        ) from error

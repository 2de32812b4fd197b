"""Model files: a .keras file -> a text model of this library, and back."""

import pathlib
import warnings
import zipfile

import keras

from bert_keras_layers.files.published_file import published_file
from bert_keras_layers.models.text_model import TextModel


def read_model(path: pathlib.Path) -> TextModel:
    """Returns the model in a file, loaded under safe mode: no code of the file runs.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it holds no text model of this library.
    """
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}")
    if not zipfile.is_zipfile(path):
        raise ValueError(f"A model must be a .keras file. Received: {path}")
    try:
        with warnings.catch_warnings():
            # Of the optimizer, which an export does not need.
            warnings.simplefilter("ignore")
            model = keras.saving.load_model(path, compile=False, safe_mode=True)
    # A file that is damaged, or of other layers, fails with errors of many types.
    except Exception as error:
        raise ValueError(f"{path} could not be loaded: {error}") from error
    if not isinstance(model, TextModel):
        raise ValueError(
            f"{path} must hold a text model of bert_keras_layers. "
            f"Received: {type(model).__name__}"
        )
    return model


def write_model(model: TextModel, path: pathlib.Path) -> None:
    """Writes a model, whole or not at all."""
    with published_file(path) as draft:
        model.save(draft)

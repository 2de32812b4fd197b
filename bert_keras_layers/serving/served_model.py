"""Served model: the newest version of a SavedModel, called from Python."""

import os
from collections.abc import Sequence

import numpy as np

from bert_keras_layers.files.served_version import served_version


class ServedModel:
    """A SavedModel of this library, loaded as a server would load it.

    Needs TensorFlow and tensorflow-text, but neither Keras nor the code that made
    the model.

    Args:
        folder: What `export_saved_model` was given, or one version in it.

    Raises:
        FileNotFoundError: If there is no SavedModel in `folder`.
        ValueError: If it is damaged, or takes no texts.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.version = served_version(folder)
        import tensorflow as tf
        import tensorflow_text  # Registers the operations of the tokeniser.

        del tensorflow_text
        try:
            # Kept whole, as it owns the variables.
            self._model = tf.saved_model.load(str(self.version))
        except (tf.errors.OpError, OSError) as error:
            reason, *_ = str(error).splitlines()
            raise ValueError(
                f"The SavedModel in {self.version} is not whole: {reason}"
            ) from error
        self._constant = tf.constant
        signature = self._model.signatures.get("serving_default")
        inputs = signature.structured_input_signature[1] if signature else {}
        if [spec.dtype for spec in inputs.values()] != [tf.string]:
            raise ValueError(
                "The SavedModel must have a signature 'serving_default' that takes "
                f"texts. Received: {self.version}"
            )

    def __call__(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Returns each output of `serving_default` for texts, as an array."""
        if isinstance(texts, str):
            raise ValueError(
                f"Texts must come as a list, even a single one. Received: {texts!r}"
            )
        serve = self._model.signatures["serving_default"]
        outputs = serve(
            self._constant(list(texts), shape=(len(texts),), dtype="string")
        )
        return {name: output.numpy() for name, output in outputs.items()}

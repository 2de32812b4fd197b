"""LiteRT file: a function on ids of one length -> a file, and what that answers."""

import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]


def write_litert(function: Any, file: pathlib.Path) -> None:
    """Writes a `tf.function` in operations that LiteRT has by itself.

    Args:
        function: With an input signature, of named outputs.
        file: Where to.
    """
    import tensorflow as tf

    module = tf.Module()
    signature = function.get_concrete_function()
    module.weights = signature.variables
    with tempfile.TemporaryDirectory() as folder:
        # Names of inputs and outputs come through a SavedModel only.
        tf.saved_model.save(module, folder, signatures=signature)
        converter = tf.lite.TFLiteConverter.from_saved_model(folder)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS]
        file.write_bytes(converter.convert())


def read_litert(file: pathlib.Path) -> Callable[[Arrays], Arrays]:
    """Returns a function from arrays to arrays, by name, that LiteRT computes."""
    from ai_edge_litert.interpreter import Interpreter

    # From bytes: a file that is mapped could not be moved on every system.
    runner = Interpreter(model_content=file.read_bytes()).get_signature_runner()
    return lambda arrays: runner(**arrays)

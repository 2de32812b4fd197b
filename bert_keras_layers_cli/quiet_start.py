"""Quiet start: Keras and its backend loaded without their messages."""

import importlib
import os
import sys


def load_library() -> None:
    """Imports the library; quietly, if TensorFlow is to be quiet.

    TensorFlow obeys `TF_CPP_MIN_LOG_LEVEL` only once it is loaded: what its libraries
    say before can be kept from the terminal by the file descriptor alone.
    """
    if os.environ.get("TF_CPP_MIN_LOG_LEVEL") != "3" or "keras" in sys.modules:
        importlib.import_module("bert_keras_layers")
        return
    sys.stderr.flush()
    stderr = os.dup(2)
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        importlib.import_module("bert_keras_layers")
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)

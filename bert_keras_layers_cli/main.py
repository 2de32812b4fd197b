"""Entry point of `bert-keras`: says what to install, and keeps TensorFlow quiet."""

import importlib.util
import os
import sys


def main() -> None:
    """Runs the command line, or says what must be installed for it."""
    missing = [name for name in ("typer", "rich") if not importlib.util.find_spec(name)]
    if missing:
        sys.exit(
            f"Error: bert-keras needs {' and '.join(missing)}: "
            "pip install 'bert-keras-layers[cli]'"
        )
    # Read when TensorFlow is loaded; 2 would let through what it says of missing GPUs.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    from bert_keras_layers_cli.app import app

    app()

"""Command line: `bert-keras`."""

import importlib.util
import sys


def main() -> None:
    """Runs the command line, or says what must be installed for it."""
    missing = [name for name in ("typer", "rich") if not importlib.util.find_spec(name)]
    if missing:
        sys.exit(
            f"bert-keras needs {' and '.join(missing)}: "
            "pip install 'bert-keras-layers[cli]'"
        )
    from bert_keras_layers.cli.app import app

    app()

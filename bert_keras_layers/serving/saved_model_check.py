"""Runs a SavedModel in a process of its own, as a server would: a script.

    python saved_model_check.py SAVED_MODEL EXPECTED.json

Prints nothing if the outputs of `serving_default` are those expected; else ends
with one sentence and exit code 1. Imports neither Keras nor this package.
"""

import importlib.util
import json
import pathlib
import sys


def load_text_ops() -> None:
    """Registers the operations of tensorflow-text, without its Python layers."""
    import tensorflow as tf

    package = importlib.util.find_spec("tensorflow_text")
    if package is None or package.origin is None:
        raise ImportError("tensorflow-text must be installed.")
    for library in pathlib.Path(package.origin).parent.glob("python/ops/_*.so"):
        tf.load_op_library(str(library))


def largest_difference(
    saved_model: str, texts: list[str], output: str, expected: list[list[float]]
) -> float:
    """Returns how far the numbers of a served output are from the expected ones."""
    import numpy as np
    import tensorflow as tf

    served = tf.saved_model.load(saved_model)  # Keep: it owns the variables.
    outputs = served.signatures["serving_default"](tf.constant(texts))
    return float(np.max(np.abs(outputs[output].numpy() - expected)))


def main(saved_model: str, expected_file: str) -> None:
    """Compares, and exits with a sentence if there is a difference."""
    case = json.loads(pathlib.Path(expected_file).read_text(encoding="utf-8"))
    load_text_ops()
    difference = largest_difference(
        saved_model, case["texts"], case["output"], case["expected"]
    )
    # Written so that a NaN fails too.
    if not difference <= case["tolerance"]:
        sys.exit(
            f"The reloaded {case['output']} must be those of the live model within "
            f"{case['tolerance']}. Received: a difference of {difference}"
        )


if __name__ == "__main__":
    # `import tensorflow` would import Keras: make that fail, as if there were none.
    for name in ("keras", "tf_keras"):
        sys.modules[name] = None  # type: ignore[assignment]
    main(*sys.argv[1:])

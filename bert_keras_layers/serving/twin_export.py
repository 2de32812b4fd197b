"""Twin export: a model of another backend, exported by its twin on TensorFlow."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

import keras
import numpy as np


def export_twin(
    model: Any, folder: pathlib.Path, options: dict[str, Any]
) -> pathlib.Path:
    """Exports a model from a process that runs Keras on TensorFlow.

    The model gets there as a `.keras` file; the twin must compute the same.

    Args:
        model: A text model.
        folder: As in `export_saved_model`.
        options: Its other arguments, which can be written as JSON.

    Returns:
        The folder of the new version.

    Raises:
        RuntimeError: If that process fails, with its reason.
    """
    text = options["check_texts"][0]
    words = model.preprocessor.words([text])  # All that any model takes.
    ids = {name: words[name] for name in model.input}
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        model.save(scratch / "model.keras")
        with _exact_products():
            outputs = keras.ops.convert_to_numpy(model(ids, training=False))
        np.savez(scratch / "expected.npz", expected=outputs, **ids)
        call = json.dumps({"folder": str(folder.absolute()), **options})
        (scratch / "options.json").write_text(call, encoding="utf-8")
        process = subprocess.run(
            [sys.executable, "-m", "bert_keras_layers.serving.twin_process", name],
            env={**os.environ, "KERAS_BACKEND": "tensorflow"},
            capture_output=True,
            text=True,
            check=False,
        )
        if process.returncode:
            lines = process.stderr.strip().splitlines() or ["no message"]
            raise RuntimeError(
                "The model could not be exported by its twin on TensorFlow: "
                f"{lines[-1]}"
            )
        # Printed here, a notebook shows it, and stdout can be redirected.
        print(process.stdout, end="")
        return pathlib.Path((scratch / "version.txt").read_text(encoding="utf-8"))


def _exact_products() -> contextlib.AbstractContextManager[Any]:
    if keras.backend.backend() != "jax":
        return contextlib.nullcontext()
    import jax

    # On a TPU the default is bfloat16, for float32 too.
    return jax.default_matmul_precision("float32")

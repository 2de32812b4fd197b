"""Clean process: a task, done where only the C library of TensorFlow is loaded.

    python -P clean_process.py TASK FOLDER

This file is that process's script, too. It imports neither TensorFlow nor Keras, so
that nothing is registered there but what a server has.
"""

import json
import os
import pathlib
import subprocess
import sys
import time
import types

import numpy as np


def run_clean_process(task: str, folder: pathlib.Path) -> None:
    """Runs a task and waits for it; files in a folder go in and come out.

    Args:
        task: `"operations"` writes what is registered, `operations.pb` and
            `kernels.pb`; `"answers"` reads `calls.json` and `inputs.npz`, as
            `clean_answers` writes them, and writes `outputs.npz` and `seconds.json`.
        folder: Where the files are.

    Raises:
        RuntimeError: If the task fails, with its last words.
    """
    process = subprocess.run(
        # -P: the folder of the script must not be where it looks for modules.
        [sys.executable, "-P", __file__, task, str(folder)],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        # A server has no other devices than those that all machines have.
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    if process.returncode:
        lines = process.stderr.strip().splitlines()
        # A crash ends with a stack, not with a sentence.
        said = lines[-1] if process.returncode == 1 and lines else "it crashed"
        raise RuntimeError(said)


def _write_operations(folder: pathlib.Path) -> None:
    from bert_keras_layers.serving.c_library import CLibrary

    operations, kernels = CLibrary().registered()
    (folder / "operations.pb").write_bytes(operations)
    (folder / "kernels.pb").write_bytes(kernels)


def _write_answers(folder: pathlib.Path) -> None:
    from bert_keras_layers.serving.array_file import read_arrays, write_arrays
    from bert_keras_layers.serving.c_library import CLibrary
    from bert_keras_layers.serving.c_session import CSession

    order = json.loads((folder / "calls.json").read_text(encoding="utf-8"))
    inputs = read_arrays(folder / "inputs.npz")
    outputs: dict[str, np.ndarray] = {}
    library = CLibrary()
    start = time.perf_counter()
    with CSession(library, order["saved_model"]) as session:
        seconds = [time.perf_counter() - start]
        for number, call in enumerate(order["calls"]):
            feeds = {
                tensor: inputs[f"{number}/{i}"]
                for i, tensor in enumerate(call["feeds"])
            }
            start = time.perf_counter()
            answers = session.run(feeds, call["fetches"])
            seconds.append(time.perf_counter() - start)
            outputs |= {f"{number}/{i}": answer for i, answer in enumerate(answers)}
    write_arrays(folder / "outputs.npz", outputs)
    (folder / "seconds.json").write_text(json.dumps(seconds), encoding="utf-8")


_TASKS = {"operations": _write_operations, "answers": _write_answers}


if __name__ == "__main__":
    # The package's own __init__ imports Keras: an empty one stands in for it.
    package = types.ModuleType("bert_keras_layers")
    package.__path__ = [str(pathlib.Path(__file__).parents[1])]
    sys.modules[package.__name__] = package
    try:
        _TASKS[sys.argv[1]](pathlib.Path(sys.argv[2]))
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        sys.exit(" ".join(str(error).split()))

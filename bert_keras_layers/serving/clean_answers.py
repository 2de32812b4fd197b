"""Clean answers: requests to a SavedModel -> what a server would return."""

import json
import os
import pathlib
import tempfile
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bert_keras_layers.serving.array_file import read_arrays, write_arrays
from bert_keras_layers.serving.clean_process import run_clean_process
from bert_keras_layers.serving.meta_graph import MetaGraph


class ServedRequest(NamedTuple):
    """One request to a server.

    Args:
        signature: Name of the signature to call.
        inputs: An array for each of its inputs; object arrays hold texts.
    """

    signature: str
    inputs: Mapping[str, np.ndarray]


class CleanAnswers(NamedTuple):
    """What came back.

    Args:
        outputs: For each request its outputs by name; texts are bytes.
        load_seconds: How long the model took to load.
        answer_seconds: How long each answer took; the first one is the slowest.
    """

    outputs: list[dict[str, np.ndarray]]
    load_seconds: float
    answer_seconds: list[float]


def clean_answers(
    saved_model: str | os.PathLike[str], requests: Sequence[ServedRequest]
) -> CleanAnswers:
    """Runs a SavedModel in a process of its own, through the loader of TF Serving.

    That process imports neither TensorFlow nor Keras; it knows the operations of
    TensorFlow and tensorflow-text, on the CPU, without XLA.

    Raises:
        ValueError: If the SavedModel is damaged, or a request does not fit its
            signature.
        RuntimeError: If the model cannot be loaded or run, with TensorFlow's reason.
    """
    folder = pathlib.Path(saved_model)
    signatures = MetaGraph(folder).signatures
    inputs: dict[str, np.ndarray] = {}
    calls, names = [], []
    for number, request in enumerate(requests):
        signature = signatures.get(request.signature)
        if signature is None or set(request.inputs) != set(signature.inputs):
            expected = {name: sorted(one.inputs) for name, one in signatures.items()}
            raise ValueError(
                f"A request must name a signature and its inputs, of {expected}. "
                f"Received: {request.signature!r} with {sorted(request.inputs)}"
            )
        feeds = {
            signature.inputs[name].name: array for name, array in request.inputs.items()
        }
        names.append(sorted(signature.outputs))
        fetches = [signature.outputs[name].name for name in names[-1]]
        calls.append({"feeds": list(feeds), "fetches": fetches})
        inputs |= {f"{number}/{i}": array for i, array in enumerate(feeds.values())}
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        order = {"saved_model": str(folder.absolute()), "calls": calls}
        (scratch / "calls.json").write_text(json.dumps(order), encoding="utf-8")
        write_arrays(scratch / "inputs.npz", inputs)
        run_clean_process("answers", scratch)
        arrays = read_arrays(scratch / "outputs.npz")
        load, *seconds = json.loads((scratch / "seconds.json").read_text("utf-8"))
    outputs = [
        {name: arrays[f"{number}/{i}"] for i, name in enumerate(some)}
        for number, some in enumerate(names)
    ]
    return CleanAnswers(outputs, load, seconds)

"""Clean check: a SavedModel's answers in a clean process against the expected ones."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bert_keras_layers.serving.clean_answers import ServedRequest, clean_answers
from bert_keras_layers.serving.number_check import difference_of_numbers


class ServedCall(NamedTuple):
    """A call of a signature and what it must return.

    Args:
        signature: Name of the signature.
        inputs: An array for each of its inputs; object arrays hold texts.
        expected: Arrays for outputs by name, texts as bytes. Texts, whole numbers and
            truth values must be equal.
        tolerance: Largest difference of other numbers, as a share of the largest one
            expected, or of 1 if that is larger.
    """

    signature: str
    inputs: Mapping[str, np.ndarray]
    expected: Mapping[str, np.ndarray]
    tolerance: float = 1e-5


class Timings(NamedTuple):
    """How long a server would take, in seconds.

    Args:
        load_seconds: Until the model is loaded.
        first_answer_seconds: From then to the first answer, which is the slowest.
    """

    load_seconds: float
    first_answer_seconds: float


def check_in_clean_process(
    saved_model: str | os.PathLike[str], calls: Sequence[ServedCall]
) -> Timings:
    """Checks a SavedModel where a server would run it; see `clean_answers`.

    Args:
        saved_model: The folder with the `saved_model.pb`.
        calls: At least one.

    Raises:
        ValueError: If the SavedModel is damaged, or has no such signature.
        RuntimeError: If the model cannot be loaded or run, or an output differs.
    """
    requests = [ServedRequest(call.signature, call.inputs) for call in calls]
    answers = clean_answers(saved_model, requests)
    for call, outputs in zip(calls, answers.outputs, strict=True):
        for name, expected in call.expected.items():
            if name not in outputs:
                raise RuntimeError(
                    f"{call.signature!r} must return {name!r}. "
                    f"Received: {sorted(outputs)}"
                )
            difference = _difference(outputs[name], expected, call.tolerance)
            if difference is not None:
                raise RuntimeError(
                    f"{name!r} of {call.signature!r} must be that of the live model"
                    f"{difference}"
                )
    return Timings(answers.load_seconds, answers.answer_seconds[0])


def _difference(
    received: np.ndarray, expected: np.ndarray, tolerance: float
) -> str | None:
    if received.shape != expected.shape:
        return f", of shape {expected.shape}. Received: shape {received.shape}"
    if expected.dtype.kind != "f":
        same = received == expected
        if np.all(same):
            return None
        place = tuple(int(i) for i in np.argwhere(~same)[0])
        return f", {expected[place]!r} at {place}. Received: {received[place]!r}"
    difference = difference_of_numbers(received, expected, tolerance)
    return None if difference is None else f" {difference}"

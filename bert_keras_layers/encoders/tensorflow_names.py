"""TensorFlow names: weights of TensorFlow BERTs under Hugging Face's stored names."""

import re
from collections.abc import Iterable

import numpy as np

_LAYER = re.compile(r"layer_(?:\._)?(\d+)")  # TFBertModel writes layer_._0.
_LAST = {"gamma": "weight", "beta": "bias", "embeddings": "weight"}


def translate_weights(
    weights: Iterable[tuple[str, np.ndarray]],
) -> dict[str, np.ndarray]:
    """Returns the weights of BERT proper by their name in Hugging Face's `BertModel`.

    Args:
        weights: Names with a `bert/` in them, as google-research/bert and
            `TFBertModel` write them, and arrays; kernels are `(in, out)`. What is
            not below `bert/`, such as heads and counters, is left out.

    Example:
    >>> weights = [("bert/encoder/layer_0/output/dense/kernel", np.zeros((16, 8)))]
    >>> [(name, w.shape) for name, w in translate_weights(weights).items()]
    [('encoder.layer.0.output.dense.weight', (8, 16))]
    """
    translated = {}
    for name, array in weights:
        _, found, path = name.partition("bert/")
        if not found:
            continue
        *parents, last = _LAYER.sub(r"layer/\1", path).split("/")
        if last == "kernel":
            last, array = "weight", array.T
        elif last.endswith("_embeddings"):
            parents, last = [*parents, last], "weight"
        translated[".".join([*parents, _LAST.get(last, last)])] = array
    return translated

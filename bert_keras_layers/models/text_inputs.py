"""Text inputs: is this text, pairs of texts, or something else that Keras takes?"""

from typing import Any, NamedTuple

import keras

from bert_keras_layers.preprocessing.sentence_list import are_split


class TextInputs(NamedTuple):
    """Texts, and the second texts of pairs, or None where there are none."""

    texts: Any
    pairs: Any = None


def text_inputs(x: Any) -> TextInputs | None:
    """Returns the texts in what was given to `fit`, or None if there are none.

    Args:
        x: A sequence of texts, or a tuple of two such sequences; anything else,
            such as a dict of ids or a dataset, is no text.

    Example:
    >>> text_inputs((["question 1", "question 2"], ["answer 1", "answer 2"])).pairs
    ['answer 1', 'answer 2']
    """
    x = _values(x)
    if isinstance(x, str | bytes):
        raise ValueError(
            f"Texts must come as a list, even a single one. Received: {x!r}"
        )
    if isinstance(x, tuple) and len(x) == 2 and all(map(_has_text, x)):
        return TextInputs(*x)
    return TextInputs(x) if _has_text(x) else None


def sentence_inputs(x: Any) -> TextInputs | None:
    """Returns sentences as given to `fit`, or None if there are none.

    Args:
        x: A sequence of sequences of words, or of texts; anything else is neither.

    Example:
    >>> sentence_inputs([["New", "York"], ["Rome"]]).texts
    [['New', 'York'], ['Rome']]
    """
    x = _values(x)
    if hasattr(x, "to_list") and hasattr(x, "row_splits"):  # A ragged tensor.
        x = x.to_list()
    # Datasets have elements too, which are batches.
    is_sequence = isinstance(x, list | tuple) or hasattr(x, "tolist")
    if is_sequence and are_split(x):
        return TextInputs(x)
    return None if isinstance(x, tuple) else text_inputs(x)


def _values(x: Any) -> Any:
    """Returns `x`, of a string tensor its values; refuses a dataset of strings."""
    spec = getattr(x, "element_spec", None)  # Of a tf.data.Dataset.
    if any(
        getattr(part, "dtype", None) == "string" for part in keras.tree.flatten(spec)
    ):
        raise ValueError(
            "A dataset must hold token ids: map its texts through "
            "`model.preprocessor` first. Received: a dataset of strings"
        )
    is_string = getattr(x, "dtype", None) == "string"
    if is_string and hasattr(x, "numpy") and not hasattr(x, "row_splits"):
        return x.numpy()
    return x


def _has_text(x: Any) -> bool:
    rank = getattr(x, "ndim", 1)
    if rank != 1 or isinstance(x, str | bytes | dict) or not hasattr(x, "__len__"):
        return False
    if isinstance(x, list) and not x:
        return True
    # Any element, not the first: a missing value among texts is named later.
    return any(isinstance(element, str | bytes) for element in x)

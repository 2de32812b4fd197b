"""Text lists: any sequence of texts -> a list of strings that can be encoded."""

import sys
from collections.abc import Mapping, Set
from typing import Any


def text_list(texts: Any, name: str) -> list[str]:
    r"""Returns texts as a list of `str`; bytes are decoded as UTF-8.

    Args:
        texts: A list, tuple, NumPy array, pandas Series or the like.
        name: What to call `texts` in an error.

    Raises:
        ValueError: If `texts` is no flat sequence, or an element is no text or
            no valid Unicode; the first one is named with its index.

    Example:
    >>> from bert_keras_layers.preprocessing.text_list import text_list
    >>> text_list(("one", b"two"), "texts")
    ['one', 'two']
    """
    rank = getattr(texts, "ndim", 1)
    if rank != 1 or isinstance(texts, (Mapping, Set)) or not hasattr(texts, "__len__"):
        raise ValueError(
            f"`{name}` must be one text or a flat sequence of texts. "
            f"Received: {type(texts).__name__} of rank {rank}"
        )
    elements = texts.tolist() if hasattr(texts, "tolist") else list(texts)
    if not set(map(type, elements)) <= {str}:
        elements = [_text(element, i, name) for i, element in enumerate(elements)]
    if not is_unicode("".join(elements)):
        index = [is_unicode(element) for element in elements].index(False)
        raise ValueError(
            f"`{name}` must hold valid Unicode. Received: {elements[index]!r} "
            f"at index {index}, which has a lone surrogate"
        )
    return elements


def is_one_text(texts: Any) -> bool:
    """Returns whether `texts` is a single text, not a sequence of them."""
    return isinstance(texts, (str, bytes)) or getattr(texts, "ndim", 1) == 0


def is_tensor(texts: Any) -> bool:
    """Returns whether `texts` is a TensorFlow tensor, without an import of that."""
    # A tensor can only exist where TensorFlow was imported already.
    tensorflow = sys.modules.get("tensorflow")
    return tensorflow is not None and bool(tensorflow.is_tensor(texts))


def is_unicode(text: str) -> bool:
    """Returns whether `text` is valid Unicode: no lone surrogate in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _text(element: Any, index: int, name: str) -> str:
    if getattr(element, "ndim", None) == 0:  # A NumPy scalar.
        element = element.item()
    if isinstance(element, bytes):
        return element.decode("utf-8", "replace")
    if isinstance(element, str):
        return element
    raise ValueError(
        f"`{name}` must hold strings. Received: {element!r} at index {index}, "
        f"a {type(element).__name__}"
    )

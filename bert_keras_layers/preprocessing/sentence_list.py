"""Sentence lists: any sequence of sentences in words -> lists that can be encoded."""

from collections.abc import Sequence
from typing import Any

from bert_keras_layers.preprocessing.text_list import text_list


def sentence_list(sentences: Any) -> list[str] | list[list[str]]:
    """Returns texts as a list, and sentences that are split as a list of lists.

    Args:
        sentences: A sequence of texts, or of sequences of words.

    Raises:
        ValueError: If it is no such sequence, or an element is no text or no valid
            Unicode; the first one is named.

    Example:
    >>> from bert_keras_layers.preprocessing.sentence_list import sentence_list
    >>> sentence_list((["New", b"York"], ("Rome",)))
    [['New', 'York'], ['Rome']]
    """
    if isinstance(sentences, str | bytes):
        raise ValueError(
            f"`sentences` must be a list, even of a single one. Received: {sentences!r}"
        )
    if not are_split(sentences):
        return text_list(sentences, "sentences")
    for index, words in enumerate(sentences):
        if isinstance(words, str | bytes):
            raise ValueError(
                "`sentences` must all be lists of words, or all be texts. "
                f"Received: {words!r} at index {index} among lists"
            )
    return [text_list(x, f"sentences[{index}]") for index, x in enumerate(sentences)]


def are_split(sentences: Any) -> bool:
    """Returns whether any element is a sequence of words, not a text."""
    if not hasattr(sentences, "__len__"):
        return False
    return any(
        (isinstance(x, Sequence) and not isinstance(x, str | bytes))
        or getattr(x, "ndim", 0) == 1
        for x in sentences
    )

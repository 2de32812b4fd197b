"""Tagged sentences: lists of words and lists of tags, checked."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bert_keras_layers.models.text_inputs import TextInputs
from bert_keras_layers.preprocessing.sentence_list import are_split


def tags_by_sentence(targets: Any) -> list[Sequence[Any]]:
    """Returns the tags of each sentence.

    Raises:
        ValueError: If there is no list of tags per sentence.
    """
    if hasattr(targets, "to_list"):  # A ragged tensor or a Series.
        targets = targets.to_list()
    if not hasattr(targets, "__len__") or not (are_split(targets) or not len(targets)):
        raise ValueError(
            "`y` must hold a list of tags per sentence. "
            f"Received: {type(targets).__name__} without a list in it"
        )
    return list(targets)


def words_per_sentence(inputs: TextInputs | None) -> list[int]:
    """Returns how many words each sentence has.

    Raises:
        ValueError: If the sentences are no lists of words.
    """
    if inputs is None or not (are_split(inputs.texts) or not len(inputs.texts)):
        raise ValueError(
            "Sentences must be lists of words, such as those of `text.split()`. "
            "Received: no list of words"
        )
    return [len(words) for words in inputs.texts]


def check_one_tag_per_word(inputs: TextInputs, targets: Any) -> None:
    """Raises a `ValueError` unless each sentence has as many tags as words."""
    lengths = words_per_sentence(inputs)
    pairs = zip(lengths, tags_by_sentence(targets), strict=False)
    for index, (words, tags) in enumerate(pairs):
        if words != len(tags):
            raise ValueError(
                "`y` must have one tag per word. "
                f"Received: {len(tags)} tags for {words} words at index {index}"
            )


def numbers_by_sentence(
    numbers: np.ndarray, rows: Sequence[Sequence[Any]]
) -> np.ndarray:
    """Returns flat numbers as int32 `(sentences, words)`, 0 beyond the last word.

    Args:
        numbers: Of all words, one sentence after the other.
        rows: The tags of each sentence, for their number.

    Example:
    >>> numbers_by_sentence(np.array([1, 2, 3]), ["ab", "c"])
    array([[1, 2],
           [3, 0]], dtype=int32)
    """
    lengths = np.array([len(tags) for tags in rows], "int32")
    mask = np.arange(lengths.max(initial=0)) < lengths[:, np.newaxis]
    encoded = np.zeros(mask.shape, "int32")
    encoded[mask] = numbers
    return encoded

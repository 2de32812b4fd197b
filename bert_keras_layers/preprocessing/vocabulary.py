"""Vocabulary: a list of tokens -> a checked one, where each token has one id."""

import os
import pathlib
from collections.abc import Sequence

from bert_keras_layers.preprocessing.text_list import is_unicode

PAD, UNKNOWN, START, END = "[PAD]", "[UNK]", "[CLS]", "[SEP]"


def read_vocabulary(file: pathlib.Path) -> list[str]:
    """Returns the tokens of a vocabulary file, one a line, unchecked."""
    # Split at line ends only: `str.splitlines` would also split at U+2028.
    with file.open(encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in lines]


def checked_vocabulary(vocabulary: Sequence[str]) -> tuple[str, ...]:
    """Checks that every token has exactly one id, and returns the tokens.

    Args:
        vocabulary: The tokens; the position of a token is its id.

    Returns:
        The tokens as a tuple.

    Raises:
        ValueError: If `vocabulary` is a string or path, has empty, repeated,
            invalid or non-string tokens (the first ones are named, with their
            line numbers), or lacks `[PAD]`, `[UNK]`, `[CLS]` or `[SEP]`.

    Example:
    >>> from bert_keras_layers.preprocessing.vocabulary import checked_vocabulary
    >>> checked_vocabulary(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "word"])[4]
    'word'
    """
    if isinstance(vocabulary, (str, bytes, os.PathLike)):
        raise ValueError(
            "`vocabulary` must be a list of tokens; for a file, a folder or a hub id "
            f"use `BertPreprocessor.from_pretrained`. Received: {vocabulary!r}"
        )
    tokens = tuple(vocabulary)
    lines: dict[str, int] = {}
    for line, token in enumerate(tokens, start=1):
        if not (isinstance(token, str) and token and is_unicode(token)):
            raise ValueError(
                "`vocabulary` must hold non-empty strings of valid Unicode. "
                f"Received: {token!r} in line {line}"
            )
        if lines.setdefault(token, line) != line:
            raise ValueError(
                f"`vocabulary` must hold each token once. Received: {_repeated(tokens)}"
            )
    missing = [token for token in (PAD, UNKNOWN, START, END) if token not in lines]
    if missing:
        raise ValueError(
            f"`vocabulary` must hold {PAD}, {UNKNOWN}, {START} and {END}. "
            f"Received: {len(tokens)} tokens without {', '.join(missing)}"
        )
    return tokens


def _repeated(tokens: Sequence[str], shown: int = 3) -> str:
    lines: dict[str, list[int]] = {}
    for line, token in enumerate(tokens, start=1):
        lines.setdefault(token, []).append(line)
    repeated = [(token, where) for token, where in lines.items() if len(where) > 1]
    named = [f"{token!r} in lines {where}" for token, where in repeated[:shown]]
    more = len(repeated) - len(named)
    return ", ".join(named) + (f" and {more} more" if more else "")

"""Unicode table: what Hugging Face's BERT normaliser does to every code point."""

import dataclasses
import functools
import importlib.resources
from collections.abc import Sequence
from typing import Any

import numpy as np

# Codes in `pieces` that stand for no character. Hugging Face deletes the
# characters of the first two and turns the third into a space, so no text has them.
ABSENT, SELF, BLOCKER = 0, 1, 10
SPACE = 32
# A piece is `class * CLASS + code point`; a class above zero is reordered.
CLASS = 1 << 21
MAX_CHARACTERS = 100  # Of a word; longer ones are unknown to Hugging Face.


@dataclasses.dataclass(frozen=True, eq=False)
class UnicodeTable:
    """A replacement of at most three pieces for every code point.

    `pieces[entries[pages[c >> 8], c & 255]]` replaces the code point `c`. A piece is
    `ABSENT`, `SELF` (c unchanged), `BLOCKER` (nothing, but a wall to reordering), a
    space where words are split, or a code point. Code points of a canonical
    combining class above zero carry its rank: Unicode's canonical order sorts
    neighbours by it.

    Args:
        pages: uint16 `(0x1100,)`.
        entries: uint16 `(pages, 256)`.
        pieces: int32 `(entries, 3)`.
        ordinary: int32 `(ranges, 2)`: first and last code points of the ranges
            on which TensorFlow Text's `FastBertTokenizer` does the same.
        separators: int32 `(ranges, 2)`: some that always split words.
    """

    pages: Any
    entries: Any
    pieces: Any
    ordinary: Any
    separators: Any

    @classmethod
    @functools.cache
    def load(cls, lowercase: bool) -> "UnicodeTable":
        """Returns the table of uncased (`lowercase`) or cased models."""
        resource = importlib.resources.files(__package__) / "unicode_table.npz"
        mode = "uncased" if lowercase else "cased"
        with resource.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            names = [field.name for field in dataclasses.fields(cls)]
            return cls(**{name: arrays[f"{mode}_{name}"] for name in names})

    @property
    def expansion(self) -> int:
        """The most characters of a word that one code point becomes."""
        return int((_letters(self.pieces)).sum(axis=1).max())

    def reachable(self, tokens: Sequence[str]) -> Any:
        """Returns for each token whether some text gives a word that holds it."""
        in_words, alone = self._produced()
        bodies = [token.removeprefix("##") for token in tokens]
        lengths = np.fromiter(map(len, bodies), "int64", len(bodies))
        codes = np.frombuffer("".join(bodies).encode("utf-32-le"), "uint32")
        owners = np.repeat(np.arange(len(bodies)), lengths)
        inside = np.bincount(owners, in_words[codes], len(bodies)) == lengths
        isolated = np.bincount(owners, alone[codes], len(bodies)) == 1
        whole = (lengths > 0) & (lengths <= MAX_CHARACTERS)
        return (inside & whole) | (isolated & (lengths == 1))

    def _produced(self) -> tuple[Any, Any]:
        """Returns which code points occur in words, and which as words alone."""
        isolated = (self.pieces[:, 0] == SPACE) & (self.pieces[:, 2] == SPACE)
        return self._produced_by(~isolated), self._produced_by(isolated)

    def _produced_by(self, rows: Any) -> Any:
        """Returns which code points the given rows of `pieces` write."""
        pieces = self.pieces[rows] % CLASS
        flags = np.zeros(0x110000, bool)
        flags[pieces[_letters(pieces)]] = True
        flags[SELF] = False
        unchanged = rows & (self.pieces == SELF).any(axis=1)
        return flags | unchanged[self.entries[self.pages]].reshape(-1)


def character_class(ranges: Any) -> str:
    """Returns ranges of code points as the inside of a regular expression's [...]."""
    return "".join(f"\\x{{{first:x}}}-\\x{{{last:x}}}" for first, last in ranges)


def _letters(pieces: Any) -> Any:
    return ~np.isin(pieces, [ABSENT, BLOCKER, SPACE])

"""Writes `unicode_table.npz`, read off `tokenizers` and TensorFlow Text.

Run it again when either of them changes what it does to a character:

    python scripts/make_unicode_table.py
"""

import functools
import pathlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text
from tokenizers import normalizers, pre_tokenizers

from bert_keras_layers.preprocessing import unicode_table
from bert_keras_layers.preprocessing.rust_tokenizer import RustTokenizer
from bert_keras_layers.preprocessing.unicode_table import ABSENT, BLOCKER, CLASS, SELF

SURROGATES = range(0xD800, 0xE000)
CODE_POINTS = [code for code in range(0x110000) if code not in SURROGATES]
# The planes above hold no text; what is in them takes the exact path.
PROBED = [code for code in CODE_POINTS if code < 0x30000]
# Characters of combining classes 224 and 216 that are not stripped as accents.
HIGH, LOW = "\u302e", "\U0001d165"
MODES = {"cased": False, "uncased": True}
Normalize = Callable[[str], str]


def make_tables() -> dict[str, Any]:
    """Returns the arrays of both tables, by the names they have in the file."""
    replacements = {mode: _replacements(flag) for mode, flag in MODES.items()}
    separators = _separators(replacements.values())
    arrays = {}
    for mode, lowercase in MODES.items():
        normalize = normalizers.BertNormalizer(lowercase=lowercase).normalize_str
        pieces = _pieces(replacements[mode], normalize)
        table = {
            **_paged(pieces),
            "ordinary": _ordinary(replacements[mode], pieces, lowercase),
            "separators": separators,
        }
        arrays.update({f"{mode}_{name}": array for name, array in table.items()})
    return arrays


def _replacements(lowercase: bool) -> dict[int, str]:
    """Returns what replaces each code point, with spaces where words are split."""
    normalize = normalizers.BertNormalizer(lowercase=lowercase).normalize_str
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    replacements = {}
    for code in CODE_POINTS:
        words = [word for word, _ in split(normalize(f"x{chr(code)}y"))]
        replacements[code] = " ".join(words)[1:-1]
    return replacements


def _pieces(replacements: dict[int, str], normalize: Normalize) -> Any:
    """Returns the replacements as pieces, int32 `(code points, 3)`."""
    ranks = _ranks(replacements, normalize)
    pieces = np.full((0x110000, 3), ABSENT, "int32")
    for code, replacement in replacements.items():
        for column, character in enumerate(replacement):
            rank = ranks.get(character, 0)
            itself = character == chr(code) and character != " " and not rank
            pieces[code, column] = SELF if itself else rank * CLASS + ord(character)
        if not replacement and _blocks(chr(code), normalize):
            pieces[code, 0] = BLOCKER
    return pieces


def _ranks(replacements: dict[int, str], normalize: Normalize) -> dict[str, int]:
    """Returns the characters that are reordered, with the rank of their class."""
    if not _swapped(HIGH, LOW, normalize):  # Cased: nothing is reordered.
        return {}
    kept = {character for text in replacements.values() for character in text} - {" "}
    moved = [
        character
        for character in sorted(kept)
        if _swapped(HIGH, character, normalize) or _swapped(character, LOW, normalize)
    ]
    smaller = {
        character: sum(_swapped(character, other, normalize) for other in moved)
        for character in moved
    }
    order = sorted(set(smaller.values()))
    return {character: 1 + order.index(smaller[character]) for character in moved}


def _swapped(first: str, second: str, normalize: Normalize) -> bool:
    return first != second and normalize(first + second) == second + first


def _blocks(character: str, normalize: Normalize) -> bool:
    return normalize(HIGH + LOW) != normalize(HIGH + character + LOW)


def _paged(pieces: Any) -> dict[str, Any]:
    rows, entries = np.unique(pieces, axis=0, return_inverse=True)
    blocks = entries.astype("uint16").reshape(-1, 256)
    contents, pages = np.unique(blocks, axis=0, return_inverse=True)
    return {"pages": pages.astype("uint16"), "entries": contents, "pieces": rows}


def _separators(tables: Iterable[dict[int, str]]) -> Any:
    """Returns ASCII's and other long ranges that split words in every table."""
    splitting = np.ones(0x110000, bool)
    for table in tables:
        splitting &= [table.get(code, "").startswith(" ") for code in range(0x110000)]
    ranges = _ranges(splitting)
    long = ranges[:, 1] - ranges[:, 0] >= 16
    return ranges[long | (ranges[:, 1] < 128)]


def _ordinary(replacements: dict[int, str], pieces: Any, lowercase: bool) -> Any:
    """Returns the ranges on which FastBertTokenizer equals the Rust tokenizer.

    What is reordered depends on its neighbours, and is left out.
    """
    characters = sorted({c for code in PROBED for c in replacements[code]} - {" "})
    same = np.zeros(0x110000, bool)
    same[PROBED] = True
    same[(pieces >= CLASS).any(axis=1)] = False
    # Every character known, alone and inside words; then hardly any.
    for known in (characters, ["x", "y"]):
        pairs = [token for c in known for token in (c, f"##{c}")]
        vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *pairs]
        for start in range(0, len(PROBED), 1 << 15):
            codes = PROBED[start : start + (1 << 15)]
            same[codes] &= _probe(codes, *_engines(tuple(vocabulary), lowercase))
    return _ranges(same)


@functools.lru_cache(maxsize=1)
def _engines(vocabulary: tuple[str, ...], lowercase: bool) -> tuple[Any, Any]:
    fast = tensorflow_text.FastBertTokenizer(
        vocabulary, token_out_type=tf.int32, lower_case_nfd_strip_accents=lowercase
    )
    return RustTokenizer(vocabulary, lowercase, None), fast


def _probe(codes: Sequence[int], rust: RustTokenizer, fast: Any) -> Any:
    """Returns for each code point whether both engines give the same ids."""
    texts = [f"x{c}y {c} {c}{c} y{c} {c}x" for c in map(chr, codes)]
    rows = rust.encode(texts)
    expected = tf.RaggedTensor.from_row_lengths(rows.input_ids, rows.lengths)[:, 1:-1]
    received = fast.tokenize(tf.constant(texts))
    return [a == b for a, b in zip(expected.to_list(), received.to_list(), strict=True)]


def _ranges(flags: Any) -> Any:
    """Returns the first and last code points of each run of true flags."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype("int8"), [0]])))
    return edges.reshape(-1, 2).astype("int32") - np.array([0, 1], "int32")


if __name__ == "__main__":
    path = pathlib.Path(unicode_table.__file__).with_suffix(".npz")
    np.savez_compressed(path, **make_tables())

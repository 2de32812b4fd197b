"""WordPiece in a TensorFlow graph: string tensors -> ragged ids, exactly as Rust."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf
import tensorflow_text

from bert_keras_layers.preprocessing import vocabulary as special
from bert_keras_layers.preprocessing.unicode_table import (
    ABSENT,
    BLOCKER,
    CLASS,
    MAX_CHARACTERS,
    SELF,
    UnicodeTable,
    character_class,
)

MAX_BYTES = 4 * MAX_CHARACTERS  # A limit that TensorFlow Text then never meets.


class GraphWordpiece:
    """Splits texts into WordPiece ids, without special tokens, in the graph.

    TensorFlow Text's fast tokenizer takes the texts on which it is known to
    equal Hugging Face's: all characters are ordinary and no word can be too
    long. The others are rewritten character by character with the Unicode table.

    Args:
        vocabulary: The tokens, checked; the position of a token is its id.
        lowercase: Whether to lowercase and to strip accents.
        hold: Makes what holds a table of up to 2 MB from an array: `tf.constant`, or
            `tf.Variable`, for an export with its tables beside the graph.
    """

    def __init__(
        self, vocabulary: Sequence[str], lowercase: bool, hold: Any = tf.constant
    ) -> None:
        table = UnicodeTable.load(lowercase)
        separators = character_class(table.separators)
        longest_run = MAX_CHARACTERS // table.expansion
        self._ordinary = f"[{character_class(table.ordinary)}]*"
        self._long_run = f"(?s).*[^{separators}]{{{longest_run + 1}}}.*"
        tokens = _safe_tokens(vocabulary, table)
        self._lowercase = lowercase
        # Made once and outside of any graph: every trace then captures the same
        # tables, and an export holds one copy of each.
        with tf.init_scope(), tf.device("CPU:0"):
            self.tables = {
                name: hold(array)
                for name, array in {
                    "normalizer": _normalizer(lowercase),
                    "texts": _model(tokens, pretokenized=False),
                    "words": _model(tokens, pretokenized=True),
                    "pages": table.pages,
                    "entries": table.entries,
                    "pieces": table.pieces,
                }.items()
            }

    def __call__(self, texts: Any) -> Any:
        """Returns int32 ids, ragged `(batch, pieces)`, of strings `(batch,)`."""
        ordinary = tf.strings.regex_full_match(texts, self._ordinary)
        ordinary &= ~tf.strings.regex_full_match(texts, self._long_run)
        return tf.cond(
            tf.reduce_all(ordinary),
            lambda: self._fast(texts),
            lambda: self._mixed(texts, ordinary),
        )

    def _table(self, name: str) -> Any:
        return tf.convert_to_tensor(self.tables[name])

    def _fast(self, texts: Any) -> Any:
        tokenizer = tensorflow_text.FastBertTokenizer(
            token_out_type=tf.int32,
            lower_case_nfd_strip_accents=self._lowercase,
            fast_wordpiece_model_buffer=self._table("texts"),
            fast_bert_normalizer_model_buffer=self._table("normalizer"),
        )
        return tokenizer.tokenize(texts)

    def _mixed(self, texts: Any, ordinary: Any) -> Any:
        common, rare = tf.where(ordinary)[:, 0], tf.where(~ordinary)[:, 0]
        ids = tf.concat(
            [
                self._fast(tf.gather(texts, common)),
                self._exact(tf.gather(texts, rare)),
            ],
            axis=0,
        )
        places = tf.concat([common, rare], axis=0)
        return tf.gather(ids, tf.math.invert_permutation(places))

    def _exact(self, texts: Any) -> Any:
        points = tf.strings.unicode_decode(texts, "UTF-8", errors="replace")
        pieces = tf.ragged.map_flat_values(self._replaced, points)
        pieces = _in_canonical_order(joined_rows(pieces))
        words = tf.strings.split(tf.strings.unicode_encode(pieces, "UTF-8"))
        words = tf.ragged.map_flat_values(_unknown_if_long, words)
        tokenizer = tensorflow_text.FastWordpieceTokenizer(
            token_out_type=tf.int32, model_buffer=self._table("words")
        )
        return joined_rows(tokenizer.tokenize(words))

    def _replaced(self, points: Any) -> Any:
        """Returns the pieces of code points, ragged `(code points, pieces)`."""
        page = tf.cast(tf.gather(self._table("pages"), points // 256), "int32")
        place = tf.stack([page, points % 256], axis=1)
        entry = tf.cast(tf.gather_nd(self._table("entries"), place), "int32")
        pieces = tf.gather(self._table("pieces"), entry)  # (code points, 3)
        pieces = tf.where(pieces == SELF, points[:, tf.newaxis], pieces)
        return tf.ragged.boolean_mask(pieces, pieces != ABSENT)


def joined_rows(ragged: Any) -> Any:
    """`(batch, words, pieces)` -> `(batch, pieces of all words)`.

    Unlike `merge_dims`, which adds checks of what is right by construction to every
    graph: 70 kB of an export.
    """
    splits = tf.gather(ragged.values.row_splits, ragged.row_splits)
    return tf.RaggedTensor.from_row_splits(ragged.flat_values, splits, validate=False)


def _in_canonical_order(pieces: Any) -> Any:
    """Sorts neighbours of a combining class above zero; drops the blockers."""
    classes = pieces.values // CLASS
    # A row's start and every class zero open a run, in which only the class counts.
    run = tf.cumsum(tf.cast(classes == 0, "int64")) + pieces.value_rowids()
    order = tf.argsort(run * CLASS + tf.cast(classes, "int64"), stable=True)
    points = pieces.with_values(tf.gather(pieces.values, order) % CLASS)
    return tf.ragged.boolean_mask(points, points != BLOCKER)


def _unknown_if_long(words: Any) -> Any:
    long = tf.strings.length(words, "UTF8_CHAR") > MAX_CHARACTERS
    return tf.where(long, special.UNKNOWN, words)


def _safe_tokens(vocabulary: Sequence[str], table: UnicodeTable) -> list[str]:
    """Replaces tokens that no text can give by ones that no text can give.

    TensorFlow Text would match a token with a space across two words, and
    fails at one with U+0000. U+FFFD is in no normalised text.
    """
    flags = zip(vocabulary, table.reachable(vocabulary), strict=True)
    return [
        token if reachable or token == special.UNKNOWN else f"\ufffd{index}"
        for index, (token, reachable) in enumerate(flags)
    ]


def _model(tokens: list[str], pretokenized: bool) -> Any:
    from tensorflow_text.core.pybinds import (
        pywrap_fast_wordpiece_tokenizer_model_builder as builder,
    )

    model = builder.build_fast_wordpiece_model(
        tokens, MAX_BYTES, "##", special.UNKNOWN, pretokenized, False
    )
    # An array, not a list as TensorFlow Text makes of it: 100 times faster.
    return np.frombuffer(model, "uint8")


def _normalizer(lowercase: bool) -> Any:
    from tensorflow_text.core.pybinds import (
        pywrap_fast_bert_normalizer_model_builder as builder,
    )

    return np.frombuffer(builder.build_fast_bert_normalizer_model(lowercase), "uint8")

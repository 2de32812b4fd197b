"""The engine in the graph: string tensors -> what an encoder takes."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from bert_keras_layers.preprocessing import vocabulary as special
from bert_keras_layers.preprocessing.graph_wordpiece import GraphWordpiece, joined_rows
from bert_keras_layers.preprocessing.padding import Padding


class GraphTokenizer:
    """Tokenizes string tensors, eager or symbolic, as `RustTokenizer` does.

    It holds tables only, so a function that calls it can be exported.

    Args:
        vocabulary: The tokens, checked; the position of a token is its id.
        lowercase: Whether to lowercase and to strip accents.
        sequence_length: Tokens to keep of a text or pair, special ones
            included; `None` keeps all.
        padding: The width of a batch.
        hold: See `GraphWordpiece`.
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        lowercase: bool,
        sequence_length: int | None,
        padding: Padding,
        hold: Any = tf.constant,
    ) -> None:
        wordpiece = GraphWordpiece(vocabulary, lowercase, hold)
        self.tables = wordpiece.tables
        # One graph for all that is traced with it.
        texts = tf.TensorSpec((None,), tf.string)
        self._wordpiece = tf.function(
            wordpiece, input_signature=[texts], autograph=False
        )
        self._pad_id = vocabulary.index(special.PAD)
        self._start_id = vocabulary.index(special.START)
        self._end_id = vocabulary.index(special.END)
        self._starts_word = [not token.startswith("##") for token in vocabulary]
        self._sequence_length = sequence_length
        self._padding = padding
        # Outside of a graph, a traced call is several times faster than single ops.
        self._traced = tf.function(self._batch, reduce_retracing=True, autograph=False)
        self._traced_words = tf.function(
            self._words, reduce_retracing=True, autograph=False
        )

    def __call__(self, texts: Any, pairs: Any = None) -> dict[str, Any]:
        """Returns int32 `input_ids`, `attention_mask`, `token_type_ids`.

        Args:
            texts: Strings, `(batch,)` or a scalar.
            pairs: Optional second texts of the same shape.
        """
        texts = _strings(texts, "texts")
        if pairs is not None:
            pairs = _strings(pairs, "pairs")
            _check_same_shape(texts, pairs)
        batch = self._traced if tf.executing_eagerly() else self._batch
        if texts.shape.rank == 1:
            return dict(batch(texts, pairs))
        rows = batch(texts[tf.newaxis], None if pairs is None else pairs[tf.newaxis])
        return {name: row[0] for name, row in rows.items()}

    def words(self, sentences: Any) -> dict[str, Any]:
        """Returns what a call returns, and int32 `word_ids`, -1 at no word.

        Args:
            sentences: Texts `(batch,)`, or words: ragged `(batch, words)`, or dense
                with empty strings as padding.
        """
        sentences = _sentences(sentences)
        words = self._traced_words if tf.executing_eagerly() else self._words
        return dict(words(sentences))

    def _batch(self, texts: Any, pairs: Any) -> dict[str, Any]:
        if pairs is None:
            return self._singles(self._wordpiece(texts))
        return self._pairs(self._wordpiece(tf.concat([texts, pairs], axis=0)))

    def _words(self, sentences: Any) -> dict[str, Any]:
        # Numbers are those of all words in the batch, less those of earlier rows.
        if sentences.shape.rank == 1:
            ids = self._wordpiece(sentences)
            # No word starts with the mark of a continuation: BERT splits off a "#".
            starts = tf.cast(tf.gather(self._starts_word, ids.values), "int32")
            number = tf.cumsum(starts) - 1
            first = tf.gather(tf.concat([number, [0]], axis=0), ids.row_starts())
        else:
            pieces = self._wordpiece(sentences.values)  # (all words, pieces)
            ids = joined_rows(sentences.with_values(pieces))
            number = tf.cast(pieces.value_rowids(), "int32")
            first = tf.cast(sentences.row_starts(), "int32")
        return self._singles(ids, number - tf.gather(first, ids.value_rowids()))

    def _singles(self, ids: Any, word_ids: Any = None) -> dict[str, Any]:
        starts, lengths = _rows(ids)
        if self._sequence_length is not None:
            lengths = tf.minimum(lengths, self._sequence_length - 2)
        # A second text of length -1 takes the place of the second [SEP].
        nothing = tf.zeros_like(lengths)
        return self._padded(
            ids.values, (starts, nothing), (lengths, nothing - 1), word_ids
        )

    def _pairs(self, ids: Any) -> dict[str, Any]:
        starts, lengths = _rows(ids)
        first, second = tf.split(lengths, 2)
        if self._sequence_length is not None:
            first, second = _longest_first(first, second, self._sequence_length - 3)
        return self._padded(ids.values, tf.split(starts, 2), (first, second))

    def _padded(
        self, values: Any, starts: Any, lengths: Any, word_ids: Any = None
    ) -> dict[str, Any]:
        """Returns `[CLS] first [SEP] second [SEP]`, `(batch, width)`.

        Args:
            values: The ids of all texts, `(pieces,)`.
            starts: Where first and second texts start in them, `(batch,)` each.
            lengths: How many ids of first and second texts to keep.
            word_ids: The words that the ids of single texts belong to, `(pieces,)`.
        """
        first_start, second_start = (start[:, tf.newaxis] for start in starts)
        middle = lengths[0][:, tf.newaxis] + 1  # (batch, 1), the first [SEP].
        last = middle + lengths[1][:, tf.newaxis] + 1
        sizes = last[:, 0] + 1
        if word_ids is not None:
            word_ids = tf.concat([word_ids, [-1]], axis=0)
            final = _at(word_ids, starts[0] + lengths[0] - 1)  # A row's last word.
            sizes = tf.maximum(sizes, tf.where(lengths[0] > 0, final + 1, 0))
        position = tf.range(self._width(sizes))[tf.newaxis]  # (1, width)
        second = position > middle
        source = tf.where(
            second, second_start + position - middle - 1, first_start + position - 1
        )
        ids = _at(tf.concat([values, [self._pad_id]], axis=0), source)
        ids = tf.where(position == 0, self._start_id, ids)
        ids = tf.where((position == middle) | (position == last), self._end_id, ids)
        mask = position <= last
        batch = {
            "input_ids": tf.where(mask, ids, self._pad_id),
            "attention_mask": tf.cast(mask, "int32"),
            "token_type_ids": tf.cast(mask & second, "int32"),
        }
        if word_ids is not None:
            in_words = (position > 0) & (position < middle)
            batch["word_ids"] = tf.where(in_words, _at(word_ids, source), -1)
        return batch

    def _width(self, sizes: Any) -> Any:
        padding = self._padding
        if padding.floor == padding.ceiling:
            return padding.ceiling  # A number, so that the static shape has it.
        # Not `reduce_max(sizes)`: of an empty batch that is the smallest integer.
        longest = tf.reduce_max(tf.concat([[0], sizes], axis=0))
        rounded = -(-longest // padding.multiple) * padding.multiple
        return tf.minimum(tf.maximum(rounded, padding.floor), padding.ceiling)


def _strings(texts: Any, name: str) -> Any:
    if isinstance(texts, tf.RaggedTensor | tf.SparseTensor):
        received = f"a {type(texts).__name__}"
    else:
        texts = tf.convert_to_tensor(texts)
        if texts.dtype == tf.string and texts.shape.rank in (0, 1):
            return texts
        received = f"dtype {texts.dtype.name} and shape {texts.shape}"
    raise ValueError(
        f"`{name}` must be a tf.string tensor of rank 0 or 1. Received: {received}"
    )


def _check_same_shape(texts: Any, pairs: Any) -> None:
    if not texts.shape.is_compatible_with(pairs.shape):
        raise ValueError(
            "`pairs` must have the shape of `texts`. "
            f"Received: {pairs.shape} pairs and {texts.shape} texts"
        )
    if not (texts.shape.is_fully_defined() and pairs.shape.is_fully_defined()):
        tf.debugging.assert_equal(
            tf.shape(texts), tf.shape(pairs), "`pairs` must have the shape of `texts`."
        )


def _sentences(sentences: Any) -> Any:
    dtype, rank = getattr(sentences, "dtype", None), sentences.shape.rank
    if dtype == tf.string and not isinstance(sentences, tf.SparseTensor):
        if rank == 2 and isinstance(sentences, tf.Tensor):
            return tf.RaggedTensor.from_tensor(sentences)
        if rank == 2 and sentences.ragged_rank == 1:
            return sentences
        if rank == 1:
            return sentences
    raise ValueError(
        "`sentences` must be a tf.string tensor of rank 1 or 2, dense or ragged. "
        f"Received: a {type(sentences).__name__} of dtype {dtype} and rank {rank}"
    )


def _at(values: Any, indices: Any) -> Any:
    """Returns the values at indices; at one out of range, the first or last."""
    return tf.gather(values, tf.clip_by_value(indices, 0, tf.size(values) - 1))


def _rows(ids: Any) -> tuple[Any, Any]:
    """Returns where the rows start and how long they are, int32 `(batch,)`."""
    splits = tf.cast(ids.row_splits, "int32")
    return splits[:-1], splits[1:] - splits[:-1]


def _longest_first(first: Any, second: Any, room: int) -> tuple[Any, Any]:
    """Shortens the longer text of each pair, then both, as Hugging Face does."""
    shorter = tf.minimum(tf.minimum(first, second), room // 2)
    longer = tf.minimum(tf.maximum(first, second), room - shorter)
    swapped = first > second
    return tf.where(swapped, longer, shorter), tf.where(swapped, shorter, longer)

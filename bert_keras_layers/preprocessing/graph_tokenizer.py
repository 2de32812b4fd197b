"""The engine in the graph: string tensors -> what an encoder takes."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from bert_keras_layers.preprocessing import vocabulary as special
from bert_keras_layers.preprocessing.graph_wordpiece import GraphWordpiece
from bert_keras_layers.preprocessing.padding import Padding


class GraphTokenizer:
    """Tokenizes string tensors, eager or symbolic, as `RustTokenizer` does.

    It holds constants only, so a function that calls it can be exported.

    Args:
        vocabulary: The tokens, checked; the position of a token is its id.
        lowercase: Whether to lowercase and to strip accents.
        sequence_length: Tokens to keep of a text or pair, special ones
            included; `None` keeps all.
        padding: The width of a batch.
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        lowercase: bool,
        sequence_length: int | None,
        padding: Padding,
    ) -> None:
        self._wordpiece = GraphWordpiece(vocabulary, lowercase)
        self._pad_id = vocabulary.index(special.PAD)
        self._start_id = vocabulary.index(special.START)
        self._end_id = vocabulary.index(special.END)
        self._sequence_length = sequence_length
        self._padding = padding
        # Outside of a graph, a traced call is several times faster than single ops.
        self._traced = tf.function(self._batch, reduce_retracing=True)

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

    def _batch(self, texts: Any, pairs: Any) -> dict[str, Any]:
        if pairs is None:
            return self._singles(self._wordpiece(texts))
        return self._pairs(self._wordpiece(tf.concat([texts, pairs], axis=0)))

    def _singles(self, ids: Any) -> dict[str, Any]:
        starts, lengths = _rows(ids)
        if self._sequence_length is not None:
            lengths = tf.minimum(lengths, self._sequence_length - 2)
        # A second text of length -1 takes the place of the second [SEP].
        nothing = tf.zeros_like(lengths)
        return self._padded(ids.values, (starts, nothing), (lengths, nothing - 1))

    def _pairs(self, ids: Any) -> dict[str, Any]:
        starts, lengths = _rows(ids)
        first, second = tf.split(lengths, 2)
        if self._sequence_length is not None:
            first, second = _longest_first(first, second, self._sequence_length - 3)
        return self._padded(ids.values, tf.split(starts, 2), (first, second))

    def _padded(self, values: Any, starts: Any, lengths: Any) -> dict[str, Any]:
        """Returns `[CLS] first [SEP] second [SEP]`, `(batch, width)`.

        Args:
            values: The ids of all texts, `(pieces,)`.
            starts: Where first and second texts start in them, `(batch,)` each.
            lengths: How many ids of first and second texts to keep.
        """
        first_start, second_start = (start[:, tf.newaxis] for start in starts)
        middle = lengths[0][:, tf.newaxis] + 1  # (batch, 1), the first [SEP].
        last = middle + lengths[1][:, tf.newaxis] + 1
        position = tf.range(self._width(last))[tf.newaxis]  # (1, width)
        second = position > middle
        source = tf.where(
            second, second_start + position - middle - 1, first_start + position - 1
        )
        end = tf.size(values)
        ids = tf.gather(
            tf.concat([values, [self._pad_id]], axis=0),
            tf.clip_by_value(source, 0, end),
        )
        ids = tf.where(position == 0, self._start_id, ids)
        ids = tf.where((position == middle) | (position == last), self._end_id, ids)
        mask = position <= last
        return {
            "input_ids": tf.where(mask, ids, self._pad_id),
            "attention_mask": tf.cast(mask, "int32"),
            "token_type_ids": tf.cast(mask & second, "int32"),
        }

    def _width(self, last: Any) -> Any:
        padding = self._padding
        if padding.floor == padding.ceiling:
            return padding.ceiling  # A number, so that the static shape has it.
        # Not `reduce_max(last)`: of an empty batch that is the smallest integer.
        longest = tf.reduce_max(tf.concat([[0], last[:, 0] + 1], axis=0))
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

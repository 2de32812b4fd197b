"""Word pooling: token vectors -> one vector per word, in the graph."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import keras
from keras import ops

from bert_keras_layers.layers.masked_layer import MaskedLayer
from bert_keras_layers.layers.token_mask import check_token_vectors, kept_tokens
from bert_keras_layers.types import Shape, Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class WordPooling(MaskedLayer):
    """Pools the vectors of sub-tokens into one vector per word.

    To which word a token belongs is given as numbers, such as
    `BertPreprocessor.words` returns. A word without a token pools to zeros. Shapes
    depend on shapes only, so that XLA compiles the layer once.

    Args:
        mode: `"first"` or `"last"`: the vector of the first or last token of the
            word. `"mean"`, `"max"`: over its tokens.
        max_words: Words per text in the output; words numbered beyond are left
            out. None for as many as there are tokens, which leaves out none that
            `BertPreprocessor.words` numbers.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        inputs: A list of float token vectors `(batch, tokens, width)` and integer
            word ids `(batch, tokens)`: the number of the word in its text, from 0,
            and -1 for a token of no word, such as [CLS], [SEP] and padding. The
            tokens of a word need not be neighbours.
        mask: Optional tensor `(batch, tokens)`, or a list of it and None; tokens
            at zero or False are left out too.

    Output shape:
        `(batch, words, width)`. The mask becomes one of words, `(batch, words)`:
        True where a word has a token. Keras makes it from the word ids and from
        the mask that the token vectors carry.

    Raises:
        ValueError: If an argument, a shape or the dtype of the ids is another.

    Example:
    >>> import numpy as np
    >>> from keras import ops
    >>> from bert_keras_layers import WordPooling
    >>> tokens = np.array([[[9.0], [1.0], [2.0], [4.0], [9.0]]], "float32")
    >>> word_ids = np.array([[-1, 0, 1, 1, -1]])
    >>> pool = WordPooling("mean", max_words=3)
    >>> ops.convert_to_numpy(pool([tokens, word_ids]))[0, :, 0]
    array([1., 3., 0.], dtype=float32)
    >>> ops.convert_to_numpy(pool.compute_mask([tokens, word_ids]))
    array([[ True,  True, False]])
    """

    def __init__(
        self, mode: str = "first", max_words: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        if mode not in _POOLERS:
            raise ValueError(
                f"`mode` must be one of {sorted(_POOLERS)}. Received: mode={mode!r}"
            )
        if max_words is not None and (
            not isinstance(max_words, Integral) or max_words < 1
        ):
            raise ValueError(
                "`max_words` must be None or a positive integer. "
                f"Received: max_words={max_words!r}"
            )
        self.mode = mode
        self.max_words = None if max_words is None else int(max_words)
        self.supports_masking = True

    def build(self, input_shape: Sequence[Shape]) -> None:
        if len(input_shape) != 2 or not all(
            isinstance(shape, list | tuple) for shape in input_shape
        ):
            raise ValueError(
                "`inputs` must be a list of token vectors and word ids. "
                f"Received: shape {input_shape}"
            )
        tokens, word_ids = map(tuple, input_shape)
        check_token_vectors(tokens)
        if len(word_ids) != 2 or any(
            None not in sizes and sizes[0] != sizes[1]
            for sizes in zip(word_ids, tokens[:2], strict=True)
        ):
            raise ValueError(
                f"Word ids must have the shape (batch, tokens), here {tokens[:2]}. "
                f"Received: shape {word_ids}"
            )

    def call(self, inputs: Sequence[Tensor], mask: Any = None) -> Tensor:
        tokens, ids = inputs[0], _checked_ids(inputs[1])
        batch, length = ops.shape(tokens)[:2]
        words, width = self.max_words or length, tokens.shape[2]
        kept = ops.logical_and(kept_tokens(tokens, _of_tokens(mask)), ids >= 0)
        kept = ops.logical_and(kept, ids < words)
        # Half precision rounds long sums; what is left out may even be NaN.
        tokens = ops.where(ops.expand_dims(kept, -1), ops.cast(tokens, "float32"), 0.0)
        # Every text has a place for each of its words, and one for all other tokens.
        row = ops.expand_dims(ops.arange(batch, dtype="int32"), 1)
        places = row * (words + 1) + ops.where(kept, ids, words)  # (batch, tokens)
        pooled = _POOLERS[self.mode](
            ops.reshape(tokens, (batch * length, width)),
            ops.reshape(places, (batch * length,)),
            batch * (words + 1),
        )
        pooled = ops.reshape(pooled, (batch, words + 1, width))[:, :words]
        has_token = ops.expand_dims(self.compute_mask(inputs, mask), -1)
        return ops.cast(ops.where(has_token, pooled, 0.0), self.compute_dtype)

    def compute_mask(self, inputs: Sequence[Tensor], mask: Any = None) -> Tensor:
        # Keras makes this a part of functional models, where sizes may be open.
        ids, mask = _checked_ids(inputs[1]), _of_tokens(mask)
        if self.max_words is None:
            numbers = ops.cumsum(ops.ones_like(ids), axis=1) - 1
        else:
            numbers = ops.expand_dims(ops.arange(self.max_words, dtype="int32"), 0)
        member = ops.equal(ops.expand_dims(ids, 1), ops.expand_dims(numbers, 2))
        if mask is not None:
            kept = ops.expand_dims(ops.cast(mask, "bool"), 1)
            member = ops.logical_and(member, kept)  # (batch, words, tokens)
        return ops.any(member, axis=2)

    def compute_output_shape(self, input_shape: Sequence[Shape]) -> Shape:
        batch, tokens, width = input_shape[0]
        return (batch, self.max_words or tokens, width)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "mode": self.mode,
            "max_words": self.max_words,
        }


def _checked_ids(ids: Tensor) -> Tensor:
    ids = ids if isinstance(ids, keras.KerasTensor) else ops.convert_to_tensor(ids)
    dtype = keras.backend.standardize_dtype(ids.dtype)
    if "int" not in dtype:
        raise ValueError(f"Word ids must be integers. Received: dtype {dtype}")
    return ops.cast(ids, "int32")


def _of_tokens(mask: Any) -> Any:
    # Keras collects the masks of a list of inputs in a list.
    return mask[0] if isinstance(mask, list | tuple) else mask


def _last(tokens: Tensor, places: Tensor, count: Any) -> Tensor:
    order = ops.arange(ops.shape(places)[0], dtype="int32")
    return _picked(tokens, ops.segment_max(order, places, num_segments=count))


def _first(tokens: Tensor, places: Tensor, count: Any) -> Tensor:
    order = ops.arange(ops.shape(places)[0], dtype="int32")
    return _picked(tokens, -ops.segment_max(-order, places, num_segments=count))


def _picked(tokens: Tensor, indices: Tensor) -> Tensor:
    # Where a place has no token, the index means nothing: any valid one will do.
    return ops.take(tokens, ops.clip(indices, 0, ops.shape(tokens)[0] - 1), axis=0)


def _mean(tokens: Tensor, places: Tensor, count: Any) -> Tensor:
    ones = ops.ones_like(tokens[:, :1])
    number = ops.segment_sum(ones, places, num_segments=count)
    sums = ops.segment_sum(tokens, places, num_segments=count)
    return sums / ops.maximum(number, 1.0)


def _max(tokens: Tensor, places: Tensor, count: Any) -> Tensor:
    return ops.segment_max(tokens, places, num_segments=count)


_POOLERS = {"first": _first, "last": _last, "max": _max, "mean": _mean}

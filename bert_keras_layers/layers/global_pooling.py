"""Pooling: token vectors -> one vector per text, padding ignored."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from bert_keras_layers.layers.masked_layer import MaskedLayer
from bert_keras_layers.layers.token_mask import (
    check_token_vectors,
    first_kept,
    kept_tokens,
    last_kept,
)
from bert_keras_layers.types import Shape, Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class GlobalPooling(MaskedLayer):
    """Pools token vectors into one vector per text, ignoring padding.

    A text pools to zeros where no token is left, in every mode.

    `special_tokens=False` leaves [CLS] and [SEP] out of every mode but `"cls"`.
    From the mask alone, these are the first and the last kept token of a text:
    exact for single texts and for windows of them, but the [SEP] in the middle of
    a pair stays. With `special_tokens_mask`, they are what that marks, and
    nothing else: exact for pairs, and for [MASK] or special tokens of your own.

    Args:
        mode: One of the following, or a sequence of them, whose results are
            concatenated in that order. `"cls"`: the first kept token. `"last"`:
            the last one. `"mean"`, `"sum"`, `"max"`, `"min"`: of the kept tokens.
            `"mean_sqrt_length"`: their sum divided by the root of their number.
        special_tokens: Whether [CLS] and [SEP] count as kept tokens.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        inputs: Float tensor `(batch, tokens, width)`.
        mask: Optional tensor `(batch, tokens)`; zero or False marks padding.
        special_tokens_mask: Optional tensor `(batch, tokens)`, nonzero or True at
            special tokens, as Hugging Face's tokenizers return it; or made of ids
            in a functional model: `ops.logical_or(ops.equal(ids, 101),
            ops.equal(ids, 102))`, which unlike `ops.isin` outlives saving.
        inputs_mask: Set by Keras, to the mask of `inputs`.

    Output shape:
        `(batch, modes * width)`. The mask stops here.

    Raises:
        ValueError: If a mode is unknown, there is none, the rank is not 3, a mask
            has another shape, or there is a `special_tokens_mask` although
            special tokens count.

    Example:
    >>> import numpy as np
    >>> from keras import ops
    >>> from bert_keras_layers import GlobalPooling
    >>> hidden = np.array([[[1.0], [3.0], [5.0], [99.0]]], "float32")
    >>> mask = np.array([[1, 1, 1, 0]])
    >>> ops.convert_to_numpy(GlobalPooling(["mean", "max"])(hidden, mask=mask))
    array([[3., 5.]], dtype=float32)
    >>> words = GlobalPooling(["cls", "max"], special_tokens=False)
    >>> ops.convert_to_numpy(words(hidden, mask=mask))
    array([[1., 3.]], dtype=float32)

    Reference:
        `mean_sqrt_length`: [Reimers and Gurevych,
        2019](https://github.com/UKPLab/sentence-transformers).
    """

    def __init__(
        self,
        mode: str | Sequence[str] = "mean",
        special_tokens: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.modes = [mode] if isinstance(mode, str) else [*(mode or ())]
        if not self.modes or not set(self.modes) <= set(_REDUCERS):
            raise ValueError(
                f"`mode` must be one of {sorted(_REDUCERS)}, or a sequence of them. "
                f"Received: mode={mode!r}"
            )
        self.special_tokens = special_tokens
        self.supports_masking = True

    def build(self, input_shape: Shape) -> None:
        check_token_vectors(input_shape)

    def call(
        self,
        inputs: Tensor,
        mask: Tensor = None,
        special_tokens_mask: Tensor = None,
        inputs_mask: Tensor = None,
    ) -> Tensor:
        # Keras fills `mask` from the inputs of a layer only if there is one tensor.
        keep = kept_tokens(inputs, inputs_mask if mask is None else mask)
        words = self._words(inputs, keep, special_tokens_mask)
        inputs = ops.cast(inputs, "float32")  # Half precision rounds long sums.
        pooled = []
        for mode in self.modes:
            kept = ops.expand_dims(keep if mode == "cls" else words, -1)
            pooled.append(_REDUCERS[mode](inputs, kept))  # kept: (batch, tokens, 1)
        return ops.cast(ops.concatenate(pooled, axis=-1), self.compute_dtype)

    def compute_mask(self, inputs: Tensor, mask: Tensor = None) -> None:
        return None

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        batch, _, width = input_shape
        return (batch, len(self.modes) * width)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "mode": self.modes[0] if len(self.modes) == 1 else self.modes,
            "special_tokens": self.special_tokens,
        }

    def _words(self, inputs: Tensor, keep: Tensor, special: Tensor) -> Tensor:
        if self.special_tokens:
            if special is not None:
                raise ValueError(
                    "`special_tokens_mask` needs a layer that leaves them out. "
                    "Received: special_tokens=True; make it special_tokens=False"
                )
            return keep
        if special is None:
            special = ops.logical_or(first_kept(keep), last_kept(keep))
        else:
            special = kept_tokens(inputs, special, "special_tokens_mask")
        return ops.logical_and(keep, ops.logical_not(special))


def _sum(inputs: Tensor, keep: Tensor) -> Tensor:
    return ops.sum(ops.where(keep, inputs, 0.0), axis=1)


def _count(keep: Tensor) -> Tensor:
    return ops.maximum(ops.sum(ops.cast(keep, "float32"), axis=1), 1.0)


def _first(inputs: Tensor, keep: Tensor) -> Tensor:
    return _sum(inputs, first_kept(keep))


def _last(inputs: Tensor, keep: Tensor) -> Tensor:
    return _sum(inputs, last_kept(keep))


def _mean(inputs: Tensor, keep: Tensor) -> Tensor:
    return _sum(inputs, keep) / _count(keep)


def _mean_sqrt_length(inputs: Tensor, keep: Tensor) -> Tensor:
    return _sum(inputs, keep) / ops.sqrt(_count(keep))


def _max(inputs: Tensor, keep: Tensor) -> Tensor:
    largest = ops.max(ops.where(keep, inputs, -3e38), axis=1)
    return ops.where(ops.any(keep, axis=1), largest, 0.0)


def _min(inputs: Tensor, keep: Tensor) -> Tensor:
    smallest = ops.min(ops.where(keep, inputs, 3e38), axis=1)
    return ops.where(ops.any(keep, axis=1), smallest, 0.0)


_REDUCERS = {
    "cls": _first,
    "last": _last,
    "max": _max,
    "mean": _mean,
    "mean_sqrt_length": _mean_sqrt_length,
    "min": _min,
    "sum": _sum,
}

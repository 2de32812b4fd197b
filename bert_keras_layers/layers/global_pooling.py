"""Pooling: token vectors -> one vector per text, padding ignored."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from bert_keras_layers.types import Shape, Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class GlobalPooling(keras.layers.Layer):
    """Pools token vectors into one vector per text, ignoring padding.

    A text with no kept token pools to zeros in every mode.

    Args:
        mode: `"cls"` (the first token), `"mean"` or `"max"`; or a sequence of
            them, whose results are concatenated in that order.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        inputs: Float tensor `(batch, tokens, width)`.
        mask: Optional tensor `(batch, tokens)`; zero or False marks padding.

    Output shape:
        `(batch, modes * width)`. The mask stops here.

    Raises:
        ValueError: If a mode is unknown, there is none, or the rank is not 3.

    Example:
    >>> import numpy as np
    >>> from keras import ops
    >>> from bert_keras_layers import GlobalPooling
    >>> hidden = np.array([[[1.0], [3.0], [99.0]]], "float32")
    >>> pooled = GlobalPooling(["mean", "max"])(hidden, mask=np.array([[1, 1, 0]]))
    >>> ops.convert_to_numpy(pooled)
    array([[2., 3.]], dtype=float32)
    """

    def __init__(self, mode: str | Sequence[str] = "mean", **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.modes = [mode] if isinstance(mode, str) else [*mode]
        if not self.modes or not set(self.modes) <= set(_REDUCERS):
            raise ValueError(
                f"`mode` must be one of {sorted(_REDUCERS)}, or a sequence of them. "
                f"Received: mode={mode!r}"
            )
        self.supports_masking = True

    def build(self, input_shape: Shape) -> None:
        if len(input_shape) != 3:
            raise ValueError(
                "`inputs` must have the shape (batch, tokens, width). "
                f"Received: shape {tuple(input_shape)}"
            )

    def call(self, inputs: Tensor, mask: Tensor = None) -> Tensor:
        if mask is None:
            mask = ops.ones(ops.shape(inputs)[:2], "bool")
        keep = ops.cast(ops.expand_dims(mask, -1), "bool")  # (batch, tokens, 1)
        pooled = [_REDUCERS[mode](inputs, keep) for mode in self.modes]
        # A mask may drop every token of a text, and the first one too.
        pooled = ops.where(ops.any(keep, axis=1), ops.concatenate(pooled, -1), 0.0)
        return ops.cast(pooled, self.compute_dtype)

    def compute_mask(self, inputs: Tensor, mask: Tensor = None) -> None:
        return None

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        batch, _, width = input_shape
        return (batch, len(self.modes) * width)

    def get_config(self) -> dict[str, Any]:
        mode = self.modes[0] if len(self.modes) == 1 else self.modes
        return {**super().get_config(), "mode": mode}


def _first(inputs: Tensor, keep: Tensor) -> Tensor:
    return ops.cast(inputs[:, 0], "float32")


def _mean(inputs: Tensor, keep: Tensor) -> Tensor:
    # In float32: half precision rounds long sums, and cannot hold a tiny
    # divisor such as 1e-9, so an all-padding row would divide by zero.
    total = ops.sum(ops.where(keep, ops.cast(inputs, "float32"), 0.0), axis=1)
    count = ops.sum(ops.cast(keep, "float32"), axis=1)
    return total / ops.maximum(count, 1.0)


def _max(inputs: Tensor, keep: Tensor) -> Tensor:
    # Not minus infinity: where nothing is kept, gradients would become NaN.
    lowest = ops.where(keep, ops.cast(inputs, "float32"), -3e38)
    return ops.max(lowest, axis=1)


_REDUCERS = {"cls": _first, "mean": _mean, "max": _max}

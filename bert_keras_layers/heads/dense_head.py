"""Dense head: a vector -> scores, through dropout and dense layers."""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import keras

from bert_keras_layers.layers.masked_layer import MaskedLayer
from bert_keras_layers.types import Shape, Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class DenseHead(MaskedLayer):
    """Dropout and a dense layer, as often as there are hidden units, and once more.

    Args:
        units: Size of the output; a positive integer.
        activation: Of the output, as in `keras.layers.Dense`; None for logits.
        hidden_units: Sizes of dense layers before the output, none by default.
        hidden_activation: Their activation.
        dropout: Share of inputs to drop before each dense layer when training,
            in `[0, 1)`.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name` and `dtype`.

    Call arguments:
        inputs: Float tensor `(..., width)`.
        training: Whether dropout is on.

    Output shape:
        `(..., units)`. The mask passes through.

    Raises:
        ValueError: If a size is not a positive integer, or dropout out of range.

    Example:
    >>> import numpy as np
    >>> from bert_keras_layers import DenseHead
    >>> head = DenseHead(3, activation="softmax", hidden_units=[16])
    >>> tuple(head(np.zeros((2, 8))).shape)
    (2, 3)
    """

    def __init__(
        self,
        units: int,
        activation: str | Callable[[Tensor], Tensor] | None = None,
        hidden_units: Sequence[int] = (),
        hidden_activation: str | Callable[[Tensor], Tensor] = "relu",
        dropout: float = 0.1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        for size in (units, *hidden_units):
            if not isinstance(size, Integral) or size < 1:
                raise ValueError(
                    "`units` and `hidden_units` must be positive integers. "
                    f"Received: units={units}, hidden_units={list(hidden_units)}"
                )
        if not 0 <= dropout < 1:
            raise ValueError(
                f"`dropout` must be at least 0 and below 1. Received: {dropout}"
            )
        self.units = int(units)
        self.activation = keras.activations.get(activation)
        self.hidden_units = [int(size) for size in hidden_units]
        self.hidden_activation = keras.activations.get(hidden_activation)
        self.dropout = dropout
        self.supports_masking = True
        activations = [self.hidden_activation] * len(self.hidden_units)
        self.dropouts, self.denses = [], []
        for i, (size, function) in enumerate(
            zip(
                [*self.hidden_units, self.units],
                [*activations, self.activation],
                strict=True,
            )
        ):
            policy = self.dtype_policy
            self.dropouts.append(
                keras.layers.Dropout(dropout, dtype=policy, name=f"dropout_{i}")
            )
            self.denses.append(
                keras.layers.Dense(size, function, dtype=policy, name=f"dense_{i}")
            )

    def build(self, input_shape: Shape) -> None:
        for dense in self.denses:
            dense.build(input_shape)
            input_shape = (*input_shape[:-1], dense.units)

    def call(self, inputs: Tensor, training: bool | None = None) -> Tensor:
        for dropout, dense in zip(self.dropouts, self.denses, strict=True):
            inputs = dense(dropout(inputs, training=training))
        return inputs

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        return (*input_shape[:-1], self.units)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "units": self.units,
            "activation": keras.activations.serialize(self.activation),
            "hidden_units": self.hidden_units,
            "hidden_activation": keras.activations.serialize(self.hidden_activation),
            "dropout": self.dropout,
        }

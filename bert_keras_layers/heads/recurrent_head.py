"""Recurrent head: token vectors -> scores per token, through bidirectional LSTMs."""

from collections.abc import Callable, Sequence
from typing import Any

import keras
from keras import ops

from bert_keras_layers.heads.dense_head import DenseHead
from bert_keras_layers.layers.masked_layer import MaskedLayer
from bert_keras_layers.layers.token_mask import check_token_vectors, kept_tokens
from bert_keras_layers.types import Shape, Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class RecurrentHead(MaskedLayer):
    """Bidirectional LSTMs over the tokens of a text, then a dense layer per token.

    The head that the BERT paper puts on frozen states to tag names: two layers,
    768 units. Both directions skip padding: the backward one starts at the last
    kept token. Padding itself gets what the dense layer makes of zeros.

    On GPUs, cuDNN is used where padding is on the right, as Keras decides.

    Args:
        units: Size of the output of each token; a positive integer.
        activation: Of the output, as in `keras.layers.Dense`; None for logits.
        hidden_units: Units of each bidirectional layer, in each direction; at least
            one layer.
        dropout: Share of inputs to drop before each LSTM layer and before the
            dense layer when training, in `[0, 1)`.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name` and `dtype`.

    Call arguments:
        inputs: Float tensor `(batch, tokens, width)`.
        mask: Optional tensor `(batch, tokens)`; zero or False marks padding.
        training: Whether dropout is on.

    Output shape:
        `(batch, tokens, units)`. The mask passes through.

    Raises:
        ValueError: If a size is not as described, dropout out of range, the rank
            not 3, or the mask of another shape.

    Example:
    >>> import numpy as np
    >>> from bert_keras_layers import RecurrentHead
    >>> head = RecurrentHead(5, "softmax", hidden_units=[16, 16])
    >>> mask = np.array([[1, 1, 1, 0]])
    >>> tuple(head(np.zeros((1, 4, 8), "float32"), mask=mask).shape)
    (1, 4, 5)

    Reference:
        [Devlin et al., 2019](https://arxiv.org/abs/1810.04805), section 5.3.
    """

    def __init__(
        self,
        units: int,
        activation: str | Callable[[Tensor], Tensor] | None = None,
        hidden_units: Sequence[int] = (768, 768),
        dropout: float = 0.1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        # Also checks the sizes and dropout.
        DenseHead(units, hidden_units=hidden_units, dropout=dropout)
        if not hidden_units:
            raise ValueError(
                "`hidden_units` must be the units of at least one LSTM layer. "
                f"Received: hidden_units={list(hidden_units)}"
            )
        self.hidden_units = [int(size) for size in hidden_units]
        self.dropout = dropout
        self.supports_masking = True
        policy = self.dtype_policy
        self.dropouts, self.recurrent_layers = [], []
        for i, size in enumerate(self.hidden_units):
            lstm = keras.layers.LSTM(
                size, return_sequences=True, dtype=policy, name="lstm"
            )
            self.dropouts.append(
                keras.layers.Dropout(dropout, dtype=policy, name=f"dropout_{i}")
            )
            self.recurrent_layers.append(
                keras.layers.Bidirectional(
                    lstm, dtype=policy, name=f"bidirectional_{i}"
                )
            )
        self.output_head = DenseHead(
            units, activation, dropout=dropout, dtype=policy, name="output_head"
        )

    def build(self, input_shape: Shape) -> None:
        check_token_vectors(input_shape)
        for size, recurrent in zip(
            self.hidden_units, self.recurrent_layers, strict=True
        ):
            recurrent.build(input_shape)
            input_shape = (*input_shape[:-1], 2 * size)
        self.output_head.build(input_shape)

    def call(
        self, inputs: Tensor, mask: Tensor = None, training: bool | None = None
    ) -> Tensor:
        if mask is not None:
            mask = kept_tokens(inputs, mask)
            # Zero times what stands in padding may be NaN, here and in gradients.
            inputs = ops.where(mask[..., None], inputs, 0.0)
        for dropout, recurrent in zip(
            self.dropouts, self.recurrent_layers, strict=True
        ):
            inputs = dropout(inputs, training=training)
            inputs = recurrent(inputs, mask=mask, training=training)
        return self.output_head(inputs, training=training)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        return (*input_shape[:-1], self.output_head.units)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "units": self.output_head.units,
            "activation": keras.activations.serialize(self.output_head.activation),
            "hidden_units": self.hidden_units,
            "dropout": self.dropout,
        }

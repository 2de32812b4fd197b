"""Concatenation: hidden states of some BERT layers -> one wider tensor."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from bert_keras_layers.layers.layer_choice import checked_layers, choose_layers
from bert_keras_layers.types import Shape, Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class LayerConcat(keras.layers.Layer):
    """Concatenates the hidden states of the chosen layers, token by token.

    The last four layers are the best feature-based choice of the BERT paper.

    Args:
        layers: An int n for the last n hidden states; a sequence for exactly
            these in this order, 0 being the embedding output and negatives
            counting from the end; None for all.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        hidden_states: List of float tensors, each `(batch, tokens, width)`.
        mask: Optional `(batch, tokens)`, or one per hidden state.

    Output shape:
        `(batch, tokens, chosen layers * width)`. The mask passes through.

    Raises:
        ValueError: If a layer is out of range or the states differ in shape.

    Example:
    >>> import numpy as np
    >>> from bert_keras_layers import LayerConcat
    >>> states = [np.full((1, 1, 2), float(i)) for i in range(4)]
    >>> tuple(LayerConcat(layers=[0, -1])(states).shape)
    (1, 1, 4)

    Reference:
        [Devlin et al., 2019](https://arxiv.org/abs/1810.04805), table 7.
    """

    def __init__(self, layers: int | Sequence[int] | None = 4, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.layers = checked_layers(layers)
        self.supports_masking = True

    def build(self, input_shape: Sequence[Shape]) -> None:
        if not isinstance(input_shape, list | tuple) or not all(
            isinstance(shape, list | tuple) for shape in input_shape
        ):
            raise ValueError(
                "`hidden_states` must be a list of tensors, such as "
                '`encoder(inputs)["hidden_states"]`. '
                f"Received: one of shape {input_shape}"
            )
        shapes = [tuple(shape) for shape in input_shape]
        if len(set(shapes)) != 1:
            raise ValueError(
                f"`hidden_states` must share one shape. Received shapes: {shapes}"
            )
        choose_layers(self.layers, len(shapes))

    def call(self, hidden_states: Sequence[Tensor], mask: Any = None) -> Tensor:
        chosen = choose_layers(self.layers, len(hidden_states))
        return ops.concatenate([hidden_states[layer] for layer in chosen], axis=-1)

    def compute_mask(self, hidden_states: Sequence[Tensor], mask: Any = None) -> Any:
        return mask[0] if isinstance(mask, list | tuple) else mask

    def compute_output_shape(self, input_shape: Sequence[Shape]) -> Shape:
        *batch_and_tokens, width = input_shape[0]
        return (
            *batch_and_tokens,
            len(choose_layers(self.layers, len(input_shape))) * width,
        )

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "layers": self.layers}

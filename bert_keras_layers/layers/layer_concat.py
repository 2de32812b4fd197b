"""Concatenation: hidden states of some BERT layers -> one wider tensor."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from bert_keras_layers.layers.hidden_states_layer import HiddenStatesLayer
from bert_keras_layers.types import Shape, Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class LayerConcat(HiddenStatesLayer):
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
        super().__init__(layers, **kwargs)

    def call(self, hidden_states: Sequence[Tensor], mask: Any = None) -> Tensor:
        return ops.concatenate(self.chosen(hidden_states), axis=-1)

    def compute_output_shape(self, input_shape: Sequence[Shape]) -> Shape:
        shapes = self.chosen(input_shape)
        batch, tokens, width = shapes[0]
        return (batch, tokens, len(shapes) * width)

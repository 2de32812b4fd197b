"""Stacking: hidden states of some BERT layers -> one tensor with a layer axis."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from bert_keras_layers.layers.hidden_states_layer import HiddenStatesLayer
from bert_keras_layers.types import Shape, Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class LayerStack(HiddenStatesLayer):
    """Stacks the hidden states of the chosen layers on an axis of their own.

    For what you build yourself over the layers: a convolution, an attention, a
    table of one vector per layer. The layer axis comes after the tokens, so that
    the mask still fits, `[:, :, i]` is a hidden state as it was, and a dense
    layer works on the width.

    Args:
        layers: An int n for the last n hidden states; a sequence for exactly
            these in this order, 0 being the embedding output and negatives
            counting from the end; None for all.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        hidden_states: List of float tensors, each `(batch, tokens, width)`.
        mask: Optional `(batch, tokens)`, or one per hidden state.

    Output shape:
        `(batch, tokens, chosen layers, width)`. The mask passes through.

    Raises:
        ValueError: If a layer is out of range or the states differ in shape.

    Example:
    >>> import numpy as np
    >>> from keras import ops
    >>> from bert_keras_layers import LayerStack
    >>> states = [np.full((1, 1, 2), float(i)) for i in range(4)]
    >>> ops.convert_to_numpy(LayerStack(layers=[0, -1])(states))
    array([[[[0., 0.],
             [3., 3.]]]], dtype=float32)
    """

    def __init__(self, layers: int | Sequence[int] | None = 4, **kwargs: Any) -> None:
        super().__init__(layers, **kwargs)

    def call(self, hidden_states: Sequence[Tensor], mask: Any = None) -> Tensor:
        return ops.stack(self.chosen(hidden_states), axis=2)

    def compute_output_shape(self, input_shape: Sequence[Shape]) -> Shape:
        shapes = self.chosen(input_shape)
        batch, tokens, width = shapes[0]
        return (batch, tokens, len(shapes), width)

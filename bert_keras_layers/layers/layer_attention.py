"""Layer attention: hidden states of some BERT layers -> one sum, token by token."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from bert_keras_layers.layers.attention_query import AttentionQuery
from bert_keras_layers.layers.hidden_states_layer import HiddenStatesLayer
from bert_keras_layers.layers.weighting import (
    checked_dropout,
    drop_layers,
    softmax,
    weighted_sum,
)
from bert_keras_layers.types import Shape, Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class LayerAttention(HiddenStatesLayer):
    """Sums the hidden states of the chosen layers, each token with its own weights.

    A learned query is compared with the state of each layer at a token (their dot
    product, divided by the root of its size); the softmax over the layers gives
    the weights of this token. Queries start small, so an untrained layer is
    nearly the average. With `key_size`, the query meets `tanh` of a dense layer
    on the state. (Without the `tanh`, that would be a plain query again.)

    Args:
        layers: An int n for the last n hidden states; a sequence for exactly
            these in this order, 0 being the embedding output and negatives
            counting from the end; None for all.
        key_size: Units of the dense layer; None to compare the states themselves.
        layer_dropout: Probability that a layer is left out when training, in
            `[0, 1)`; one draw per token. The other weights still sum to one.
            Where all would be left out, none is.
        return_weights: Whether to return the weights too.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        hidden_states: List of float tensors, each `(batch, tokens, width)`.
        mask: Optional `(batch, tokens)`, or one per hidden state.
        training: Whether layer dropout is on.

    Output shape:
        `(batch, tokens, width)`. With `return_weights`, a tuple of that and the
        weights `(batch, tokens, chosen layers)`. The mask passes through to both.

    Raises:
        ValueError: If a layer is out of range, the states differ in shape,
            `key_size` is no positive integer or `layer_dropout` out of range.

    Example:
    >>> import numpy as np
    >>> from bert_keras_layers import LayerAttention
    >>> states = [np.full((1, 3, 2), float(i)) for i in range(5)]
    >>> mixed, weights = LayerAttention(layers=4, return_weights=True)(states)
    >>> tuple(mixed.shape), tuple(weights.shape)
    ((1, 3, 2), (1, 3, 4))

    Reference:
        [Yang et al., 2016](https://aclanthology.org/N16-1174/), equations 5 to 7,
        over layers instead of words.
    """

    def __init__(
        self,
        layers: int | Sequence[int] | None = 4,
        key_size: int | None = None,
        layer_dropout: float = 0.0,
        return_weights: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(layers, **kwargs)
        self.query = AttentionQuery(1, key_size, dtype=self.dtype_policy, name="query")
        self.layer_dropout = checked_dropout("layer_dropout", layer_dropout)
        self.return_weights = return_weights
        self.seed_generator = keras.random.SeedGenerator() if layer_dropout else None

    def build(self, input_shape: Sequence[Shape]) -> None:
        super().build(input_shape)
        self.query.build(input_shape[0])

    def call(
        self,
        hidden_states: Sequence[Tensor],
        mask: Any = None,
        training: bool | None = None,
    ) -> Any:
        states = self.chosen(hidden_states)
        scores = [self.query(state) for state in states]  # each (batch, tokens, 1)
        scores = ops.concatenate(scores, axis=-1)
        if training and self.layer_dropout:
            scores = drop_layers(scores, self.layer_dropout, self.seed_generator)
        weights = softmax(scores)  # (batch, tokens, layers), float32
        mixed = ops.cast(weighted_sum(states, weights), self.compute_dtype)
        if not self.return_weights:
            return mixed
        return mixed, ops.cast(weights, self.compute_dtype)

    def compute_mask(self, hidden_states: Sequence[Tensor], mask: Any = None) -> Any:
        mask = super().compute_mask(hidden_states, mask)
        return (mask, mask) if self.return_weights else mask

    def compute_output_shape(self, input_shape: Sequence[Shape]) -> Any:
        shapes = self.chosen(input_shape)
        mixed = tuple(shapes[0])
        return (mixed, (*mixed[:2], len(shapes))) if self.return_weights else mixed

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "key_size": self.query.key_size,
            "layer_dropout": self.layer_dropout,
            "return_weights": self.return_weights,
        }

"""Weighting: softmax, which layers it leaves out, and sums by weight."""

from collections.abc import Sequence

import keras
from keras import ops

from bert_keras_layers.types import Tensor


def checked_dropout(name: str, rate: float) -> float:
    """Returns a dropout rate, or raises a `ValueError` that names the argument."""
    if not 0 <= rate < 1:
        raise ValueError(f"`{name}` must be at least 0 and below 1. Received: {rate}")
    return rate


def softmax(scores: Tensor, axis: int = -1) -> Tensor:
    """Returns the softmax; `ops.softmax` warns where there is one score only."""
    return ops.exp(scores - ops.logsumexp(scores, axis=axis, keepdims=True))


def drop_layers(
    logits: Tensor, layer_dropout: float, seed: keras.random.SeedGenerator
) -> Tensor:
    """Returns logits of which some are so low that a softmax leaves them out.

    The weights of the layers that stay then still sum to one. Where all layers
    would be dropped, all stay.

    Args:
        logits: float32 `(..., layers)`.
        layer_dropout: Probability that a layer is dropped, in `[0, 1)`.
        seed: Source of the draws.

    Reference:
        `ScalarMix` of [AllenNLP](https://github.com/allenai/allennlp).
    """
    logits = ops.convert_to_tensor(logits)  # Of a variable, which JAX needs.
    drawn = keras.random.dropout(ops.ones_like(logits), layer_dropout, seed=seed)
    stays = ops.greater(drawn, 0.0)
    none_stays = ops.logical_not(ops.any(stays, axis=-1, keepdims=True))
    return ops.where(ops.logical_or(stays, none_stays), logits, -3e38)


def weighted_sum(states: Sequence[Tensor], weights: Tensor) -> Tensor:
    """Returns the sum of the states times their weights, in float32.

    Args:
        states: Tensors `(batch, tokens, width)`, one per layer.
        weights: float32 `(layers,)` or `(batch, tokens, layers)`.

    Example:
    >>> import numpy as np
    >>> from keras import ops
    >>> from bert_keras_layers.layers.weighting import weighted_sum
    >>> states = [np.ones((1, 1, 2)), np.full((1, 1, 2), 10.0)]
    >>> ops.convert_to_numpy(weighted_sum(states, ops.array([0.5, 2.0])))
    array([[[20.5, 20.5]]], dtype=float32)
    """
    # State by state, not as one stack, which would copy them all in float32.
    terms = [
        ops.cast(state, "float32") * weights[..., layer, None]
        for layer, state in enumerate(states)
    ]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total

"""Mixing: hidden states of some BERT layers -> one sum, the same for all tokens."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from bert_keras_layers.layers.hidden_states_layer import HiddenStatesLayer
from bert_keras_layers.layers.weighting import (
    checked_dropout,
    drop_layers,
    softmax,
    weighted_sum,
)
from bert_keras_layers.types import Shape, Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class LayerMix(HiddenStatesLayer):
    """Sums the hidden states of the chosen layers, with learned weights.

    As in ELMo: a softmax over one learned logit per layer, times a learned scale.
    All logits start equal and the scale at one, so an untrained mix is the
    average. After training, the weights say which layers a task uses. They can
    be compared between layers if `layer_norm` is on, since states differ in size.

    Args:
        layers: An int n for the last n hidden states; a sequence for exactly
            these in this order, 0 being the embedding output and negatives
            counting from the end; None for all.
        mode: `"softmax"`, learned; or `"mean"` or `"sum"`, without weights.
        layer_norm: Whether to bring each vector to mean 0 and variance 1 first;
            without weights of its own, which would hide those of the mix.
        layer_dropout: Probability that a layer is left out when training, in
            `[0, 1)`; one draw per batch. The other weights still sum to one.
            Where all would be left out, none is.
        return_weights: Whether to return the weights too.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        hidden_states: List of float tensors, each `(batch, tokens, width)`.
        mask: Optional `(batch, tokens)`, or one per hidden state.
        training: Whether layer dropout is on.

    Output shape:
        `(batch, tokens, width)`. The mask passes through. With `return_weights`,
        a tuple of that and the weights `(batch, chosen layers)`, before the
        scale; all rows are equal, and no mask goes with them.

    Raises:
        ValueError: If a layer is out of range, the states differ in shape, the
            mode is unknown, or `layer_dropout` is out of range or goes with
            the mode `"sum"`.

    Example:
    >>> import numpy as np
    >>> from keras import ops
    >>> from bert_keras_layers import LayerMix
    >>> states = [np.full((1, 1, 2), float(i)) for i in range(4)]
    >>> mixed, weights = LayerMix(layers=[0, -1], return_weights=True)(states)
    >>> ops.convert_to_numpy(mixed), ops.convert_to_numpy(weights)
    (array([[[1.5, 1.5]]], dtype=float32), array([[0.5, 0.5]], dtype=float32))

    Reference:
        [Peters et al., 2018](https://arxiv.org/abs/1802.05365), section 3.2;
        [Devlin et al., 2019](https://arxiv.org/abs/1810.04805), table 7.
    """

    def __init__(
        self,
        layers: int | Sequence[int] | None = 4,
        mode: str = "softmax",
        layer_norm: bool = False,
        layer_dropout: float = 0.0,
        return_weights: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(layers, **kwargs)
        if mode not in _WEIGHTS:
            raise ValueError(
                f"`mode` must be one of {sorted(_WEIGHTS)}. Received: mode={mode!r}"
            )
        if layer_dropout and mode == "sum":
            raise ValueError(
                "`layer_dropout` needs weights that sum to one. "
                f'Received: mode="sum", layer_dropout={layer_dropout}'
            )
        self.mode = mode
        self.layer_norm = layer_norm
        self.layer_dropout = checked_dropout("layer_dropout", layer_dropout)
        self.return_weights = return_weights
        self.seed_generator = keras.random.SeedGenerator() if layer_dropout else None

    def build(self, input_shape: Sequence[Shape]) -> None:
        super().build(input_shape)
        if self.mode == "softmax":
            self.layer_logits = self.add_weight(
                name="layer_logits",
                shape=(len(self.chosen(input_shape)),),
                initializer="zeros",
                autocast=False,  # The softmax stays in float32.
            )
            self.scale = self.add_weight(
                name="scale", shape=(), initializer="ones", autocast=False
            )

    def call(
        self,
        hidden_states: Sequence[Tensor],
        mask: Any = None,
        training: bool | None = None,
    ) -> Any:
        states = self.chosen(hidden_states)
        if self.layer_norm:
            states = [_normalized(state) for state in states]
        learned = self.mode == "softmax"
        logits = self.layer_logits if learned else ops.zeros((len(states),), "float32")
        if training and self.layer_dropout:
            logits = drop_layers(logits, self.layer_dropout, self.seed_generator)
        weights = _WEIGHTS[self.mode](logits)  # (layers,)
        mixed = weighted_sum(states, weights)
        mixed = ops.cast(mixed * self.scale if learned else mixed, self.compute_dtype)
        if not self.return_weights:
            return mixed
        rows = (ops.shape(mixed)[0], len(states))
        return mixed, ops.cast(ops.broadcast_to(weights, rows), self.compute_dtype)

    def compute_mask(self, hidden_states: Sequence[Tensor], mask: Any = None) -> Any:
        mask = super().compute_mask(hidden_states, mask)
        return (mask, None) if self.return_weights else mask

    def compute_output_shape(self, input_shape: Sequence[Shape]) -> Any:
        shapes = self.chosen(input_shape)
        mixed = tuple(shapes[0])
        return (mixed, (mixed[0], len(shapes))) if self.return_weights else mixed

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "mode": self.mode,
            "layer_norm": self.layer_norm,
            "layer_dropout": self.layer_dropout,
            "return_weights": self.return_weights,
        }


def _normalized(state: Tensor) -> Tensor:
    return ops.layer_normalization(ops.cast(state, "float32"), epsilon=1e-6)


# Of logits `(layers,)`, all equal unless they are learned.
_WEIGHTS = {"softmax": softmax, "mean": softmax, "sum": ops.ones_like}

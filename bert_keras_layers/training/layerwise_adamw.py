"""LayerwiseAdamW: AdamW with a learning rate per part of the model."""

from collections.abc import Mapping
from typing import Any, Self

import keras
from keras import ops

from bert_keras_layers.types import Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class LayerwiseAdamW(keras.optimizers.AdamW):
    """AdamW that fine-tunes parts of a model at rates of their own.

    The learning rate, a number or a schedule, is multiplied for each weight by the
    factor of the part it belongs to, for the update and for the weight decay. (To
    scale gradients would change nothing: Adam divides by their size.) Weight decay
    leaves out biases and vectors, such as the gains of LayerNorm.

    Args:
        learning_rate: A float or a `keras.optimizers.schedules` object.
        rates: Factor by path: that of one weight, or the beginning of the paths of
            several, such as `"bert_encoder/block_0"`; the longest one counts.
            `layer_rates(encoder)` makes them. All other weights: 1.
        weight_decay: Share of a weight to subtract per step, times the rate.
        **kwargs: Arguments of `keras.optimizers.AdamW`.

    Raises:
        ValueError: If a rate is negative, or, when the weights are known, no path of
            `rates` is among theirs.

    Example:
    >>> from bert_keras_layers import (
    ...     BertEncoder, LayerwiseAdamW, TextClassifier, layer_rates)
    >>> encoder = BertEncoder(
    ...     vocabulary_size=7, hidden_size=8, num_layers=3, num_heads=2,
    ...     intermediate_size=16)
    >>> model = TextClassifier(encoder, 2)
    >>> rates = layer_rates(model.encoder, decay=0.8)
    >>> model.compile(LayerwiseAdamW(5e-5, rates), "sparse_categorical_crossentropy")

    Reference:
        [Loshchilov and Hutter, 2019](https://arxiv.org/abs/1711.05101).
    """

    def __init__(
        self,
        learning_rate: float | keras.optimizers.schedules.LearningRateSchedule = 5e-5,
        rates: Mapping[str, float] | None = None,
        weight_decay: float = 0.01,
        **kwargs: Any,
    ) -> None:
        super().__init__(learning_rate, weight_decay=weight_decay, **kwargs)
        self.rates = dict(rates or {})
        if any(rate < 0 for rate in self.rates.values()):
            raise ValueError(
                f"`rates` must be 0 or more. Received: rates={dict(self.rates)}"
            )
        self._rates_checked = False
        self._factors: tuple[float, ...] = ()
        self._decayed: tuple[bool, ...] = ()

    def build(self, variables: list[keras.Variable]) -> None:
        if self.built:
            return
        super().build(variables)
        keys = [_longest(self.rates, variable.path) for variable in variables]
        if self.rates and not self._rates_checked and not any(keys):
            raise ValueError(
                "`rates` must name parts of this model, such as "
                f"{[v.path for v in variables][:2]}. "
                f"Received: {list(self.rates)[:2]}"
            )
        self._factors = tuple(self.rates[key] if key else 1.0 for key in keys)
        self._decayed = tuple(
            len(variable.shape) > 1 and not variable.path.endswith("bias")
            for variable in variables
        )

    def update_step(
        self, gradient: Tensor, variable: Tensor, learning_rate: Tensor
    ) -> None:
        index = self._get_variable_index(variable)
        rate = ops.cast(learning_rate, variable.dtype) * self._factors[index]
        if self._decayed[index] and self._use_weight_decay(variable):
            self.assign_sub(variable, variable * (rate * self.weight_decay))
        super().update_step(gradient, variable, rate)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "rates": dict(self.rates)}

    @classmethod
    def from_config(cls, config: dict[str, Any], **kwargs: Any) -> Self:
        optimizer: Any = super().from_config(config, **kwargs)
        # The first one had its rates checked; by now, all of them may be frozen.
        optimizer._rates_checked = True
        return optimizer

    def _apply_weight_decay(self, variables: list[keras.Variable]) -> None:
        """Leaves it to `update_step`, which knows the rate of each weight."""


def _longest(rates: Mapping[str, float], path: str) -> str:
    fitting = [key for key in rates if f"{path}/".startswith(f"{key}/")]
    return max(fitting, key=len, default="")

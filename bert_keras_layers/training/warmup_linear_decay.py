"""WarmupLinearDecay: the learning rate schedule that BERT was trained with."""

from typing import Any

import keras
from keras import ops

from bert_keras_layers.types import Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class WarmupLinearDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Rises linearly to the full learning rate, then falls linearly to the end.

    The rate is 0 at step 0, `learning_rate` at step `warmup_steps` and
    `end_learning_rate` from step `total_steps` on. With a cosine instead, Keras has
    it: `keras.optimizers.schedules.CosineDecay(0.0, total_steps - warmup_steps,
    warmup_target=5e-5, warmup_steps=warmup_steps)`.

    Args:
        learning_rate: The highest.
        total_steps: Batches in all epochs: `epochs * ceil(texts / batch_size)`.
        warmup_steps: Batches to rise in; a tenth of all is usual.
        end_learning_rate: The last.

    Call arguments:
        step: Batches trained on so far.

    Raises:
        ValueError: If there are more steps to warm up than steps.

    Example:
    >>> from bert_keras_layers import WarmupLinearDecay
    >>> schedule = WarmupLinearDecay(1.0, total_steps=10, warmup_steps=2)
    >>> [round(float(schedule(step)), 2) for step in (0, 1, 2, 6, 10, 11)]
    [0.0, 0.5, 1.0, 0.5, 0.0, 0.0]

    Reference:
        [Devlin et al., 2019](https://arxiv.org/abs/1810.04805), appendix A.2.
    """

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        warmup_steps: int = 0,
        end_learning_rate: float = 0.0,
    ) -> None:
        super().__init__()
        if not 0 <= warmup_steps < total_steps:
            raise ValueError(
                "`warmup_steps` must be at least 0 and below `total_steps`. Received: "
                f"warmup_steps={warmup_steps}, total_steps={total_steps}"
            )
        self.learning_rate = learning_rate
        self.total_steps = total_steps
        self.warmup_steps = warmup_steps
        self.end_learning_rate = end_learning_rate

    def __call__(self, step: Tensor) -> Tensor:
        """Returns the learning rate at a step, float32."""
        step = ops.cast(step, "float32")
        rising = self.learning_rate * step / max(self.warmup_steps, 1)
        left = (self.total_steps - step) / (self.total_steps - self.warmup_steps)
        falling = self.end_learning_rate + (
            self.learning_rate - self.end_learning_rate
        ) * ops.maximum(left, 0.0)
        return ops.where(step < self.warmup_steps, rising, falling)

    def get_config(self) -> dict[str, Any]:
        return {
            "learning_rate": self.learning_rate,
            "total_steps": self.total_steps,
            "warmup_steps": self.warmup_steps,
            "end_learning_rate": self.end_learning_rate,
        }

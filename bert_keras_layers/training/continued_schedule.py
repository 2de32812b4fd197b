"""ContinuedSchedule: a schedule that goes on after steps were counted anew."""

from typing import Any, Self

import keras

from bert_keras_layers.types import Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class ContinuedSchedule(keras.optimizers.schedules.LearningRateSchedule):
    """Another schedule from a later step on.

    Args:
        schedule: Of `keras.optimizers.schedules`, or of this library.
        first_step: The step of `schedule` to return at step 0.

    Call arguments:
        step: Steps since `first_step`.

    Example:
    >>> from bert_keras_layers import WarmupLinearDecay
    >>> from bert_keras_layers.training.continued_schedule import ContinuedSchedule
    >>> float(ContinuedSchedule(WarmupLinearDecay(1.0, 10), first_step=5)(0))
    0.5
    """

    def __init__(
        self,
        schedule: keras.optimizers.schedules.LearningRateSchedule,
        first_step: int,
    ) -> None:
        super().__init__()
        if isinstance(schedule, ContinuedSchedule):
            first_step += schedule.first_step
            schedule = schedule.schedule
        self.schedule: Any = schedule
        self.first_step: int = first_step

    def __call__(self, step: Tensor) -> Tensor:
        """Returns the learning rate at a step."""
        return self.schedule(step + self.first_step)

    def get_config(self) -> dict[str, Any]:
        schedule = keras.saving.serialize_keras_object(self.schedule)
        return {"schedule": schedule, "first_step": self.first_step}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        schedule = keras.saving.deserialize_keras_object(config["schedule"])
        return cls(schedule, config["first_step"])

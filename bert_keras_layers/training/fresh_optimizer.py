"""Fresh optimizer: the same one, knowing no weights yet."""

from typing import Any

import keras

from bert_keras_layers.training.continued_schedule import ContinuedSchedule

# `exclude_from_weight_decay` is not part of the config that Keras writes.
_EXCLUSIONS = ("_exclude_from_weight_decay", "_exclude_from_weight_decay_pattern")


def fresh_optimizer(optimizer: Any) -> Any:
    """Returns an optimizer with the settings of another, its schedule continued.

    An optimizer is built for one list of weights. To add weights later would not do:
    Adam corrects its averages by the number of all steps, so that the first steps of
    weights that join late would be several times too large. Hence all averages, and
    the count of steps, begin anew.

    Args:
        optimizer: Of a compiled model.
    """
    config = optimizer.get_config()
    inner = getattr(optimizer, "inner_optimizer", None)
    if inner is not None:  # A LossScaleOptimizer
        return type(optimizer)(**{**config, "inner_optimizer": fresh_optimizer(inner)})
    fresh = type(optimizer).from_config(config)
    # Batches, also where gradients of several are accumulated.
    steps = int(keras.ops.convert_to_numpy(optimizer.iterations))
    steps *= optimizer.gradient_accumulation_steps or 1
    schedule = getattr(optimizer, "_learning_rate", None)
    if isinstance(schedule, keras.optimizers.schedules.LearningRateSchedule):
        fresh.learning_rate = ContinuedSchedule(schedule, steps)
    for name in _EXCLUSIONS:
        if hasattr(optimizer, name):
            setattr(fresh, name, getattr(optimizer, name))
    return fresh

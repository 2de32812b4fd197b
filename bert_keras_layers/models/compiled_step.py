"""Compiled step: a model -> the fast way to call it on one batch of ids."""

from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np


def current_step(model: keras.Model) -> Callable[[Mapping[str, np.ndarray]], Any]:
    """Returns the compiled step of a model, made once and kept with the model.

    Keras drops its own function when the model is compiled or quantized anew; then
    the step is made anew too.
    """
    model.make_predict_function()
    kept: Any = getattr(model, "_kept_step", None)
    if kept is None or kept[1] is not model.predict_function:
        kept = model._kept_step = (compiled_step(model), model.predict_function)
    step: Callable[[Mapping[str, np.ndarray]], Any] = kept[0]
    return step


def compiled_step(model: keras.Model) -> Callable[[Mapping[str, np.ndarray]], Any]:
    """Returns a function from arrays of ids to the arrays that the model returns.

    On TensorFlow it is traced once, for all shapes; `predict_on_batch` is traced
    again for each of the first few shapes and takes longer to call.

    Args:
        model: Functional model on a dict of int32 `(batch, tokens)`.
    """
    if keras.backend.backend() != "tensorflow":
        return model.predict_on_batch
    import tensorflow as tf

    signature = {
        name: tf.TensorSpec((None, None), tf.int32, name=name) for name in model.input
    }

    @tf.function(input_signature=[signature], autograph=False)
    def step(ids: Mapping[str, Any]) -> Any:
        return model(ids, training=False)

    return lambda ids: keras.tree.map_structure(lambda x: x.numpy(), step(dict(ids)))

"""Pooling choice: a mode, a layer or its config -> a pooling layer."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import keras

from bert_keras_layers.layers.global_pooling import GlobalPooling

Pooling: TypeAlias = str | Sequence[str] | keras.layers.Layer | Mapping[str, Any]
"""A mode of `GlobalPooling` or several, a layer, or one that Keras serialized."""


def pooling_layer(pooling: Pooling, **kwargs: Any) -> keras.layers.Layer:
    """Returns the layer that pools token vectors `(batch, tokens, width)`.

    Args:
        pooling: A layer is returned as it is.
        **kwargs: Arguments of `GlobalPooling`, if `pooling` is a mode or several.

    Raises:
        ValueError: If a mode is unknown.

    Example:
    >>> pooling_layer(["cls", "max"], name="pooling").modes
    ['cls', 'max']
    """
    if isinstance(pooling, Mapping):
        pooling = keras.saving.deserialize_keras_object(pooling)
    if isinstance(pooling, keras.layers.Layer):
        return pooling
    return GlobalPooling(pooling, **kwargs)

"""Base of the layers that read masks: casting an input does not lose its mask."""

from typing import Any

import keras
from keras.src.backend.common.masking import get_keras_mask, set_keras_mask


class MaskedLayer(keras.layers.Layer):
    """A layer that keeps the masks of inputs of another floating type.

    Keras 3.13 casts them to the layer's type and drops their masks, so that a float32
    layer on a bfloat16 encoder would take padding for tokens.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args, kwargs = keras.tree.map_structure(self._cast, (args, kwargs))
        return super().__call__(*args, **kwargs)

    def _cast(self, x: Any) -> Any:
        mask = get_keras_mask(x)
        if mask is None or isinstance(x, keras.KerasTensor):
            return x
        x = self.dtype_policy.convert_input(x, self.autocast, self.input_dtype)
        set_keras_mask(x, mask)
        return x

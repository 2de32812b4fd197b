"""Attention query: vectors -> how well each fits what was learned."""

from numbers import Integral
from typing import Any

import keras
from keras import ops

from bert_keras_layers.types import Shape, Tensor


class AttentionQuery(keras.layers.Layer):
    """Scores vectors by their scaled dot product with learned queries.

    Part of `LayerAttention` and `AttentionPooling`, which save its arguments.

    Args:
        num_heads: Number of queries.
        key_size: Units of a dense layer with `tanh` that makes keys of the
            vectors; None to take the vectors themselves.
        **kwargs: Arguments of `keras.layers.Layer`.

    Call arguments:
        inputs: Float tensor `(batch, tokens, width)`.

    Output shape:
        float32 `(batch, tokens, num_heads)`, whatever the compute dtype. The mask
        passes through.

    Raises:
        ValueError: If a size is not a positive integer.
    """

    def __init__(
        self, num_heads: int = 1, key_size: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        for name, size in {"num_heads": num_heads, "key_size": key_size}.items():
            is_size = isinstance(size, Integral) and size >= 1
            if not is_size and not (name == "key_size" and size is None):
                raise ValueError(
                    f"`{name}` must be a positive integer. Received: {name}={size!r}"
                )
        self.num_heads = int(num_heads)
        self.key_size = None if key_size is None else int(key_size)
        self.key = None
        if self.key_size is not None:
            self.key = keras.layers.Dense(
                self.key_size, "tanh", dtype=self.dtype_policy, name="key"
            )

    def build(self, input_shape: Shape) -> None:
        width = input_shape[-1]
        if self.key is not None:
            self.key.build(input_shape)
            width = self.key_size
        # Small, so that all vectors weigh about the same at first; not zero, so
        # that the heads differ and the keys learn.
        self.kernel = self.add_weight(
            name="kernel",
            shape=(width, self.num_heads),
            initializer=keras.initializers.TruncatedNormal(stddev=0.02),
            autocast=False,  # The scores are in float32.
        )

    def call(self, inputs: Tensor) -> Tensor:
        keys = inputs if self.key is None else self.key(inputs)
        scores = ops.matmul(ops.cast(keys, "float32"), self.kernel)
        return scores * self.kernel.shape[0] ** -0.5

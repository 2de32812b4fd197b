"""Wrapped encoders: a TensorFlow model of another library as an encoder."""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn, Self

import keras
from keras import ops

from bert_keras_layers.encoders.aliased_weights import AliasedWeights
from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.encoders.foreign_encoder import ForeignEncoder, Variables
from bert_keras_layers.types import Tensor


def require_tensorflow(name: str) -> None:
    """Raises a RuntimeError if Keras runs on another backend than TensorFlow."""
    if keras.backend.backend() != "tensorflow":
        raise RuntimeError(
            f"{name} computes with TensorFlow: set KERAS_BACKEND=tensorflow, or use "
            "BertEncoder, which loads the weights of any BERT. "
            f"Received: the backend {keras.backend.backend()}"
        )


class WrappedEncoder(Encoder):
    """Base of the encoders that compute with a foreign model; TensorFlow only.

    Args:
        foreign: The model.
        pooler: Whether to compute `pooler_output`, if the model has one.
        **kwargs: Arguments of `keras.layers.Layer`.
    """

    def __init__(self, foreign: ForeignEncoder, pooler: bool, **kwargs: Any) -> None:
        has_pooler = pooler and foreign.has_pooler
        if foreign.has_pooler and not pooler:
            foreign = foreign.shortened(foreign.sizes.num_layers)
        dtype = kwargs.pop("dtype", None) or foreign.dtype
        super().__init__(foreign.sizes, has_pooler, dtype=dtype, **kwargs)
        if self.dtype_policy.name != foreign.dtype:
            raise ValueError(
                f"The types of this model are fixed to {foreign.dtype}. "
                f"Received: dtype={self.dtype_policy.name}"
            )
        # Hidden from the tracking of TensorFlow, which would save it a second time.
        self._foreign: Callable[[], Any] = lambda: foreign

    def build(self, input_shape: Any = None) -> None:
        if self.built:
            return
        embeddings, blocks, pooler = self._foreign().variables()
        if self.embeddings is None:
            self.embeddings = self._part(embeddings, "embeddings")
            shared = {
                id(block): self._part(block, f"block_{i}")
                for i, block in reversed(list(enumerate(blocks)))
            }
            self.blocks = [shared[id(block)] for block in blocks]
        if self.has_pooler:
            self.pooler = self._part(pooler, "pooler")

    def encode(
        self, inputs: Mapping[str, Tensor], training: bool
    ) -> tuple[list[Tensor], Tensor, dict[str, list[Tensor]]]:
        integers = {name: ops.cast(x, "int32") for name, x in inputs.items()}
        states, pooled = self._foreign().encode(integers, training)
        states = [ops.cast(state, self.compute_dtype) for state in states]
        if self.has_pooler:
            pooled = ops.cast(pooled, self.compute_dtype)
        return states, pooled, {}

    def enable_lora(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuses: the foreign model computes, and knows nothing of factors.

        Raises:
            NotImplementedError: Always; says what to do.
        """
        raise NotImplementedError(
            "LoRA needs a BertEncoder: `encoder.to_native().enable_lora(...)`. "
            f"Received: a {type(self).__name__}"
        )

    def _shortened(self, num_layers: int) -> Self:
        foreign = self._foreign().shortened(num_layers)
        return type(self)(
            foreign, pooler=False, name=self.name, trainable=self.trainable
        )

    def _part(self, variables: Variables, name: str) -> AliasedWeights:
        return AliasedWeights(
            variables, name=name, trainable=self.trainable, dtype=self.dtype_policy
        )

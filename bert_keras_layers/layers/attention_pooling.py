"""Attention pooling: token vectors -> one learned average per text and head."""

from typing import Any

import keras
from keras import ops

from bert_keras_layers.layers.attention_query import AttentionQuery
from bert_keras_layers.layers.masked_layer import MaskedLayer
from bert_keras_layers.layers.token_mask import check_token_vectors, kept_tokens
from bert_keras_layers.layers.weighting import checked_dropout, softmax
from bert_keras_layers.types import Shape, Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class AttentionPooling(MaskedLayer):
    """Pools token vectors into weighted averages that it learns, ignoring padding.

    Each head has a learned query. Its dot product with each token vector, divided
    by the root of its size, goes through a softmax over the kept tokens of a text:
    these are the weights of the average. Queries start small, so an untrained head
    is nearly the mean. With `key_size`, the queries meet `tanh` of a dense layer
    on the vectors. A text with no kept token pools to zeros.

    Args:
        num_heads: Number of averages; a positive integer.
        key_size: Units of the dense layer; None to compare the vectors themselves.
        dropout: Share of the weights to drop when training, in `[0, 1)`.
        return_weights: Whether to return the weights too.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        inputs: Float tensor `(batch, tokens, width)`.
        mask: Optional tensor `(batch, tokens)`; zero or False marks padding.
        training: Whether dropout is on.

    Output shape:
        `(batch, num_heads * width)`, the averages of the heads side by side. With
        `return_weights`, a tuple of that and the weights before dropout `(batch,
        num_heads, tokens)`, which sum to one over the kept tokens and are zero at
        padding. The mask stops here.

    Raises:
        ValueError: If a size is not a positive integer, dropout out of range, the
            rank not 3, or the mask of another shape.

    Example:
    >>> import numpy as np
    >>> from bert_keras_layers import AttentionPooling
    >>> pooling = AttentionPooling(num_heads=2, return_weights=True)
    >>> pooled, weights = pooling(np.ones((1, 3, 4)), mask=np.array([[1, 1, 0]]))
    >>> tuple(pooled.shape), tuple(weights.shape)
    ((1, 8), (1, 2, 3))

    Reference:
        [Yang et al., 2016](https://aclanthology.org/N16-1174/), equations 5 to 7;
        several heads: [Lin et al., 2017](https://arxiv.org/abs/1703.03130).
    """

    def __init__(
        self,
        num_heads: int = 1,
        key_size: int | None = None,
        dropout: float = 0.0,
        return_weights: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        policy = self.dtype_policy
        self.query = AttentionQuery(num_heads, key_size, dtype=policy, name="query")
        self.dropout = checked_dropout("dropout", dropout)
        self.weights_dropout = keras.layers.Dropout(
            dropout, dtype="float32", name="weights_dropout"
        )
        self.return_weights = return_weights
        self.supports_masking = True

    def build(self, input_shape: Shape) -> None:
        check_token_vectors(input_shape)
        self.query.build(input_shape)

    def call(
        self, inputs: Tensor, mask: Tensor = None, training: bool | None = None
    ) -> Any:
        keep = kept_tokens(inputs, mask)[..., None]  # (batch, tokens, 1)
        # Zero times what stands in padding may be NaN, here and in gradients.
        inputs = ops.where(keep, inputs, 0.0)
        # Not minus infinity: where nothing is kept, the softmax would be NaN.
        scores = ops.where(keep, self.query(inputs), -3e38)  # (batch, tokens, heads)
        weights = ops.where(keep, softmax(scores, axis=1), 0.0)
        weights = ops.swapaxes(weights, 1, 2)  # (batch, heads, tokens)
        dropped = self.weights_dropout(weights, training=training)
        averages = ops.matmul(dropped, ops.cast(inputs, "float32"))
        width = self.query.num_heads * inputs.shape[-1]
        pooled = ops.cast(ops.reshape(averages, (-1, width)), self.compute_dtype)
        if not self.return_weights:
            return pooled
        return pooled, ops.cast(weights, self.compute_dtype)

    def compute_mask(self, inputs: Tensor, mask: Tensor = None) -> None:
        return None

    def compute_output_shape(self, input_shape: Shape) -> Any:
        batch, tokens, width = input_shape
        pooled = (batch, self.query.num_heads * width)
        if not self.return_weights:
            return pooled
        return pooled, (batch, self.query.num_heads, tokens)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_heads": self.query.num_heads,
            "key_size": self.query.key_size,
            "dropout": self.dropout,
            "return_weights": self.return_weights,
        }

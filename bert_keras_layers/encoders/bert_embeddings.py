"""Embeddings: token ids -> hidden state 0."""

from typing import Any

import keras
from keras import ops

from bert_keras_layers.encoders.bert_architecture import BertArchitecture
from bert_keras_layers.types import Shape, Tensor


class BertEmbeddings(keras.layers.Layer):
    """Sums word, position and token type embeddings, then LayerNorm and dropout.

    Args:
        architecture: Sizes; part of a `BertEncoder`, which saves them.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        input_ids: Integers `(batch, tokens)`.
        token_type_ids: Integers `(batch, tokens)`, or None for zeros.

    Output shape:
        `(batch, tokens, width)`.
    """

    def __init__(self, architecture: BertArchitecture, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.architecture = architecture
        rows = {
            "word": architecture.vocabulary_size,
            "position": architecture.max_positions,
            "token_type": architecture.type_vocabulary_size,
        }
        self.word, self.position, self.token_type = (
            keras.layers.Embedding(
                size,
                architecture.hidden_size,
                keras.initializers.TruncatedNormal(stddev=0.02),
                dtype=self.dtype_policy,
                name=name,
            )
            for name, size in rows.items()
        )
        self.layer_norm = keras.layers.LayerNormalization(
            epsilon=architecture.layer_norm_epsilon,
            dtype=self.dtype_policy,
            name="layer_norm",
        )
        self.dropout = keras.layers.Dropout(
            architecture.dropout, dtype=self.dtype_policy, name="dropout"
        )

    def build(self, *input_shapes: Shape) -> None:
        for table in (self.word, self.position, self.token_type):
            table.build()
        self.layer_norm.build((None, None, self.architecture.hidden_size))

    def call(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor = None,
        training: bool | None = None,
    ) -> Tensor:
        if token_type_ids is None:
            token_type_ids = ops.zeros((1, 1), "int32")
        embedded = (
            self.word(input_ids)
            + self.position(ops.arange(ops.shape(input_ids)[1]))
            + self.token_type(token_type_ids)
        )  # (batch, tokens, width)
        return self.dropout(self.layer_norm(embedded), training=training)

"""Transformer block: one hidden state -> the next."""

from collections.abc import Sequence
from typing import Any

import keras
from keras import ops

from bert_keras_layers.encoders.bert_architecture import ACTIVATIONS, BertArchitecture
from bert_keras_layers.encoders.lora_dense import LoraDense
from bert_keras_layers.encoders.lora_settings import LoraSettings
from bert_keras_layers.encoders.token_layout import PaddedLayout
from bert_keras_layers.types import Shape, Tensor


class TransformerBlock(keras.layers.Layer):
    """Self-attention and feed-forward, each with a residual and then LayerNorm.

    Query, key and value are one matrix product, in that order.

    Args:
        architecture: Sizes; part of a `BertEncoder`, which saves them.
        intermediates: Names of tensors inside the block to return as well.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        flat: The hidden state, flat: `(rows, width)`.
        layout: Tells which rows are one text.

    Output shape:
        `(rows, width)`, and the intermediates by name: `(rows, size)`, or for pairs
        of tokens `(batch, heads, queries, keys)`.
    """

    def __init__(
        self,
        architecture: BertArchitecture,
        intermediates: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.architecture = architecture
        self.intermediates = intermediates
        self.lora: LoraSettings | None = None
        self.activation = ACTIVATIONS[architecture.activation]
        width, dropout = architecture.hidden_size, architecture.dropout

        self.query_key_value = self._dense(3 * width, "query_key_value")
        self.probabilities_dropout = self._dropout(
            architecture.attention_dropout, "probabilities_dropout"
        )
        self.attention_output = self._dense(width, "attention_output")
        self.attention_dropout = self._dropout(dropout, "attention_dropout")
        self.attention_norm = self._layer_norm("attention_norm")
        self.intermediate = self._dense(architecture.intermediate_size, "intermediate")
        self.output_projection = self._dense(width, "output_projection")
        self.output_dropout = self._dropout(dropout, "output_dropout")
        self.output_norm = self._layer_norm("output_norm")

    def build(self, *input_shapes: Shape) -> None:
        state = (None, self.architecture.hidden_size)
        self.query_key_value.build(state)
        self.attention_output.build(state)
        self.attention_norm.build(state)
        self.intermediate.build(state)
        self.output_projection.build((None, self.architecture.intermediate_size))
        self.output_norm.build(state)

    def call(
        self, flat: Tensor, layout: PaddedLayout, training: bool | None = None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        mixed, inside = self._attend(flat, layout, training)
        attended = self.attention_output(mixed)
        attended = self.attention_dropout(attended, training=training)
        inside |= self._asked(attention_output=attended)
        attended = self.attention_norm(flat + attended)

        activated = self.activation(self.intermediate(attended))
        projected = self.output_projection(activated)
        projected = self.output_dropout(projected, training=training)
        summed = attended + projected
        inside |= self._asked(ffn_activation=activated, pre_norm=summed)
        return self.output_norm(summed), inside

    def enable_lora(self, settings: LoraSettings) -> None:
        """Adds factors to projections and freezes all other weights."""
        for name in settings.projections:
            getattr(self, name).enable_lora(settings.rank, lora_alpha=settings.alpha)
        self.lora = settings
        self._freeze_all_but_factors()

    def merge_lora(self) -> None:
        """Adds the factors to the weights and removes them."""
        for name in self.lora.projections if self.lora else ():
            getattr(self, name).merge_lora()
        self.lora = None
        # Twice: TensorFlow skips an attribute that has the value already.
        self.trainable = False
        self.trainable = True

    @property
    def trainable(self) -> bool:
        """Whether the weights, with LoRA the factors, are trained."""
        return keras.layers.Layer.trainable.fget(self)

    @trainable.setter
    def trainable(self, value: bool) -> None:
        keras.layers.Layer.trainable.fset(self, value)
        if self.lora is not None:
            self._freeze_all_but_factors()

    def _freeze_all_but_factors(self) -> None:
        for weight in self.weights:
            factor = weight.name.startswith("lora_kernel")
            weight.trainable = self.trainable and factor

    def _attend(
        self, flat: Tensor, layout: PaddedLayout, training: bool | None
    ) -> tuple[Tensor, dict[str, Tensor]]:
        num_heads = self.architecture.num_heads
        query, key, value = ops.unstack(
            layout.split_heads(self.query_key_value(flat), 3, num_heads), 3
        )  # each (batch, heads, tokens, size)
        query = query * (self.architecture.hidden_size // num_heads) ** -0.5
        scores = ops.matmul(query, ops.swapaxes(key, -1, -2))
        inside = self._asked(attention_scores=scores)
        # The softmax of long rows loses too much in half precision.
        scores = ops.cast(layout.mask_scores(scores), "float32")
        probabilities = ops.cast(ops.softmax(scores), self.compute_dtype)
        inside |= self._asked(attention_probabilities=probabilities)
        probabilities = self.probabilities_dropout(probabilities, training=training)
        return layout.merge_heads(ops.matmul(probabilities, value)), inside

    def _asked(self, **tensors: Tensor) -> dict[str, Tensor]:
        return {name: x for name, x in tensors.items() if name in self.intermediates}

    def _dense(self, units: int, name: str) -> LoraDense:
        return LoraDense(
            units,
            kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.02),
            dtype=self.dtype_policy,
            name=name,
        )

    def _dropout(self, rate: float, name: str) -> keras.layers.Dropout:
        return keras.layers.Dropout(rate, dtype=self.dtype_policy, name=name)

    def _layer_norm(self, name: str) -> keras.layers.LayerNormalization:
        epsilon = self.architecture.layer_norm_epsilon
        return keras.layers.LayerNormalization(
            epsilon=epsilon, dtype=self.dtype_policy, name=name
        )

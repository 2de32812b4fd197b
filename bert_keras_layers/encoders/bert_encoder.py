"""BertEncoder: token ids -> every hidden state, on any Keras backend."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Self

import keras
from keras import ops

from bert_keras_layers.encoders.bert_architecture import BertArchitecture
from bert_keras_layers.encoders.bert_embeddings import BertEmbeddings
from bert_keras_layers.encoders.bert_loading import BertLoading
from bert_keras_layers.encoders.bert_lora import BertLora
from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.encoders.encoder_sizes import EncoderSizes
from bert_keras_layers.encoders.intermediates import (
    INTERMEDIATES,
    checked_intermediates,
)
from bert_keras_layers.encoders.token_layout import PaddedLayout
from bert_keras_layers.encoders.transformer_block import TransformerBlock
from bert_keras_layers.types import Shape, Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class BertEncoder(BertLoading, BertLora, Encoder):
    """BERT as a Keras layer that returns the hidden state of every layer.

    Written in `keras.ops`: runs on the TensorFlow, JAX and torch backends. While
    `trainable` is False, it runs without dropout and without gradients; `freeze` does
    less. The defaults are the architecture of BERT-base, uncased.

    Args:
        vocabulary_size: Number of token ids.
        hidden_size: Width of every hidden state; a multiple of `num_heads`.
        num_layers: Number of transformer blocks, L; 0 or more.
        num_heads: Attention heads of a block.
        intermediate_size: Width of the feed-forward layer of a block.
        activation: Of the feed-forward layer: `"gelu"` (with erf), `"gelu_new"`
            (with tanh) or `"relu"`, named as Hugging Face does.
        dropout: Share of units to drop when training, in `[0, 1)`.
        attention_dropout: The same for attention probabilities.
        max_positions: Longest text, in tokens.
        type_vocabulary_size: Number of token type ids.
        layer_norm_epsilon: Added to the variance in LayerNorm.
        pooler: Whether to compute `pooler_output`.
        intermediates: Names of tensors inside the blocks to return as well, see
            Output shape; what is not asked for costs nothing.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name` and `dtype`.

    Call arguments:
        inputs: Dict of integer tensors `(batch, tokens)`: `input_ids`,
            `attention_mask` (optional, default all ones), `token_type_ids`
            (optional, default all zeros), or under the names of TF-Hub or
            keras-hub.
        training: Whether dropout is on.

    Output shape:
        A dict. `hidden_states`: list of L + 1 tensors `(batch, tokens, width)`;
        `[0]` is the embedding output, `[i]` the output of block i. Each carries
        the attention mask as its Keras mask. `last_hidden_state`: the last of
        them. `pooler_output`: `(batch, width)`, absent if `pooler` is False.

        For each of `intermediates` a list of L tensors, `[i]` of the block whose
        output is `hidden_states[i + 1]`:

        - `attention_scores`: `(batch, heads, queries, keys)`, scaled by the root of
          the head size, before the mask is added, before softmax.
        - `attention_probabilities`: the same after mask and softmax, before
          dropout: each row sums to 1. Hugging Face's `attentions`.
        - `attention_output`: `(batch, tokens, width)`, what attention adds to the
          input of the block: after projection and dropout, before LayerNorm.
        - `ffn_activation`: `(batch, tokens, intermediate_size)`, what the
          activation of the feed-forward layer returns.
        - `pre_norm`: `(batch, tokens, width)`, the sum that the last LayerNorm of
          the block turns into its output.

        Those of shape `(batch, tokens, ...)` carry the mask too.

    Raises:
        ValueError: If sizes do not fit, or inputs are not as above.

    Example:
    >>> import numpy as np
    >>> from bert_keras_layers import BertEncoder
    >>> encoder = BertEncoder(
    ...     vocabulary_size=100, hidden_size=8, num_layers=2, num_heads=2,
    ...     intermediate_size=16)
    >>> outputs = encoder({"input_ids": np.array([[2, 45, 3]])})
    >>> [tuple(state.shape) for state in outputs["hidden_states"]]
    [(1, 3, 8), (1, 3, 8), (1, 3, 8)]

    Reference:
        [Devlin et al., 2019](https://arxiv.org/abs/1810.04805).
    """

    def __init__(
        self,
        vocabulary_size: int = 30522,
        hidden_size: int = 768,
        num_layers: int = 12,
        num_heads: int = 12,
        intermediate_size: int = 3072,
        activation: str = "gelu",
        dropout: float = 0.1,
        attention_dropout: float = 0.1,
        max_positions: int = 512,
        type_vocabulary_size: int = 2,
        layer_norm_epsilon: float = 1e-12,
        pooler: bool = True,
        intermediates: Sequence[str] = (),
        **kwargs: Any,
    ) -> None:
        architecture = BertArchitecture(
            vocabulary_size=vocabulary_size,
            hidden_size=hidden_size,
            num_layers=num_layers,
            num_heads=num_heads,
            intermediate_size=intermediate_size,
            activation=activation,
            dropout=dropout,
            attention_dropout=attention_dropout,
            max_positions=max_positions,
            type_vocabulary_size=type_vocabulary_size,
            layer_norm_epsilon=layer_norm_epsilon,
            pooler=pooler,
        )
        sizes = EncoderSizes(
            *(getattr(architecture, field) for field in EncoderSizes._fields)
        )
        super().__init__(sizes, pooler, **kwargs)
        self.architecture = architecture
        self.intermediates = checked_intermediates(intermediates)

    def build(self, input_shape: Any = None) -> None:
        if self.built:
            return
        policy = self.dtype_policy
        if self.embeddings is None:
            self.embeddings = BertEmbeddings(
                self.architecture, dtype=policy, name="embeddings"
            )
            self.blocks = [
                TransformerBlock(
                    self.architecture,
                    self.intermediates,
                    dtype=policy,
                    name=f"block_{i}",
                )
                for i in range(self.num_layers)
            ]
        if self.architecture.pooler:
            self.pooler = keras.layers.Dense(
                self.hidden_size,
                activation="tanh",
                kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.02),
                dtype=policy,
                name="pooler",
            )
        for layer in (self.embeddings, *self.blocks, self.pooler):
            if layer is not None and not layer.built:
                layer.build((None, self.hidden_size))
                # What was set before there were layers.
                layer.trainable = layer.trainable and self.trainable

    def encode(
        self, inputs: Mapping[str, Tensor], training: bool
    ) -> tuple[list[Tensor], Tensor, dict[str, list[Tensor]]]:
        embedded = self.embeddings(
            inputs["input_ids"], inputs.get("token_type_ids"), training=training
        )
        batch, tokens, _ = ops.shape(embedded)
        mask = inputs.get("attention_mask")
        layout = PaddedLayout(batch, tokens, mask, self.compute_dtype)

        states = [embedded]
        inside: dict[str, list[Tensor]] = {name: [] for name in self.intermediates}
        flat = layout.flatten(embedded)
        for block in self.blocks:
            flat, tensors = block(flat, layout=layout, training=training)
            states.append(layout.unflatten(flat))
            for name, x in tensors.items():
                inside[name].append(layout.unflatten(x) if len(x.shape) == 2 else x)
        pooled = self.pooler(states[-1][:, 0]) if self.pooler else None
        return states, pooled, inside

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            **asdict(self.architecture),
            "intermediates": list(self.intermediates),
        }

    def _intermediate_shapes(
        self, batch: int | None, tokens: int | None
    ) -> dict[str, Shape]:
        return {
            name: INTERMEDIATES[name](self.architecture, batch, tokens)
            for name in self.intermediates
        }

    def _shortened(self, num_layers: int) -> Self:
        changes = {"num_layers": num_layers, "pooler": False}
        # The parts that it will be given have these.
        config = {**self.get_config(), "frozen": [], "lora": None}
        return type(self).from_config({**config, **changes})

"""BertEncoder: token ids -> every hidden state, on any Keras backend."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import keras
from keras import ops

from bert_keras_layers.encoders import encoder_inputs
from bert_keras_layers.encoders.bert_architecture import BertArchitecture
from bert_keras_layers.encoders.bert_embeddings import BertEmbeddings
from bert_keras_layers.encoders.bert_loading import BertLoading
from bert_keras_layers.encoders.token_layout import PaddedLayout
from bert_keras_layers.encoders.transformer_block import TransformerBlock
from bert_keras_layers.types import Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class BertEncoder(BertLoading, keras.layers.Layer):
    """BERT as a Keras layer that returns the hidden state of every layer.

    Written in `keras.ops`: runs on the TensorFlow, JAX and torch backends. While
    `trainable` is False, it runs without dropout and without gradients; a `.keras`
    file keeps that flag, but not those of single blocks. The defaults are the
    architecture of BERT-base, uncased.

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
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.architecture = BertArchitecture(
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
        self.vocabulary_size, self.max_positions = vocabulary_size, max_positions
        self.hidden_size, self.num_layers = hidden_size, num_layers
        self.supports_masking = True
        # `build` makes these, unless `truncate` has put shared ones here.
        self.embeddings: Any = None
        self.blocks: list[TransformerBlock] = []
        self.pooler: Any = None

    def inputs(self) -> dict[str, keras.KerasTensor]:
        """Returns a fresh `keras.Input` `(batch, tokens)` for each input name."""
        return encoder_inputs.symbolic_inputs()

    def truncate(self, num_layers: int) -> "BertEncoder":
        """Returns an encoder of the first blocks only, sharing their weights.

        Without a pooler: that belongs on top of the last block.

        Args:
            num_layers: Blocks to keep, 0 to `self.num_layers`.

        Raises:
            ValueError: If there are not that many blocks.
        """
        if not 0 <= num_layers <= self.num_layers:
            raise ValueError(
                f"`num_layers` must be between 0 and {self.num_layers}, the blocks "
                f"of this encoder. Received: num_layers={num_layers}"
            )
        self.build()
        if num_layers == self.num_layers and self.pooler is None:
            return self
        config = {**self.get_config(), "num_layers": num_layers, "pooler": False}
        shorter = BertEncoder.from_config(config)
        shorter.embeddings = self.embeddings
        shorter.blocks = self.blocks[:num_layers]
        shorter.build()
        return shorter

    def build(self, input_shape: Any = None) -> None:
        if self.built:
            return
        policy = self.dtype_policy
        if self.embeddings is None:
            self.embeddings = BertEmbeddings(
                self.architecture, dtype=policy, name="embeddings"
            )
            self.blocks = [
                TransformerBlock(self.architecture, dtype=policy, name=f"block_{i}")
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

    def call(
        self, inputs: Mapping[str, Tensor], training: bool | None = None
    ) -> dict[str, Any]:
        inputs = encoder_inputs.standardize_inputs(inputs)
        training = bool(training) and self.trainable
        embedded = self.embeddings(
            inputs["input_ids"], inputs.get("token_type_ids"), training=training
        )
        batch, tokens, _ = ops.shape(embedded)
        mask = inputs.get("attention_mask")
        layout = PaddedLayout(batch, tokens, mask, self.compute_dtype)

        states = [embedded]
        flat = layout.flatten(embedded)
        for block in self.blocks:
            flat = block(flat, layout=layout, training=training)
            states.append(layout.unflatten(flat))
        pooled = self.pooler(states[-1][:, 0]) if self.pooler else None
        outputs = self._named(states, pooled)
        if not self.trainable:
            outputs = keras.tree.map_structure(ops.stop_gradient, outputs)
        return outputs

    def compute_mask(
        self, inputs: Mapping[str, Tensor], previous_mask: Any = None
    ) -> dict[str, Any]:
        mask = encoder_inputs.standardize_inputs(inputs).get("attention_mask")
        mask = None if mask is None else ops.cast(mask, "bool")
        return self._named([mask] * (self.num_layers + 1), None)

    def compute_output_spec(
        self, inputs: Mapping[str, Tensor], training: bool | None = None
    ) -> dict[str, Any]:
        batch, tokens = encoder_inputs.standardize_inputs(inputs)["input_ids"].shape
        width, dtype = self.hidden_size, self.compute_dtype
        states = [
            keras.KerasTensor((batch, tokens, width), dtype)
            for _ in range(self.num_layers + 1)
        ]
        return self._named(states, keras.KerasTensor((batch, width), dtype))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **asdict(self.architecture)}

    def _named(self, states: list[Any], pooled: Any) -> dict[str, Any]:
        outputs = {"hidden_states": states, "last_hidden_state": states[-1]}
        if self.architecture.pooler:
            outputs["pooler_output"] = pooled
        return outputs

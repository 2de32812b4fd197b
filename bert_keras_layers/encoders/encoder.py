"""Encoder: what every source of hidden states does, whatever computes them."""

from collections.abc import Iterator, Mapping
from typing import Any, Self

import keras
from keras import ops

from bert_keras_layers.encoders import encoder_inputs
from bert_keras_layers.encoders.encoder_sizes import EncoderSizes
from bert_keras_layers.types import Shape, Tensor


class Encoder(keras.layers.Layer):
    """Base of the encoders: inputs, masks, outputs, freezing and truncation.

    A subclass says in `encode` how states are computed and in `build` makes the
    parts, unless `truncate` has put shared ones there: the layers `embeddings`,
    `blocks` (one per block) and, if `has_pooler`, `pooler`.

    Args:
        sizes: Of the encoder.
        has_pooler: Whether to compute `pooler_output`.
        **kwargs: Arguments of `keras.layers.Layer`.
    """

    def __init__(self, sizes: EncoderSizes, has_pooler: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.sizes = sizes
        self.has_pooler = has_pooler
        self.supports_masking = True
        self.embeddings: Any = None
        self.blocks: list[Any] = []
        self.pooler: Any = None

    @property
    def num_layers(self) -> int:
        """Number of transformer blocks, L."""
        return self.sizes.num_layers

    @property
    def hidden_size(self) -> int:
        """Width of every hidden state."""
        return self.sizes.hidden_size

    @property
    def vocabulary_size(self) -> int:
        """Number of token ids."""
        return self.sizes.vocabulary_size

    @property
    def max_positions(self) -> int:
        """Longest text, in tokens."""
        return self.sizes.max_positions

    @property
    def takes_pairs(self) -> bool:
        """Whether a second text can be told from the first."""
        return self.sizes.type_vocabulary_size != 1

    def inputs(self) -> dict[str, keras.KerasTensor]:
        """Returns a fresh `keras.Input` `(batch, tokens)` for each input name."""
        return encoder_inputs.symbolic_inputs()

    def check_inputs(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Returns inputs under the library's names, checked; the original is kept.

        Args:
            inputs: Integer tensors `(batch, tokens)` under the names of any library.

        Raises:
            ValueError: If names, ranks, dtypes, lengths or, where there are values
                to look at, ids do not fit.
        """
        standard = encoder_inputs.standardize_inputs(inputs)
        encoder_inputs.check_against_sizes(standard, self.sizes)
        return standard

    def freeze(self, embeddings: bool = True, blocks: int = 0) -> None:
        """Makes the lowest parts untrainable and all others trainable.

        A `.keras` file keeps what is frozen. Dropout stays on where training goes
        on above; to switch it off, set `encoder.trainable = False`.

        Args:
            embeddings: Whether to freeze the embeddings.
            blocks: How many blocks to freeze, from the first, 0 to `num_layers`.

        Raises:
            ValueError: If there are not that many blocks, or the blocks share one
                set of weights and `blocks` is some of them.
        """
        self._check_number_of_blocks("blocks", blocks)
        self.build()
        if len(set(map(id, self.blocks))) < self.num_layers and blocks not in (
            0,
            self.num_layers,
        ):
            raise ValueError(
                "The blocks of this encoder share one set of weights: `blocks` must "
                f"be 0 or {self.num_layers}. Received: blocks={blocks}"
            )
        self.trainable = True
        frozen = {"embeddings": embeddings}
        frozen |= {f"block_{i}": i < blocks for i in range(self.num_layers)}
        for name, part in self._parts():
            part.trainable = not frozen.get(name, False)

    @property
    def trains(self) -> bool:
        """Whether any weight is trainable.

        That may differ from `trainable`: an encoder that shares the weights, such as
        the one that this was cut from, may have been frozen or unfrozen since.
        """
        weights = self.weights
        if not weights:
            return self.trainable
        return any(weight.trainable for weight in weights)

    def truncate(self, num_layers: int) -> Self:
        """Returns an encoder of the first blocks only, sharing their weights.

        Without a pooler: that belongs on top of the last block.

        Args:
            num_layers: Blocks to keep, 0 to `self.num_layers`.

        Raises:
            ValueError: If there are not that many blocks.
        """
        self._check_number_of_blocks("num_layers", num_layers)
        if num_layers == self.num_layers and not self.has_pooler:
            return self
        self.build()
        shorter = self._shortened(num_layers)
        shorter.embeddings = self.embeddings
        shorter.blocks = self.blocks[:num_layers]
        shorter.build()
        return shorter

    def encode(
        self, inputs: Mapping[str, Tensor], training: bool
    ) -> tuple[list[Tensor], Tensor, dict[str, list[Tensor]]]:
        """Returns the L + 1 hidden states, the pooler output or None, intermediates.

        Args:
            inputs: Under the library's names, checked.
            training: Whether dropout is on.
        """
        raise NotImplementedError

    def call(
        self, inputs: Mapping[str, Tensor], training: bool | None = None
    ) -> dict[str, Any]:
        inputs = self.check_inputs(inputs)
        trains = self.trains
        outputs = self._named(*self.encode(inputs, bool(training) and trains))
        if not trains:
            outputs = keras.tree.map_structure(ops.stop_gradient, outputs)
        return outputs

    def compute_mask(
        self, inputs: Mapping[str, Tensor], previous_mask: Any = None
    ) -> dict[str, Any]:
        mask = encoder_inputs.standardize_inputs(inputs).get("attention_mask")
        mask = None if mask is None else ops.cast(mask, "bool")
        masks = {
            # (batch, tokens, ...) carries the mask, (batch, heads, ...) does not.
            name: [mask if len(shape) == 3 else None] * self.num_layers
            for name, shape in self._intermediate_shapes(None, None).items()
        }
        return self._named([mask] * (self.num_layers + 1), None, masks)

    def compute_output_spec(
        self, inputs: Mapping[str, Tensor], training: bool | None = None
    ) -> dict[str, Any]:
        batch, tokens = self.check_inputs(inputs)["input_ids"].shape
        width, dtype = self.hidden_size, self.compute_dtype
        states = [
            keras.KerasTensor((batch, tokens, width), dtype)
            for _ in range(self.num_layers + 1)
        ]
        inside = {
            name: [keras.KerasTensor(shape, dtype) for _ in range(self.num_layers)]
            for name, shape in self._intermediate_shapes(batch, tokens).items()
        }
        return self._named(states, keras.KerasTensor((batch, width), dtype), inside)

    def get_config(self) -> dict[str, Any]:
        trains = self.trains
        parts = self._parts() if trains else ()
        frozen = [name for name, part in parts if not part.trainable]
        return {**super().get_config(), "trainable": trains, "frozen": frozen}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        config = dict(config)
        frozen = config.pop("frozen", [])
        encoder = cls._from_arguments(config)
        if frozen:
            encoder.build()
            for name, part in encoder._parts():
                part.trainable = name not in frozen
        return encoder

    @classmethod
    def _from_arguments(cls, arguments: dict[str, Any]) -> Self:
        return cls(**arguments)

    def _shortened(self, num_layers: int) -> Self:
        """Returns an encoder of fewer blocks that has no parts yet."""
        raise NotImplementedError

    def _parts(self) -> Iterator[tuple[str, keras.layers.Layer]]:
        if self.embeddings is not None:
            yield "embeddings", self.embeddings
            yield from ((f"block_{i}", block) for i, block in enumerate(self.blocks))
        if self.pooler is not None:
            yield "pooler", self.pooler

    def _intermediate_shapes(
        self, batch: int | None, tokens: int | None
    ) -> dict[str, Shape]:
        """Returns the shape of what a block returns by name besides its state."""
        return {}

    def _named(
        self, states: list[Any], pooled: Any, inside: dict[str, list[Any]]
    ) -> dict[str, Any]:
        outputs = {
            "hidden_states": states,
            "last_hidden_state": states[-1],
            **inside,
        }
        if self.has_pooler:
            outputs["pooler_output"] = pooled
        return outputs

    def _check_number_of_blocks(self, name: str, blocks: int) -> None:
        if not 0 <= blocks <= self.num_layers:
            raise ValueError(
                f"`{name}` must be between 0 and {self.num_layers}, the blocks of "
                f"this encoder. Received: {name}={blocks}"
            )

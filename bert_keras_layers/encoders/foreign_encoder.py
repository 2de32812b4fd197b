"""Foreign encoder: what a wrapped encoder needs to know of a model."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from bert_keras_layers.encoders.encoder_sizes import EncoderSizes
from bert_keras_layers.types import Tensor

Variables: TypeAlias = list[tuple[str, Any]]
"""Names, which need not be unique, and the `tf.Variable`s that have them."""


class ForeignEncoder(Protocol):
    """What a wrapped encoder needs to know of a foreign model."""

    sizes: EncoderSizes
    dtype: str
    has_pooler: bool

    def encode(
        self, inputs: Mapping[str, Tensor], training: bool
    ) -> tuple[Sequence[Tensor], Tensor]:
        """Returns the L + 1 hidden states and the pooler output, or None for it."""

    def variables(self) -> tuple[Variables, list[Variables], Variables]:
        """Returns those of the embeddings, of each block and of the pooler.

        Blocks that share their variables are one and the same list.
        """

    def shortened(self, num_layers: int) -> "ForeignEncoder":
        """Returns a model of the first blocks, without a pooler, same variables."""

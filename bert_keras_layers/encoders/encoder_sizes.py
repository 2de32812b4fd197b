"""Encoder sizes: what inputs must fit and outputs have, whatever the source."""

from typing import NamedTuple


class EncoderSizes(NamedTuple):
    """Sizes of an encoder.

    `num_layers`: transformer blocks, L. `hidden_size`: width of every state.
    `vocabulary_size`: token ids. `max_positions`: longest text, in tokens.
    `type_vocabulary_size`: token type ids, or None
    if the encoder does not look at them.
    """

    num_layers: int
    hidden_size: int
    vocabulary_size: int
    max_positions: int
    type_vocabulary_size: int | None

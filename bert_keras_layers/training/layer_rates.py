"""Layer rates: an encoder -> how fast each of its parts learns."""

import posixpath
from typing import Any

from bert_keras_layers.encoders.encoder import Encoder


def layer_rates(encoder: Encoder, decay: float = 0.9) -> dict[str, float]:
    """Returns the share of the learning rate for each part, lower parts less.

    The top block and the pooler learn at the full rate, each block below at `decay`
    times that of the block above, the embeddings slowest. Blocks that share one set
    of weights learn as the highest of them. For a model that cuts its encoder, take
    `model.encoder`: its top block is the highest one in use.

    Args:
        encoder: Any encoder of the library.
        decay: Above 0, at most 1.

    Returns:
        The factor by the path of the part, as `LayerwiseAdamW` takes them.

    Raises:
        ValueError: If `decay` is out of range.

    Example:
    >>> from bert_keras_layers import BertEncoder, layer_rates
    >>> encoder = BertEncoder(
    ...     vocabulary_size=100, hidden_size=8, num_layers=2, num_heads=2,
    ...     intermediate_size=16, pooler=False, name="bert")
    >>> layer_rates(encoder, decay=0.5)
    {'bert/block_1': 1.0, 'bert/block_0': 0.5, 'bert/embeddings': 0.25}

    Reference:
        [Howard and Ruder, 2018](https://arxiv.org/abs/1801.06146), discriminative
        fine-tuning; [Clark et al., 2020](https://arxiv.org/abs/2003.10555).
    """
    if not 0 < decay <= 1:
        raise ValueError(
            f"`decay` must be above 0 and at most 1. Received: decay={decay}"
        )
    encoder.build()
    top_down = [*reversed(encoder.blocks), encoder.embeddings]
    rates: dict[str, float] = {}
    if encoder.pooler is not None:
        rates[_path(encoder.pooler)] = 1.0
    for depth, part in enumerate(top_down):
        rates.setdefault(_path(part), decay**depth)
    return rates


def _path(part: Any) -> str:
    # Not the path of the layer, which does not begin those of shared weights.
    return posixpath.commonpath([weight.path for weight in part.weights])

"""Intermediates: names of the tensors inside a block, and their shapes."""

from collections.abc import Callable, Sequence

from bert_keras_layers.encoders.bert_architecture import BertArchitecture
from bert_keras_layers.types import Shape, Tensor

IntermediateShape = Callable[[BertArchitecture, Tensor, Tensor], Shape]


def _per_pair(sizes: BertArchitecture, batch: Tensor, tokens: Tensor) -> Shape:
    return (batch, sizes.num_heads, tokens, tokens)


def _per_token(sizes: BertArchitecture, batch: Tensor, tokens: Tensor) -> Shape:
    return (batch, tokens, sizes.hidden_size)


def _per_unit(sizes: BertArchitecture, batch: Tensor, tokens: Tensor) -> Shape:
    return (batch, tokens, sizes.intermediate_size)


INTERMEDIATES: dict[str, IntermediateShape] = {
    "attention_scores": _per_pair,
    "attention_probabilities": _per_pair,
    "attention_output": _per_token,
    "ffn_activation": _per_unit,
    "pre_norm": _per_token,
}
"""The shape of each intermediate for an architecture, a batch and tokens."""


def checked_intermediates(names: Sequence[str]) -> tuple[str, ...]:
    """Returns names as a tuple, each once.

    Raises:
        ValueError: If a name is unknown or given twice, or `names` is one string.
    """
    listed = [names] if isinstance(names, str) else list(names)
    unknown = isinstance(names, str) or set(listed) - set(INTERMEDIATES)
    if unknown or len(set(listed)) < len(listed):
        raise ValueError(
            f"`intermediates` must be different names among {sorted(INTERMEDIATES)}, "
            f"in a list. Received: intermediates={names!r}"
        )
    return tuple(listed)

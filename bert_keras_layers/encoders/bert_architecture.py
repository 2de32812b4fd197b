"""Architecture: the sizes of a BERT, checked once."""

from collections.abc import Callable
from dataclasses import dataclass

from keras import ops

from bert_keras_layers.types import Tensor

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": lambda x: ops.gelu(x, approximate=False),
    "gelu_new": lambda x: ops.gelu(x, approximate=True),
    "relu": ops.relu,
}
"""Feed-forward activations under their Hugging Face names."""


@dataclass(frozen=True)
class BertArchitecture:
    """Sizes and rates of a BERT; the fields are the arguments of `BertEncoder`.

    Raises:
        ValueError: If a field is out of range, or two do not fit each other.
    """

    vocabulary_size: int
    hidden_size: int
    num_layers: int
    num_heads: int
    intermediate_size: int
    activation: str
    dropout: float
    attention_dropout: float
    max_positions: int
    type_vocabulary_size: int
    layer_norm_epsilon: float
    pooler: bool

    def __post_init__(self) -> None:
        """Checks the fields."""
        least = dict.fromkeys(
            (
                "vocabulary_size",
                "hidden_size",
                "num_heads",
                "intermediate_size",
                "max_positions",
                "type_vocabulary_size",
            ),
            1,
        )
        for name, smallest in {**least, "num_layers": 0}.items():
            size = getattr(self, name)
            if not isinstance(size, int) or size < smallest:
                raise ValueError(
                    f"`{name}` must be an integer, at least {smallest}. "
                    f"Received: {name}={size!r}"
                )
        if self.hidden_size % self.num_heads:
            raise ValueError(
                "`hidden_size` must be a multiple of `num_heads`. Received: "
                f"hidden_size={self.hidden_size}, num_heads={self.num_heads}"
            )
        if self.activation not in ACTIVATIONS:
            raise ValueError(
                f"`activation` must be one of {sorted(ACTIVATIONS)}. "
                f"Received: activation={self.activation!r}"
            )
        for name in ("dropout", "attention_dropout"):
            rate = getattr(self, name)
            if not 0 <= rate < 1:
                raise ValueError(
                    f"`{name}` must be at least 0 and below 1. Received: {rate}"
                )

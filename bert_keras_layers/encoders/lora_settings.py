"""LoRA settings: which projections of a block get low-rank factors, checked once."""

from collections.abc import Sequence
from dataclasses import dataclass

PROJECTIONS = (
    "query_key_value",
    "attention_output",
    "intermediate",
    "output_projection",
)
"""The dense layers of a block, in the order of computation."""


@dataclass(frozen=True)
class LoraSettings:
    """Rank, scale and place of the factors; the arguments of `enable_lora`.

    Raises:
        ValueError: If a field is out of range.
    """

    rank: int
    alpha: float | None
    projections: Sequence[str]

    def __post_init__(self) -> None:
        """Checks the fields."""
        if not isinstance(self.rank, int) or self.rank < 1:
            raise ValueError(
                f"`rank` must be an integer, at least 1. Received: rank={self.rank!r}"
            )
        one_string = isinstance(self.projections, str)
        if (
            one_string
            or not self.projections
            or set(self.projections) - set(PROJECTIONS)
        ):
            raise ValueError(
                f"`projections` must be names among {list(PROJECTIONS)}, in a list. "
                f"Received: projections={self.projections!r}"
            )

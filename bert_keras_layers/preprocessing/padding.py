"""Padding: how wide a batch becomes, as three numbers for any engine."""

import dataclasses

NO_LIMIT = 2**31 - 1


@dataclasses.dataclass(frozen=True)
class Padding:
    """The width of a batch: `min(max(floor, longest rounded up), ceiling)`.

    Args:
        floor: The width is at least this.
        multiple: The longest row is rounded up to a multiple of this.
        ceiling: The width is at most this.

    Example:
    >>> from bert_keras_layers.preprocessing.padding import Padding
    >>> Padding.of(8, sequence_length=12).width(5)
    8
    >>> Padding.of(8, sequence_length=12).width(9)
    12
    """

    floor: int
    multiple: int
    ceiling: int

    @classmethod
    def of(cls, padding: str | int, sequence_length: int | None) -> "Padding":
        """Returns the numbers for one value of `padding`."""
        ceiling = NO_LIMIT if sequence_length is None else sequence_length
        if isinstance(padding, int) and not isinstance(padding, bool) and padding > 0:
            return cls(0, padding, ceiling)
        floors = {"longest": 0, "sequence_length": sequence_length}
        if padding not in floors:
            raise ValueError(
                "`padding` must be 'longest', 'sequence_length' or a positive "
                f"integer. Received: padding={padding!r}"
            )
        floor = floors[padding]
        if floor is None:
            raise ValueError(
                "`padding='sequence_length'` needs a `sequence_length`. "
                "Received: sequence_length=None"
            )
        return cls(floor, 1, ceiling)

    def width(self, longest: int) -> int:
        """Returns the width of a batch whose longest row has `longest` tokens."""
        rounded = -(-longest // self.multiple) * self.multiple
        return min(max(self.floor, rounded), self.ceiling)

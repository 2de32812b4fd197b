"""Layer choice: one rule for naming some of the hidden states of an encoder."""

import operator
from collections.abc import Sequence
from numbers import Integral
from typing import Any


def choose_layers(layers: int | Sequence[int] | None, num_states: int) -> list[int]:
    """Returns the indices of the chosen hidden states, 0 to `num_states - 1`.

    Args:
        layers: None for all states, a positive int n for the last n, a sequence
            for exactly these in this order; negatives count from the end.
        num_states: Number of hidden states there are, the embeddings included.

    Raises:
        ValueError: If a layer is out of range, or none is chosen.

    Example:
    >>> choose_layers(4, 13), choose_layers([0, -1], 13)
    ([9, 10, 11, 12], [0, 12])
    """
    layers = checked_layers(layers)
    if layers is None:
        return list(range(num_states))
    if isinstance(layers, int):
        if not 1 <= layers <= num_states:
            raise ValueError(
                f"`layers`, as a number of last layers, must be 1 to {num_states}. "
                f"Received: layers={layers}"
            )
        return list(range(num_states - layers, num_states))
    chosen = [layer + num_states if layer < 0 else layer for layer in layers]
    if not chosen or not all(0 <= layer < num_states for layer in chosen):
        raise ValueError(
            f"`layers` must name at least one layer, each from {-num_states} to "
            f"{num_states - 1} (0 is the embedding output). Received: layers={layers}"
        )
    return chosen


def checked_layers(layers: Any) -> int | list[int] | None:
    """Returns a choice of layers in plain integers, whatever integers it came in.

    Raises:
        ValueError: If it is no integer, sequence of integers, or None.
    """
    if layers is None:
        return None
    try:
        if isinstance(layers, Integral):
            return operator.index(layers)
        return [operator.index(layer) for layer in layers]
    except TypeError:
        raise ValueError(
            "`layers` must be None, an integer, or a sequence of integers. "
            f"Received: layers={layers!r}"
        ) from None

"""Names for what type checkers cannot see: tensors of any backend, and shapes."""

from typing import Any, TypeAlias

Tensor: TypeAlias = Any
"""A tensor of the active Keras backend, a `KerasTensor` or a NumPy array."""

Shape: TypeAlias = tuple[Any, ...]
"""A static shape of integers; None marks a dimension that is open."""

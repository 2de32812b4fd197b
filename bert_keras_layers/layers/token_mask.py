"""Token mask: which tokens of `(batch, tokens, width)` a pooling layer keeps."""

from keras import ops

from bert_keras_layers.types import Shape, Tensor


def check_token_vectors(shape: Shape) -> None:
    """Raises a `ValueError` unless a shape is `(batch, tokens, width)`."""
    if len(shape) != 3:
        raise ValueError(
            "`inputs` must have the shape (batch, tokens, width). "
            f"Received: shape {tuple(shape)}"
        )


def kept_tokens(inputs: Tensor, mask: Tensor = None, name: str = "mask") -> Tensor:
    """Returns a mask of any dtype as booleans `(batch, tokens)`; None keeps all.

    Args:
        inputs: Tensor `(batch, tokens, width)`.
        mask: Tensor `(batch, tokens)` or None; zero or False marks padding.
        name: How an error names the mask.

    Raises:
        ValueError: If the mask has not the shape `(batch, tokens)`.

    Example:
    >>> import numpy as np
    >>> from keras import ops
    >>> from bert_keras_layers.layers.token_mask import kept_tokens
    >>> ops.convert_to_numpy(kept_tokens(np.zeros((1, 3, 2)), np.array([[1, 1, 0]])))
    array([[ True,  True, False]])
    """
    if mask is None:
        return ops.ones(ops.shape(inputs)[:2], "bool")
    mask = ops.convert_to_tensor(mask)
    expected = tuple(inputs.shape[:2])
    if len(mask.shape) != 2 or any(
        None not in sizes and sizes[0] != sizes[1]
        for sizes in zip(mask.shape, expected, strict=True)
    ):
        raise ValueError(
            f"`{name}` must have the shape (batch, tokens), here {expected}. "
            f"Received: shape {tuple(mask.shape)}"
        )
    return ops.cast(mask, "bool")


def first_kept(keep: Tensor) -> Tensor:
    """Returns where the first kept token of each text is, as `keep` is shaped.

    Args:
        keep: Booleans `(batch, tokens)` or `(batch, tokens, 1)`.
    """
    nth = ops.cumsum(ops.cast(keep, "int32"), axis=1)
    return ops.logical_and(keep, ops.equal(nth, 1))


def last_kept(keep: Tensor) -> Tensor:
    """Returns where the last kept token of each text is, as `first_kept` does."""
    nth = ops.cumsum(ops.cast(keep, "int32"), axis=1)
    return ops.logical_and(keep, ops.equal(nth, nth[:, -1:]))

"""Encoder inputs: one dict of ids and masks, whatever names it came with."""

from collections.abc import Mapping

import keras
import numpy as np
from keras import ops

from bert_keras_layers.encoders.encoder_sizes import EncoderSizes
from bert_keras_layers.types import Tensor

INPUT_NAMES = {
    # Hugging Face
    "input_ids": "input_ids",
    "attention_mask": "attention_mask",
    "token_type_ids": "token_type_ids",
    # TF-Hub
    "input_word_ids": "input_ids",
    "input_mask": "attention_mask",
    "input_type_ids": "token_type_ids",
    # keras-hub
    "token_ids": "input_ids",
    "padding_mask": "attention_mask",
    "segment_ids": "token_type_ids",
}
"""Every accepted input name and the name that the library uses for it."""


def symbolic_inputs() -> dict[str, keras.KerasTensor]:
    """Returns a fresh `keras.Input` `(batch, tokens)` for each encoder input."""
    names = dict.fromkeys(INPUT_NAMES.values())
    return {name: keras.Input((None,), dtype="int32", name=name) for name in names}


def standardize_inputs(inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Returns `inputs` under the library's names, checked; the original is kept.

    Args:
        inputs: Integer tensors `(batch, tokens)` under any of `INPUT_NAMES`.

    Raises:
        ValueError: If `inputs` is no dict, has unknown or repeated names or no
            ids, or if ranks, dtypes or static shapes do not fit.
    """
    if not isinstance(inputs, Mapping):
        raise ValueError(
            "An encoder takes a dict with `input_ids` and, optionally, "
            "`attention_mask` and `token_type_ids`. "
            f"Received: {type(inputs).__name__}"
        )
    unknown = sorted(set(inputs) - set(INPUT_NAMES))
    if unknown:
        raise ValueError(
            f"Encoder inputs must be named among {sorted(INPUT_NAMES)}. "
            f"Received also: {unknown}"
        )
    standard = {INPUT_NAMES[name]: tensor for name, tensor in inputs.items()}
    if len(standard) != len(inputs) or "input_ids" not in standard:
        raise ValueError(
            "Encoder inputs must name the ids once, and the mask and the type ids "
            f"at most once. Received: {sorted(inputs)}"
        )
    for name, tensor in standard.items():
        _check_tensor(name, tensor, like=standard["input_ids"])
    return standard


def check_against_sizes(inputs: Mapping[str, Tensor], sizes: EncoderSizes) -> None:
    """Checks lengths and, where there are values to look at, ids.

    Tensors of a graph have no values yet; what a lookup does there with an id out
    of range is up to the backend.

    Args:
        inputs: As `standardize_inputs` returns them.
        sizes: Of the encoder.

    Raises:
        ValueError: If a text is too long, or an id out of range.
    """
    shape = tuple(inputs["input_ids"].shape)
    if shape[1] is not None and shape[1] > sizes.max_positions:
        raise ValueError(
            f"This encoder has {sizes.max_positions} positions: `input_ids` must "
            f"have at most that many tokens. Received: shape {shape}"
        )
    limits = {
        "input_ids": sizes.vocabulary_size,
        "token_type_ids": sizes.type_vocabulary_size,
    }
    for name, limit in limits.items():
        values = _values(inputs.get(name))
        if limit is None or values is None or not values.size:
            continue
        if values.min() < 0 or values.max() >= limit:
            wrong = values.min() if values.min() < 0 else values.max()
            raise ValueError(
                f"`{name}` must be 0 to {limit - 1} for this encoder. Received: {wrong}"
            )


def _values(tensor: Tensor) -> np.ndarray | None:
    """Returns the values of a tensor, or None if it has none yet."""
    if tensor is None or isinstance(tensor, keras.KerasTensor):
        return None
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        if tf.is_symbolic_tensor(tensor):
            return None
        return np.asarray(tensor.numpy() if tf.is_tensor(tensor) else tensor)
    try:
        return np.asarray(ops.convert_to_numpy(tensor))
    except (NotImplementedError, TypeError):  # torch on "meta", JAX when tracing.
        return None


def _check_tensor(name: str, tensor: Tensor, like: Tensor) -> None:
    if len(tensor.shape) != 2:
        raise ValueError(
            f"`{name}` must have the shape (batch, tokens). "
            f"Received: shape {tuple(tensor.shape)}"
        )
    dtype = keras.backend.standardize_dtype(tensor.dtype)
    # A mask may also come as the bool tensor that Keras masks are.
    if "int" not in dtype and (name, dtype) != ("attention_mask", "bool"):
        raise ValueError(f"`{name}` must hold integers. Received: dtype {dtype}")
    for received, expected in zip(tensor.shape, like.shape, strict=True):
        if None not in (received, expected) and received != expected:
            raise ValueError(
                f"`{name}` must have the shape of `input_ids`, "
                f"{tuple(like.shape)}. Received: shape {tuple(tensor.shape)}"
            )

"""Encoder inputs: one dict of ids and masks, whatever names it came with."""

from collections.abc import Mapping

import keras

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

"""Precision: a text model -> one whose encoder computes in bfloat16."""

from typing import Any

import keras

from bert_keras_layers.encoders.wrapped_encoder import WrappedEncoder

PRECISIONS = ("float32", "bfloat16")


def check_precision(precision: str) -> None:
    """Raises a `ValueError` unless it is one of `PRECISIONS`."""
    if precision not in PRECISIONS:
        raise ValueError(
            f"`precision` must be among {list(PRECISIONS)}. "
            f"Received: precision={precision!r}"
        )


def in_bfloat16(model: Any) -> Any:
    """Returns a copy of a model with an encoder in bfloat16, weights and all.

    What comes after the encoder computes as before. A wrapped encoder keeps float32
    weights and casts them.

    Args:
        model: A text model.

    Raises:
        ValueError: If the types of its encoder are fixed.
    """
    wrapped = isinstance(model.encoder, WrappedEncoder)
    dtype = "mixed_bfloat16" if wrapped else "bfloat16"
    config = model.encoder.get_config()
    encoder = type(model.encoder).from_config({**config, "dtype": dtype})
    serialized = keras.saving.serialize_keras_object(encoder)
    copy = type(model).from_config({**model.get_config(), "encoder": serialized})
    copy.set_weights(model.get_weights())
    return copy

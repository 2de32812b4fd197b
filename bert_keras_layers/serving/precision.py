"""Precision: a text model -> one whose encoder computes in bfloat16."""

from typing import Any

import keras

from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.encoders.hub_encoder import HubEncoder
from bert_keras_layers.encoders.wrapped_encoder import WrappedEncoder

PRECISIONS = ("float32", "bfloat16")


def check_precision(precision: str, encoder: Encoder) -> None:
    """Raises a `ValueError` unless an encoder can be exported in a precision."""
    if precision not in PRECISIONS:
        raise ValueError(
            f"`precision` must be among {list(PRECISIONS)}. "
            f"Received: precision={precision!r}"
        )
    if precision != "float32" and isinstance(encoder, HubEncoder):
        raise ValueError(
            "The types of a SavedModel are fixed: build the model on "
            "`encoder.to_native()` to export it in another precision. "
            f"Received: precision={precision!r} and a HubEncoder"
        )


def in_bfloat16(model: Any) -> Any:
    """Returns a copy of a model with an encoder in bfloat16, weights and all.

    What comes after the encoder computes as before. A wrapped encoder keeps float32
    weights and casts them.

    Args:
        model: A text model, not with a `HubEncoder`.
    """
    wrapped = isinstance(model.encoder, WrappedEncoder)
    dtype = "mixed_bfloat16" if wrapped else "bfloat16"
    config = model.encoder.get_config()
    encoder = type(model.encoder).from_config({**config, "dtype": dtype})
    serialized = keras.saving.serialize_keras_object(encoder)
    copy = type(model).from_config({**model.get_config(), "encoder": serialized})
    copy.set_weights(model.get_weights())
    return copy

"""HubEncoder: a BERT SavedModel of TF-Hub or Kaggle as a Keras 3 layer."""

import os
from typing import Any, Self

import keras

from bert_keras_layers.encoders.bert_encoder import BertEncoder
from bert_keras_layers.encoders.hub_model import HubModel
from bert_keras_layers.encoders.wrapped_encoder import (
    WrappedEncoder,
    require_tensorflow,
)
from bert_keras_layers.files.saved_model import load_saved_model


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class HubEncoder(WrappedEncoder):
    """A BERT SavedModel of TF-Hub or Kaggle as a trainable Keras 3 layer.

    Computes with the SavedModel's own layers, on the TensorFlow backend, and its
    variables are those that Keras trains. BERT, ALBERT, ELECTRA and MobileBERT
    encoders of the TensorFlow Model Garden, API v1 to v4: also the states that the
    SavedModel itself does not return. Types are fixed to float32.

    A `.keras` file cannot hold a SavedModel: convert with `to_native` before
    saving, or build the model anew and call `load_weights` with the file.

    Args:
        model: A loaded SavedModel; `from_pretrained` loads one.
        pooler: Whether to compute `pooler_output`.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name`.

    Call arguments:
        inputs: As of `BertEncoder`, so also what a preprocessing SavedModel of
            TF-Hub returns.
        training: Whether dropout is on.

    Output shape:
        As of `BertEncoder`: `hidden_states`, a list of L + 1 tensors `(batch,
        tokens, width)` that carry the mask, `last_hidden_state` and
        `pooler_output`, which is the SavedModel's `pooled_output`.

    Raises:
        ValueError: If it is no such encoder, or inputs do not fit it.
        RuntimeError: If Keras runs on another backend.

    Example:
    >>> from bert_keras_layers import BertPreprocessor, HubEncoder
    >>> source = "tests/fixtures/hub_encoder"  # Or a URL, or a Kaggle handle.
    >>> encoder = HubEncoder.from_pretrained(source)
    >>> outputs = encoder(BertPreprocessor.from_hub(source)(["I love Paris"]))
    >>> len(outputs["hidden_states"]), encoder.num_layers
    (3, 2)
    """

    def __init__(self, model: Any, pooler: bool = True, **kwargs: Any) -> None:
        require_tensorflow("HubEncoder")
        if isinstance(model, str | os.PathLike):
            raise ValueError(
                "`model` must be a loaded SavedModel; `HubEncoder.from_pretrained` "
                f"takes a folder or a handle. Received: {model!r}"
            )
        shortened = isinstance(model, HubModel)
        super().__init__(model if shortened else HubModel(model), pooler, **kwargs)
        if not shortened:
            self.build()

    @classmethod
    def from_pretrained(
        cls,
        source: str | os.PathLike[str],
        *,
        sha256: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Loads a SavedModel.

        Args:
            source: A folder, a URL such as those of tfhub.dev, or a Kaggle handle.
            sha256: Expected digest, in hex, of its file
                `variables/variables.data-00000-of-00001`.
            **kwargs: As in the constructor.

        Raises:
            FileNotFoundError: If there is no SavedModel.
            ValueError: If the digest differs, it is damaged, or no such encoder.
        """
        require_tensorflow("HubEncoder")
        return cls(load_saved_model(source, sha256), **kwargs)

    def to_native(self, **kwargs: Any) -> BertEncoder:
        """Returns a `BertEncoder` with a copy of the weights as they are now.

        Args:
            **kwargs: Arguments of `BertEncoder` that replace those of the model,
                such as `dropout` or `dtype`.

        Raises:
            ValueError: If the model is no plain BERT.
        """
        model = self._foreign().model
        encoder = BertEncoder.from_hub(model, **{"name": self.name, **kwargs})
        if self.has_pooler:
            return encoder
        return encoder.truncate(self.num_layers)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        raise ValueError(
            "A HubEncoder computes with a SavedModel, which a `.keras` file cannot "
            "hold: convert it with `to_native()` before saving, or build the model "
            "anew and call `load_weights` with the file. "
            f"Received: the configuration of {config.get('name')!r}"
        )

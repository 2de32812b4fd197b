"""TransformersEncoder: a TensorFlow encoder of transformers as a Keras 3 layer."""

import os
from typing import Any, Self

import keras

from bert_keras_layers.encoders.bert_encoder import BertEncoder
from bert_keras_layers.encoders.hugging_face import read_config
from bert_keras_layers.encoders.transformers_files import fill_from_folder
from bert_keras_layers.encoders.transformers_model import (
    TransformersModel,
    tf_keras_policy,
)
from bert_keras_layers.encoders.wrapped_encoder import (
    WrappedEncoder,
    require_tensorflow,
)
from bert_keras_layers.files.pretrained_folder import pretrained_folder

# Where a configuration came from, not what it is.
_NOT_ARCHITECTURE = (
    "_name_or_path",
    "architectures",
    "auto_map",
    "dtype",
    "torch_dtype",
    "transformers_version",
)


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class TransformersEncoder(WrappedEncoder):
    """A `TFBertModel`, or one of its kin, as a trainable Keras 3 layer.

    Computes with the model itself, on the TensorFlow backend: its variables are
    those that Keras trains and saves. Tried on BERT, DistilBERT, RoBERTa, ELECTRA
    and ALBERT; inputs that a model does not know are left out. A `.keras` file of
    it needs transformers 4, but neither a network nor the original files.

    Args:
        model: A `TFPreTrainedModel`, with or without a head, or a configuration,
            which gives random weights.
        pooler: Whether to compute `pooler_output`, if the model has one.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name`. `dtype` can be
            chosen for a configuration; a model's types are fixed.

    Call arguments:
        inputs: As of `BertEncoder`.
        training: Whether dropout is on.

    Output shape:
        As of `BertEncoder`: `hidden_states`, a list of L + 1 tensors `(batch,
        tokens, width)` that carry the mask, `last_hidden_state`, and, where the
        model has one, `pooler_output`.

    Raises:
        ValueError: If it is no encoder whose blocks can be found, or inputs do not
            fit it.
        ImportError: If transformers 4 with TensorFlow is not installed.
        RuntimeError: If Keras runs on another backend.

    Example:
    >>> import numpy as np
    >>> from bert_keras_layers import TransformersEncoder
    >>> from transformers import BertConfig
    >>> encoder = TransformersEncoder(BertConfig(
    ...     vocab_size=100, hidden_size=8, num_hidden_layers=2,
    ...     num_attention_heads=2, intermediate_size=16))
    >>> outputs = encoder({"input_ids": np.array([[2, 45, 3]])})
    >>> [tuple(state.shape) for state in outputs["hidden_states"]]
    [(1, 3, 8), (1, 3, 8), (1, 3, 8)]
    """

    def __init__(self, model: Any, pooler: bool = True, **kwargs: Any) -> None:
        shortened = isinstance(model, TransformersModel)
        foreign = model if shortened else _opened(model, kwargs.get("dtype"))
        super().__init__(foreign, pooler, **kwargs)
        self.architecture = {
            key: value
            for key, value in foreign.config.to_diff_dict().items()
            if key not in _NOT_ARCHITECTURE
        } | {"model_type": foreign.config.model_type}
        if not shortened:
            self.build()

    @classmethod
    def from_pretrained(
        cls,
        source: str | os.PathLike[str],
        *,
        revision: str | None = None,
        sha256: str | None = None,
        pooler: bool = True,
        **kwargs: Any,
    ) -> Self:
        """Loads a Hugging Face folder, its weights written by torch or TensorFlow.

        Every weight of the model must be in the file with its exact shape; only a
        pooler may be missing, and then there is no `pooler_output`.

        Args:
            source: Folder, or id on the Hugging Face hub.
            revision: Branch, tag or commit on the hub.
            sha256: Expected digest of `model.safetensors`, or `tf_model.h5`, in hex.
            pooler: As in the constructor.
            **kwargs: As in the constructor.

        Raises:
            FileNotFoundError: If there is no such folder or file.
            ValueError: If the digest differs, or weights are missing, left over or
                of another shape.
        """
        transformers = _transformers()
        files = ("config.json", "model.safetensors", "tf_model.h5")
        folder = pretrained_folder(source, files, revision)
        read_config(folder / "config.json")  # Says so if there is none.
        config = transformers.AutoConfig.from_pretrained(folder)
        model = _built(config, kwargs.get("dtype"))
        has_pooler = fill_from_folder(model, folder, sha256)
        return cls(model, pooler=pooler and has_pooler, **kwargs)

    def to_native(self, **kwargs: Any) -> BertEncoder:
        """Returns a `BertEncoder` with a copy of the weights as they are now.

        Args:
            **kwargs: Arguments of `BertEncoder` that replace those of the model,
                such as `dropout` or `dtype`.

        Raises:
            ValueError: If the model is no plain BERT.
        """
        foreign = self._foreign()
        return BertEncoder.from_transformers(
            foreign.main, **{"name": self.name, **kwargs}
        )

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "model": self.architecture,
            "pooler": self.has_pooler,
        }

    @classmethod
    def _from_arguments(cls, arguments: dict[str, Any]) -> Self:
        config = _transformers().AutoConfig.for_model(**arguments["model"])
        return cls(**{**arguments, "model": config})


def _opened(model: Any, dtype: Any) -> TransformersModel:
    transformers = _transformers()
    if isinstance(model, transformers.PretrainedConfig):
        model = _built(model, dtype)
    if not isinstance(model, transformers.TFPreTrainedModel):
        raise ValueError(
            "`model` must be a TensorFlow model of transformers or a configuration. "
            f"Received: {type(model).__name__}"
        )
    if not model.built:
        model.build_in_name_scope()
    return TransformersModel(getattr(model, model.base_model_prefix), model.config)


def _built(config: Any, dtype: Any) -> Any:
    with tf_keras_policy(keras.dtype_policies.get(dtype).name):
        model = _transformers().TFAutoModel.from_config(config)
        model.build_in_name_scope()
    return model


def _transformers() -> Any:
    require_tensorflow("TransformersEncoder")
    try:
        import tf_keras  # noqa: F401
        import transformers
    except ImportError as error:
        raise ImportError(
            "TransformersEncoder needs transformers 4 and tf-keras: "
            'pip install "bert-keras-layers[transformers]"'
        ) from error
    if not hasattr(transformers, "TFPreTrainedModel"):
        raise ImportError(
            "TransformersEncoder needs transformers 4, the last with TensorFlow "
            "models; BertEncoder loads the same files with any. "
            f"Received: transformers {transformers.__version__}"
        )
    return transformers

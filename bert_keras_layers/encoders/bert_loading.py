"""Loading: weights in the formats that BERTs come in, into a `BertEncoder` and out."""

import json
import os
import pathlib
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Self

import numpy as np

from bert_keras_layers.encoders.hub_saved_model import weights_of_saved_model
from bert_keras_layers.encoders.hugging_face import (
    architecture_of,
    open_hugging_face,
    write_hugging_face,
)
from bert_keras_layers.encoders.tensorflow_names import translate_weights
from bert_keras_layers.encoders.tf1_checkpoint import open_tf1_checkpoint
from bert_keras_layers.encoders.weight_names import fill_weights, stored_weights
from bert_keras_layers.files.published_folder import published_folder
from bert_keras_layers.files.saved_model import load_saved_model
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor


class BertLoading:
    """The part of `BertEncoder` that reads and writes files.

    Every weight of the encoder must be in a source with its exact shape, and every
    weight of the source must have its place; only heads are left out.
    """

    @classmethod
    def from_pretrained(
        cls,
        source: str | os.PathLike[str],
        *,
        revision: str | None = None,
        sha256: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Loads a Hugging Face BERT: `config.json` and `model.safetensors`.

        Args:
            source: Folder, or id on the Hugging Face hub.
            revision: Branch, tag or commit on the hub.
            sha256: Expected digest of `model.safetensors`, in hex.
            **kwargs: Arguments of the constructor that replace those of the
                configuration, such as `dropout` or `dtype`.

        Raises:
            FileNotFoundError: If there is no such folder or file.
            ValueError: If the model is no plain BERT, the digest differs, or
                weights are missing, left over or of another shape.
        """
        architecture, weights = open_hugging_face(source, revision, sha256)
        return cls._filled({**architecture, **kwargs}, weights, origin=str(source))

    @classmethod
    def from_checkpoint(cls, folder: str | os.PathLike[str], **kwargs: Any) -> Self:
        """Loads a TF1 checkpoint of google-research/bert; needs TensorFlow.

        GELU is computed in its tanh form, as the code of these checkpoints does.

        Args:
            folder: With `bert_config.json` and `bert_model.ckpt.*`, as published.
            **kwargs: As in `from_pretrained`.

        Raises:
            FileNotFoundError: If one of the files is not there.
            ValueError: If it is no plain BERT, or weights are missing, left over
                or of another shape.
        """
        architecture, weights = open_tf1_checkpoint(folder)
        return cls._filled({**architecture, **kwargs}, weights, origin=str(folder))

    @classmethod
    def from_hub(
        cls,
        source: Any,
        *,
        sha256: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Loads the weights of a TF-Hub BERT SavedModel; needs TensorFlow.

        GELU is computed in its tanh form, as these models do. Fetching needs the
        extra `hub`.

        Args:
            source: Of any API version: an unpacked folder, a URL that tensorflow_hub
                resolves, a Kaggle handle or URL such as
                `"tensorflow/bert/TensorFlow2/en-uncased-l-12-h-768-a-12/4"`, or the
                loaded SavedModel itself.
            sha256: Expected digest of `variables/variables.data-00000-of-00001`, in
                hex.
            **kwargs: As in `from_pretrained`.

        Raises:
            FileNotFoundError: If there is no SavedModel, or it cannot be fetched.
            ValueError: If the digest differs, a file is damaged, or it is no BERT of
                the TensorFlow Model Garden.
            ImportError: If what fetches the source is not installed.
        """
        named = isinstance(source, str | os.PathLike)
        if sha256 is not None and not named:
            raise ValueError(
                "`sha256` is checked when files are loaded. "
                f"Received: sha256 and a loaded {type(source).__name__}"
            )
        origin = str(source) if named else "The SavedModel"
        model = load_saved_model(source, sha256) if named else source
        architecture, weights = weights_of_saved_model(model, origin)
        return cls._filled({**architecture, **kwargs}, weights, origin)

    @classmethod
    def from_transformers(cls, model: Any, **kwargs: Any) -> Self:
        """Copies the weights of a live `TFBertModel`, or of one with a head.

        Args:
            model: Built, or its main layer; with a `config`, the BERT under `bert/`.
            **kwargs: As in `from_pretrained`.

        Raises:
            ValueError: If it is no plain BERT.
        """
        origin = type(model).__name__
        weights = translate_weights((w.name[:-2], w.numpy()) for w in model.weights)
        architecture = architecture_of(model.config.to_dict(), origin, weights)
        return cls._filled({**architecture, **kwargs}, weights, origin)

    def save_pretrained(
        self,
        folder: str | os.PathLike[str],
        preprocessor: BertPreprocessor | None = None,
    ) -> None:
        """Writes a Hugging Face folder that `from_pretrained` and transformers read.

        Args:
            folder: To be made; it appears whole or not at all.
            preprocessor: Whose vocabulary to write too.

        Raises:
            FileExistsError: If there is such a folder already.
            ValueError: If there are LoRA factors, which must be merged before.
        """
        encoder: Any = self
        encoder.build()
        if any(block.lora is not None for block in encoder.blocks):
            raise ValueError(
                "A Hugging Face folder has no place for LoRA factors: call "
                "`merge_lora()` before. Received: an encoder with LoRA"
            )
        with published_folder(pathlib.Path(folder)) as draft:
            architecture = asdict(encoder.architecture)
            write_hugging_face(draft, architecture, stored_weights(encoder))
            if preprocessor is not None:
                _write_vocabulary(draft, preprocessor)

    @classmethod
    def _filled(
        cls,
        arguments: Mapping[str, Any],
        weights: Mapping[str, np.ndarray],
        origin: str,
    ) -> Self:
        encoder: Any = cls(**arguments)
        encoder.build()
        fill_weights(encoder, weights, origin)
        return encoder


def _write_vocabulary(folder: pathlib.Path, preprocessor: BertPreprocessor) -> None:
    vocabulary = "".join(f"{token}\n" for token in preprocessor.vocabulary)
    (folder / "vocab.txt").write_text(vocabulary, encoding="utf-8")
    settings = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": preprocessor.lowercase,
    }
    text = json.dumps(settings, indent=2) + "\n"
    (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")

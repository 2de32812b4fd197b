"""Hugging Face folders: `config.json` and `model.safetensors`, read and written."""

import json
import os
import pathlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from bert_keras_layers.encoders.bert_architecture import ACTIVATIONS
from bert_keras_layers.files.checksum import check_sha256
from bert_keras_layers.files.pretrained_folder import pretrained_folder

_ARCHITECTURE = {
    "vocab_size": "vocabulary_size",
    "hidden_size": "hidden_size",
    "num_hidden_layers": "num_layers",
    "num_attention_heads": "num_heads",
    "intermediate_size": "intermediate_size",
    "hidden_act": "activation",
    "hidden_dropout_prob": "dropout",
    "attention_probs_dropout_prob": "attention_dropout",
    "max_position_embeddings": "max_positions",
    "type_vocab_size": "type_vocabulary_size",
    "layer_norm_eps": "layer_norm_epsilon",
}
_ACTIVATIONS = {name: name for name in ACTIVATIONS} | {"gelu_pytorch_tanh": "gelu_new"}
_HEADS = ("cls.", "classifier.", "qa_outputs.")


def read_config(config_file: pathlib.Path) -> dict[str, Any]:
    """Returns the content of a configuration file.

    Raises:
        FileNotFoundError: If there is no such file.
    """
    if not config_file.is_file():
        raise FileNotFoundError(
            f"A model folder must have a {config_file.name}. "
            f"Received: {config_file.parent}"
        )
    return dict(json.loads(config_file.read_text(encoding="utf-8")))


def architecture_of(
    config: Mapping[str, Any], origin: object, weights: Collection[str]
) -> dict[str, Any]:
    """Returns the arguments of `BertEncoder` for a Hugging Face configuration.

    Args:
        config: Content of `config.json`.
        origin: Where it comes from, for error messages.
        weights: Names of the stored weights, which tell whether there is a pooler.

    Raises:
        ValueError: If it describes something else than a plain BERT encoder.
    """
    expected = {
        "model_type": ("bert",),
        "position_embedding_type": ("absolute", None),
        "is_decoder": (False, None),
        "hidden_act": tuple(_ACTIVATIONS),
    }
    for key, values in expected.items():
        if config.get(key) not in values:
            raise ValueError(
                f"{origin} must describe a BERT encoder, with {key} among "
                f"{list(values)}. Received: {key}={config.get(key)!r}"
            )
    missing = sorted(set(_ARCHITECTURE) - set(config) - {"layer_norm_eps"})
    if missing:
        raise ValueError(f"{origin} must name the sizes of BERT: {missing}")
    sizes = {
        ours: config[theirs]
        for theirs, ours in _ARCHITECTURE.items()
        if theirs in config
    }
    return {
        **sizes,
        "activation": _ACTIVATIONS[config["hidden_act"]],
        "pooler": "pooler.dense.weight" in weights,
    }


class SafetensorsWeights(Mapping[str, np.ndarray]):
    """The encoder weights of a `model.safetensors`, each read when asked for.

    Names come without the `bert.` prefix; the heads on top of BERT, and the
    position ids that some versions store, are left out.

    Args:
        file: Path of the file.
        sha256: Expected digest in hex, or None for no check.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the digest differs or the file is damaged.
    """

    def __init__(self, file: pathlib.Path, sha256: str | None = None) -> None:
        if not file.is_file():
            raise FileNotFoundError(
                f"A Hugging Face model folder must have a {file.name}; "
                "pickled weights (.bin) are never loaded. "
                f"Received: {file.parent}"
            )
        if sha256 is not None:
            check_sha256(file, sha256)
        try:
            self._file = safe_open(file, framework="numpy")
        except SafetensorError as error:
            raise ValueError(f"{file} is damaged or incomplete: {error}") from error
        names = self._file.keys()
        prefix = "bert." if any(name.startswith("bert.") for name in names) else ""
        self._stored_names = {
            modern_name(name.removeprefix(prefix)): name
            for name in names
            if name.startswith(prefix)
            and not name.startswith(_HEADS)
            and not name.endswith("embeddings.position_ids")
        }

    def __getitem__(self, name: str) -> np.ndarray:
        array: np.ndarray = self._file.get_tensor(self._stored_names[name])
        return array

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored_names)

    def __len__(self) -> int:
        return len(self._stored_names)


def open_hugging_face(
    source: str | os.PathLike[str], revision: str | None, sha256: str | None
) -> tuple[dict[str, Any], SafetensorsWeights]:
    """Returns the arguments of `BertEncoder` and the weights of a model."""
    files = ("config.json", "model.safetensors")
    folder = pretrained_folder(source, files, revision)
    config_file = folder / "config.json"
    config = read_config(config_file)
    weights = SafetensorsWeights(folder / "model.safetensors", sha256)
    return architecture_of(config, config_file, weights), weights


def write_hugging_face(
    folder: pathlib.Path, architecture: Mapping[str, Any], weights: dict[str, Any]
) -> None:
    """Writes `config.json` and `model.safetensors` into an existing folder."""
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        **{theirs: architecture[ours] for theirs, ours in _ARCHITECTURE.items()},
    }
    text = json.dumps(config, indent=2) + "\n"
    (folder / "config.json").write_text(text, encoding="utf-8")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def modern_name(name: str) -> str:
    """Old TensorFlow-born checkpoints call the LayerNorm weights gamma and beta."""
    if name.endswith("LayerNorm.gamma"):
        return name.removesuffix("gamma") + "weight"
    if name.endswith("LayerNorm.beta"):
        return name.removesuffix("beta") + "bias"
    return name

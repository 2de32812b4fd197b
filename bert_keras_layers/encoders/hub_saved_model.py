"""TF-Hub SavedModels: a BERT encoder of the TensorFlow Model Garden, as weights."""

import os
import pathlib
import re
from typing import Any

import numpy as np

_NAMES = {
    r"word_embeddings/embeddings": "embeddings.word_embeddings.weight",
    r"position_embedding/embeddings": "embeddings.position_embeddings.weight",
    r"type_embeddings/embeddings": "embeddings.token_type_embeddings.weight",
    r"embeddings/layer_norm/": "embeddings.LayerNorm.",
    r"transformer/layer_(\d+)/": r"encoder.layer.\1.",
    r"self_attention/attention_output/": "attention.output.dense.",
    r"self_attention/(query|key|value)/": r"attention.self.\1.",
    r"self_attention_layer_norm/": "attention.output.LayerNorm.",
    r"intermediate/": "intermediate.dense.",
    r"output_layer_norm/": "output.LayerNorm.",
    r"(?<=\.)output/": "output.dense.",
    r"pooler_transform/": "pooler.dense.",
    r"(kernel|gamma)$": "weight",
    r"beta$": "bias",
}


def open_hub_saved_model(
    folder: str | os.PathLike[str],
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Returns the arguments of `BertEncoder` and the weights of a SavedModel.

    The sizes are read off the shapes; GELU is the tanh form, as in the Model Garden.

    Args:
        folder: A BERT encoder from TF-Hub, unpacked: `saved_model.pb`, `variables`.

    Raises:
        FileNotFoundError: If there is no SavedModel.
        ValueError: If it is no BERT of the Model Garden.
        ImportError: If TensorFlow is not installed.
    """
    folder = pathlib.Path(folder).expanduser()
    if not (folder / "saved_model.pb").is_file():
        raise FileNotFoundError(
            f"A SavedModel folder must have a saved_model.pb. Received: {folder}"
        )
    import tensorflow as tf

    model = tf.saved_model.load(str(folder))
    weights: dict[str, np.ndarray] = {}
    num_heads = 0
    for variable in getattr(model, "variables", ()):
        name, array = _renamed(variable.name.removesuffix(":0")), variable.numpy()
        if name.endswith("self.query.weight"):
            num_heads = array.shape[1]  # (hidden size, heads, size of a head)
        if array.ndim:  # `do_lower_case` is a variable too, a scalar.
            weights[name] = _as_stored(name, array)
    return {**_sizes(weights, folder), "num_heads": num_heads}, weights


def _renamed(name: str) -> str:
    for pattern, replacement in _NAMES.items():
        name = re.sub(pattern, replacement, name)
    return name


def _as_stored(name: str, array: np.ndarray) -> np.ndarray:
    if name.endswith(("_embeddings.weight", "LayerNorm.weight")):
        return array
    if name.endswith(".bias"):
        return array.reshape(-1)
    # (in, heads, size) or, after attention, (heads, size, in): heads side by side.
    outputs = array.shape[-1] if ".output." in name else array[0].size
    return array.reshape(-1, outputs).T


def _sizes(weights: dict[str, np.ndarray], folder: pathlib.Path) -> dict[str, Any]:
    shapes = {name: array.shape for name, array in weights.items()}
    first = "encoder.layer.0.intermediate.dense.weight"
    tables = [f"embeddings.{x}_embeddings.weight" for x in ("word", "position")]
    tables.append("embeddings.token_type_embeddings.weight")
    missing = sorted({first, *tables} - set(shapes))
    if missing:
        raise ValueError(
            f"{folder} must be a BERT encoder of the TensorFlow Model Garden. "
            f"Missing: {', '.join(missing)}"
        )
    words, positions, types = (shapes[name][0] for name in tables)
    layers = {name.split(".")[2] for name in shapes if name.startswith("encoder.")}
    return {
        "vocabulary_size": words,
        "hidden_size": shapes[tables[0]][1],
        "num_layers": len(layers),
        "intermediate_size": shapes[first][0],
        "activation": "gelu_new",
        "max_positions": positions,
        "type_vocabulary_size": types,
        "pooler": "pooler.dense.weight" in shapes,
    }

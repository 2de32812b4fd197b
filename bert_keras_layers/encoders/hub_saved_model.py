"""TF-Hub SavedModels: a BERT encoder of the TensorFlow Model Garden, as weights."""

import re
from typing import Any

import numpy as np

_NAMES = {
    # Files of 2019 name their variables after an older code.
    r"^bert_model/": "",
    r"embedding_postprocessor/type_embeddings": "type_embeddings/embeddings",
    r"embedding_postprocessor/position_embeddings": "position_embedding/embeddings",
    r"embedding_postprocessor/layer_norm/": "embeddings/layer_norm/",
    r"encoder/layer_": "transformer/layer_",
    r"self_attention_output/": "self_attention/attention_output/",
    # All others.
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


def weights_of_saved_model(
    model: Any, origin: str
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Returns the arguments of `BertEncoder` and the weights of a SavedModel.

    The sizes are read off the shapes; GELU is the tanh form, as in the Model Garden.

    Args:
        model: A loaded BERT encoder of TF-Hub.
        origin: Where it came from, for error messages.

    Raises:
        ValueError: If it is no BERT of the Model Garden.
    """
    weights: dict[str, np.ndarray] = {}
    num_heads = 0
    for variable in getattr(model, "variables", ()):
        name, array = _renamed(variable.name.removesuffix(":0")), variable.numpy()
        if name.endswith("self.query.weight"):
            num_heads = array.shape[1]  # (hidden size, heads, size of a head)
        if array.ndim:  # `do_lower_case` is a variable too, a scalar.
            weights[name] = _as_stored(name, array)
    return {**_sizes(weights, origin), "num_heads": num_heads}, weights


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


def _sizes(weights: dict[str, np.ndarray], origin: str) -> dict[str, Any]:
    shapes = {name: array.shape for name, array in weights.items()}
    first = "encoder.layer.0.intermediate.dense.weight"
    tables = [f"embeddings.{x}_embeddings.weight" for x in ("word", "position")]
    tables.append("embeddings.token_type_embeddings.weight")
    missing = sorted({first, *tables} - set(shapes))
    if missing:
        raise ValueError(
            f"{origin} must be a BERT encoder of the TensorFlow Model Garden. "
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

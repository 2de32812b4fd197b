"""Weight names: where each weight of `BertEncoder` is found in other formats."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import keras
import numpy as np

if TYPE_CHECKING:
    from bert_keras_layers.encoders.bert_encoder import BertEncoder


class WeightSource(NamedTuple):
    """What one weight is made of: stored names, and how to combine their arrays."""

    names: tuple[str, ...]
    combine: Callable[[Sequence[np.ndarray]], np.ndarray]


def fill_weights(
    encoder: "BertEncoder",
    sources: Mapping[str, WeightSource],
    stored: Mapping[str, np.ndarray],
    origin: str,
) -> None:
    """Assigns every weight of a built encoder from `stored`, each exactly once.

    Args:
        encoder: Built `BertEncoder`.
        sources: A table of this file: path of a weight -> what it is made of.
        stored: Arrays by their stored name; read one at a time.
        origin: What `stored` is, for error messages.

    Raises:
        ValueError: If weights are missing, left over or of another shape; names
            them. Nothing is assigned to the encoder before the names fit.
    """
    weights = dict(_expand(encoder, sources))
    needed = {name for _, source in weights.values() for name in source.names}
    if needed != set(stored):
        raise ValueError(
            f"{origin} must hold exactly the weights of this architecture. "
            f"Missing: {_shortened(needed - set(stored))}. "
            f"Left over: {_shortened(set(stored) - needed)}."
        )
    for path, (variable, source) in weights.items():
        array = source.combine([stored[name] for name in source.names])
        if array.shape != tuple(variable.shape):
            raise ValueError(
                f"{origin}: {' + '.join(source.names)} must have the shape "
                f"{tuple(variable.shape)} for {path}. Received: shape {array.shape}"
            )
        variable.assign(array)


def _expand(
    encoder: "BertEncoder", sources: Mapping[str, WeightSource]
) -> Iterator[tuple[str, tuple[keras.Variable, WeightSource]]]:
    """Yields each path, block numbers filled in, with its variable and source."""
    for path, source in sources.items():
        owner, attribute = path.split("/", 1)
        if owner == "block":
            for i, block in enumerate(encoder.blocks):
                names = tuple(name.format(i=i) for name in source.names)
                filled = WeightSource(names, source.combine)
                yield f"blocks/{i}/{attribute}", (_get(block, attribute), filled)
        elif (layer := getattr(encoder, owner)) is not None:
            yield path, (_get(layer, attribute), source)


def _get(layer: keras.layers.Layer, path: str) -> Any:
    return attrgetter(path.replace("/", "."))(layer)


def _shortened(names: set[str]) -> str:
    listed = sorted(names)
    more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
    return (", ".join(listed[:5]) or "none") + more


def _same(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return arrays[0]


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return np.concatenate(arrays, axis=-1)


def _transposed(arrays: Sequence[np.ndarray]) -> np.ndarray:
    return _joined([array.T for array in arrays])


def _hugging_face() -> Iterator[tuple[str, WeightSource]]:
    layer = "encoder.layer.{i}."
    tables = {
        "word": "word_embeddings",
        "position": "position_embeddings",
        "token_type": "token_type_embeddings",
    }
    for ours, theirs in tables.items():
        name = f"embeddings.{theirs}.weight"
        yield f"embeddings/{ours}/embeddings", WeightSource((name,), _same)

    norms = {
        "embeddings/layer_norm": "embeddings.LayerNorm",
        "block/attention_norm": layer + "attention.output.LayerNorm",
        "block/output_norm": layer + "output.LayerNorm",
    }
    for ours, theirs in norms.items():
        yield f"{ours}/gamma", WeightSource((f"{theirs}.weight",), _same)
        yield f"{ours}/beta", WeightSource((f"{theirs}.bias",), _same)

    attention = layer + "attention.self."
    projections = {
        "block/query_key_value": tuple(
            attention + part for part in ("query", "key", "value")
        ),
        "block/attention_output": (layer + "attention.output.dense",),
        "block/intermediate": (layer + "intermediate.dense",),
        "block/output_projection": (layer + "output.dense",),
        "pooler": ("pooler.dense",),
    }
    for ours, parts in projections.items():
        kernels = tuple(f"{part}.weight" for part in parts)  # (out, in)
        biases = tuple(f"{part}.bias" for part in parts)
        yield f"{ours}/kernel", WeightSource(kernels, _transposed)
        yield f"{ours}/bias", WeightSource(biases, _joined)


HUGGING_FACE = dict(_hugging_face())
"""Names in a Hugging Face BERT checkpoint, without the `bert.` prefix."""

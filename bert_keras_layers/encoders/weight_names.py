"""Weight names: one table from the weights of `BertEncoder` to stored ones.

Stored names are those of Hugging Face's `BertModel`; readers of other formats
translate theirs.
"""

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import keras
import numpy as np

if TYPE_CHECKING:
    from bert_keras_layers.encoders.bert_encoder import BertEncoder


class WeightSource(NamedTuple):
    """What one weight is made of.

    `names`: stored arrays. `transposed`: whether they are stored as `(out, in)`.
    Several are side by side in the weight, along its last axis.
    """

    names: tuple[str, ...]
    transposed: bool

    def combine(self, arrays: Sequence[np.ndarray]) -> np.ndarray:
        """Returns the weight that stored arrays make."""
        turned = [array.T if self.transposed else array for array in arrays]
        return turned[0] if len(turned) == 1 else np.concatenate(turned, axis=-1)

    def split(self, weight: np.ndarray) -> list[np.ndarray]:
        """Returns the arrays to store for a weight."""
        parts = np.split(weight, len(self.names), axis=-1)
        turned = [part.T if self.transposed else part for part in parts]
        return [np.ascontiguousarray(part) for part in turned]


def fill_weights(
    encoder: "BertEncoder", stored: Mapping[str, np.ndarray], origin: str
) -> None:
    """Assigns every weight of a built encoder from `stored`, each exactly once.

    Args:
        encoder: Built `BertEncoder`.
        stored: Arrays by their stored name; read one at a time.
        origin: What `stored` is, for error messages.

    Raises:
        ValueError: If weights are missing, left over or of another shape; names
            them. Nothing is assigned to the encoder before the names fit.
    """
    weights = dict(_expand(encoder))
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


def stored_weights(encoder: "BertEncoder") -> dict[str, np.ndarray]:
    """Returns the weights of a built encoder as they are stored."""
    return {
        name: array
        for variable, source in dict(_expand(encoder)).values()
        for name, array in zip(
            source.names,
            source.split(keras.ops.convert_to_numpy(variable)),
            strict=True,
        )
    }


def _expand(
    encoder: "BertEncoder",
) -> Iterator[tuple[str, tuple[keras.Variable, WeightSource]]]:
    """Yields each path, block numbers filled in, with its variable and source."""
    for path, source in _SOURCES.items():
        owner, attribute = path.split("/", 1)
        if owner == "block":
            for i, block in enumerate(encoder.blocks):
                names = tuple(name.format(i=i) for name in source.names)
                filled = WeightSource(names, source.transposed)
                yield f"blocks/{i}/{attribute}", (_get(block, attribute), filled)
        elif (layer := getattr(encoder, owner)) is not None:
            yield path, (_get(layer, attribute), source)


def _get(layer: keras.layers.Layer, path: str) -> Any:
    return attrgetter(path.replace("/", "."))(layer)


def _shortened(names: set[str]) -> str:
    listed = sorted(names)
    more = f" and {len(listed) - 5} more" if len(listed) > 5 else ""
    return (", ".join(listed[:5]) or "none") + more


def _sources() -> Iterator[tuple[str, WeightSource]]:
    layer = "encoder.layer.{i}."
    tables = {
        "word": "word_embeddings",
        "position": "position_embeddings",
        "token_type": "token_type_embeddings",
    }
    for ours, theirs in tables.items():
        name = f"embeddings.{theirs}.weight"
        yield f"embeddings/{ours}/embeddings", WeightSource((name,), transposed=False)

    norms = {
        "embeddings/layer_norm": "embeddings.LayerNorm",
        "block/attention_norm": layer + "attention.output.LayerNorm",
        "block/output_norm": layer + "output.LayerNorm",
    }
    for ours, theirs in norms.items():
        yield f"{ours}/gamma", WeightSource((f"{theirs}.weight",), transposed=False)
        yield f"{ours}/beta", WeightSource((f"{theirs}.bias",), transposed=False)

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
        yield f"{ours}/kernel", WeightSource(kernels, transposed=True)
        yield f"{ours}/bias", WeightSource(biases, transposed=False)


_SOURCES = dict(_sources())

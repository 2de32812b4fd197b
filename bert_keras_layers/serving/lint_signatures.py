"""Lint of signatures: what a server cannot batch, pad or write as JSON."""

from collections.abc import Callable, Iterator
from typing import Any

from bert_keras_layers.serving.meta_graph import MetaGraph

_INTEGERS = {"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"}
_JSON = {"bool", "float32", "float64", "string", *_INTEGERS}


def lint_signatures(graph: MetaGraph) -> Iterator[str]:
    """Yields a sentence for each input or output that a server mistreats."""
    if not graph.signatures:
        yield "There is no signature, so nothing can be asked of the model."
    for name, signature in sorted(graph.signatures.items()):
        for kind, tensors in (
            ("input", signature.inputs),
            ("output", signature.outputs),
        ):
            for tensor, info in sorted(tensors.items()):
                for check in _CHECKS[kind]:
                    for complaint in check(info):
                        yield f"The {kind} {tensor!r} of {name!r} {complaint}."


def _batch(info: Any) -> Iterator[str]:
    shape = info.tensor_shape
    if shape.unknown_rank:
        yield "has no known rank, so a server cannot tell its rows"
    elif not shape.dim:
        yield "is a single value, with no row per request, so a server cannot batch it"
    elif shape.dim[0].size != -1:
        yield f"always has {shape.dim[0].size} rows: its dimension 0 must be open"


def _open_length(info: Any) -> Iterator[str]:
    sizes = [dimension.size for dimension in info.tensor_shape.dim]
    if _type_of(info) in _INTEGERS and len(sizes) == 2 and sizes[1] == -1:
        # TF Serving does with `pad_variable_length_inputs`.
        yield (
            "has rows of open length, which a server that pads fills up with the first "
            "number of the batch: fix the length, or take text"
        )


def _json(info: Any) -> Iterator[str]:
    if _type_of(info) not in _JSON:
        yield f"is {_type_of(info)}, which JSON cannot hold: cast it to float32"


def _type_of(info: Any) -> str:
    import tensorflow as tf

    return tf.dtypes.as_dtype(info.dtype).name


_CHECKS: dict[str, tuple[Callable[[Any], Iterator[str]], ...]] = {
    "input": (_batch, _open_length),
    "output": (_batch, _json),
}

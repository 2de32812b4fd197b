"""ONNX file: a function on ids -> a file for ONNX Runtime, and what that answers."""

import pathlib
from collections.abc import Callable
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
OPSET = 18
"""The first version of the operations of ONNX in which `ScatterND` takes a maximum."""


def write_onnx(function: Any, file: pathlib.Path) -> None:
    """Writes a `tf.function`.

    Args:
        function: With an input signature, of named outputs.
        file: Where to.
    """
    import tf2onnx

    model, _ = tf2onnx.convert.from_function(
        function,
        function.input_signature,
        opset=OPSET,
        custom_op_handlers={name: (make, []) for name, make in _OPERATIONS.items()},
    )
    for value in (*model.graph.input, *model.graph.output):
        dimensions = value.type.tensor_type.shape.dim
        for dimension, name in zip(dimensions, ("batch", "tokens"), strict=False):
            if not dimension.HasField("dim_value"):
                dimension.dim_param = name
    file.write_bytes(model.SerializeToString())


def read_onnx(file: pathlib.Path) -> Callable[[Arrays], Arrays]:
    """Returns a function from arrays to arrays, by name, that ONNX Runtime computes."""
    import onnxruntime

    session = onnxruntime.InferenceSession(
        file.read_bytes(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return lambda arrays: dict(zip(names, session.run(None, arrays), strict=True))


def _types(graph: Any, node: Any) -> dict[str, Any]:
    output = node.output[0]
    return {
        "shapes": [graph.get_shape(output)],
        "dtypes": [graph.get_dtype(output)],
    }


def _erfc(graph: Any, node: Any, name: str, arguments: Any) -> None:
    """Writes `Erfc`, which is in GELU, and which tf2onnx does not know."""
    types = _types(graph, node)
    one = graph.make_const(f"{name}/one", np.array(1, "float32")).output[0]
    erf = graph.make_node("Erf", node.input[:1], **types).output[0]
    graph.remove_node(name)
    graph.make_node("Sub", [one, erf], outputs=node.output, **types)


def _segment_max(graph: Any, node: Any, name: str, arguments: Any) -> None:
    """Writes `UnsortedSegmentMax`, at which tf2onnx fails on integers."""
    import onnx

    data, segments, number = node.input
    dtype = graph.get_dtype(data)
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    limits = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind)

    def constant(label: str, value: Any) -> str:
        return graph.make_const(f"{name}/{label}", np.array(value)).output[0]

    def to_int64(tensor: str) -> str:
        attributes = {"to": onnx.TensorProto.INT64}
        return graph.make_node("Cast", [tensor], attributes).output[0]

    rows = graph.make_node("Reshape", [to_int64(number), constant("one", [1])])
    width = graph.make_node("Shape", [data], {"start": 1})
    shape = graph.make_node("Concat", [rows.output[0], width.output[0]], {"axis": 0})
    lowest = constant("lowest", np.array(limits.min, kind))
    empty = graph.make_node("Expand", [lowest, shape.output[0]])
    places = graph.make_node("Unsqueeze", [to_int64(segments), constant("last", [-1])])
    outputs, types = node.output, _types(graph, node)
    graph.remove_node(name)
    graph.make_node(
        "ScatterND",
        [empty.output[0], places.output[0], data],
        {"reduction": "max"},
        outputs=outputs,
        **types,
    )


def _floor_divide(graph: Any, node: Any, name: str, arguments: Any) -> None:
    """Writes `FloorDiv`, integers of which tf2onnx rounds towards zero."""
    import onnx

    types, outputs = _types(graph, node), node.output
    dividend, divisor = node.input
    graph.remove_node(name)
    if types["dtypes"][0] in (onnx.TensorProto.INT32, onnx.TensorProto.INT64):
        # The rest has the sign of the divisor.
        rest = graph.make_node("Mod", [dividend, divisor], **types).output[0]
        whole = graph.make_node("Sub", [dividend, rest], **types).output[0]
        graph.make_node("Div", [whole, divisor], outputs=outputs, **types)
    else:
        quotient = graph.make_node("Div", [dividend, divisor], **types).output[0]
        graph.make_node("Floor", [quotient], outputs=outputs, **types)


_OPERATIONS = {
    "Erfc": _erfc,
    "FloorDiv": _floor_divide,
    "UnsortedSegmentMax": _segment_max,
}

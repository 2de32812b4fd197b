"""Meta graphs: a SavedModel on disk -> its signatures, and the nodes behind them."""

import pathlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from bert_keras_layers.files.saved_model_proto import read_saved_model_proto

# TensorFlow keeps the initialisation of a model among its signatures.
_NO_SIGNATURES = {"__saved_model_init_op", "__saved_model_train_op"}


class PlacedNode(NamedTuple):
    """A `NodeDef` and the function it is in, None in the graph itself."""

    node: Any
    function: str | None


class MetaGraph:
    """What a server takes from a SavedModel: the `MetaGraphDef` with the tag `serve`.

    It is read, not run.

    Args:
        folder: The folder with the `saved_model.pb`.

    Attributes:
        tags: The tags of each `MetaGraphDef`.
        proto: The one with `serve`; an empty one where there is none.
        signatures: `SignatureDef`s that a request can name.
        nodes: All nodes, those of functions too, called or not.
        served_nodes: Those that answer a request or initialise the model: not those
            of functions that only Python could call, and not the saver's.
        served_functions: The `FunctionDef`s that these nodes call.

    Raises:
        ValueError: If the `saved_model.pb` is damaged.
    """

    def __init__(self, folder: pathlib.Path) -> None:
        from tensorflow.core.protobuf import meta_graph_pb2

        graphs = read_saved_model_proto(folder).meta_graphs
        self.folder = folder
        self.tags = [sorted(graph.meta_info_def.tags) for graph in graphs]
        served = (graph for graph in graphs if "serve" in graph.meta_info_def.tags)
        self.proto = next(served, meta_graph_pb2.MetaGraphDef())
        self.signatures = {
            name: signature
            for name, signature in self.proto.signature_def.items()
            if name not in _NO_SIGNATURES
        }
        graph = self.proto.graph_def
        functions = {one.signature.name: one for one in graph.library.function}
        self.nodes = list(_placed(graph.node, functions.values()))
        saver = _nodes_of_saver(graph.node, self.proto.saver_def)
        nodes = [node for node in graph.node if node.name not in saver]
        self.served_functions = _called_functions(nodes, functions)
        self.served_nodes = list(_placed(nodes, self.served_functions))


def _placed(nodes: Iterable[Any], functions: Iterable[Any]) -> Iterator[PlacedNode]:
    yield from (PlacedNode(node, None) for node in nodes)
    for function in functions:
        for node in function.node_def:
            yield PlacedNode(node, function.signature.name)


def _nodes_of_saver(nodes: Iterable[Any], saver: Any) -> set[str]:
    """Returns the names of the nodes that write and read the variables."""
    by_name = {node.name: node for node in nodes}
    pending = [saver.save_tensor_name, saver.restore_op_name]
    found = set()
    while pending:
        # An input is "node", "node:1" or, for control, "^node".
        name = pending.pop().lstrip("^").split(":")[0]
        if name in by_name and name not in found:
            found.add(name)
            pending += by_name[name].input
    return found


def _called_functions(nodes: Iterable[Any], functions: dict[str, Any]) -> list[Any]:
    """Returns the functions that nodes call, through functions too."""
    pending, found = list(nodes), {}
    while pending:
        for name in _names_in(pending.pop()):
            if name in functions and name not in found:
                found[name] = functions[name]
                pending += functions[name].node_def
    return list(found.values())


def _names_in(node: Any) -> Iterator[str]:
    yield node.op  # Where a function is called as if it were an operation.
    for value in node.attr.values():
        yield value.func.name
        yield from (function.name for function in value.list.func)

"""Lint of operations: those that a server does not have, or has no use for."""

from collections.abc import Iterator

from bert_keras_layers.serving.meta_graph import MetaGraph, PlacedNode
from bert_keras_layers.serving.served_operations import served_operations

_PYTHON = {"EagerPyFunc", "PyFunc", "PyFuncStateless"}
_FILES = {
    *("ReadFile", "WriteFile", "MatchingFiles", "MatchingFilesDataset"),
    *("Save", "SaveSlices", "SaveV2", "MergeV2Checkpoints", "DistributedSave"),
    *("Restore", "RestoreSlice", "RestoreV2"),
    *("TextLineReader", "TextLineReaderV2", "TextLineDataset"),
    *("TFRecordReader", "TFRecordReaderV2", "TFRecordDataset", "TFRecordDatasetV2"),
    *("FixedLengthRecordReader", "FixedLengthRecordReaderV2"),
    *("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2"),
    *("WholeFileReader", "WholeFileReaderV2", "LMDBReader", "LMDBDataset"),
    *("CSVDataset", "CSVDatasetV2", "SqlDataset", "RecordInput"),
    *("SaveDataset", "SaveDatasetV2", "LoadDataset", "SnapshotDatasetV2"),
    *("DatasetToTFRecord", "CreateSummaryFileWriter", "CreateSummaryDbWriter"),
}
_REASONS = {
    **dict.fromkeys(_PYTHON, "runs Python code, which a server does not have"),
    **dict.fromkeys(_FILES, "reads or writes files while it serves"),
    "XlaCallModule": (
        "needs XLA, which a server has switched off: an export from JAX has it"
    ),
}


def lint_operations(graph: MetaGraph) -> Iterator[str]:
    """Yields a sentence for each operation that a server cannot run, or must not."""
    operations = served_operations()
    functions = {one.signature.name for one in graph.proto.graph_def.library.function}
    known = operations.known | functions
    for placed in _one_of_each(graph.nodes):
        # A server reads all functions when it loads, those that it never calls too.
        if placed.node.op not in known:
            yield (
                f"{_named(placed)} is an operation of neither TensorFlow nor "
                "tensorflow-text, so a server cannot load the model."
            )
    for placed in _one_of_each(graph.served_nodes):
        operation = placed.node.op
        if operation in _REASONS:
            yield f"{_named(placed)} {_REASONS[operation]}."
        elif operation in operations.known - operations.runnable:
            yield f"{_named(placed)} has no kernel for the CPU."


def lint_compilation(graph: MetaGraph) -> Iterator[str]:
    """Yields a sentence for each function that insists on XLA (`jit_compile=True`)."""
    functions = {
        one.signature.name
        for one in graph.served_functions
        if one.attr["_XlaMustCompile"].b
    }
    nodes = {
        placed.node.attr["f"].func.name or placed.node.name
        for placed in graph.served_nodes
        if placed.node.attr["_XlaMustCompile"].b
    }
    for name in sorted(functions | nodes):
        yield (
            f"{name!r} must be compiled by XLA, which a server has switched off: "
            "export it without jit_compile=True."
        )


def _one_of_each(nodes: list[PlacedNode]) -> list[PlacedNode]:
    """Returns the first node of each operation, sorted by operation."""
    first: dict[str, PlacedNode] = {}
    for placed in nodes:
        first.setdefault(placed.node.op, placed)
    return [first[operation] for operation in sorted(first)]


def _named(placed: PlacedNode) -> str:
    where = "the graph" if placed.function is None else f"{placed.function!r}"
    return f"{placed.node.op!r} (node {placed.node.name!r} in {where})"

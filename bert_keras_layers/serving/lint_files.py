"""Lint of files: the variables and assets of a SavedModel, there and undamaged."""

from collections.abc import Iterator

from bert_keras_layers.serving.meta_graph import MetaGraph

_TABLES = {"InitializeTableFromTextFile", "InitializeTableFromTextFileV2"}


def lint_variables(graph: MetaGraph) -> Iterator[str]:
    """Yields a sentence if the variables cannot be read, each against its checksum."""
    import tensorflow as tf

    if not graph.proto.HasField("saver_def"):
        return  # Nothing is restored.
    path = graph.folder / "variables" / "variables"
    if not path.with_suffix(".index").is_file():
        yield "There is no variables/variables.index, so no variable has a value."
        return
    name = "variables.index"
    try:
        reader = tf.train.load_checkpoint(str(path))
        for name in sorted(reader.get_variable_to_shape_map()):
            reader.get_tensor(name)
    except (tf.errors.OpError, RuntimeError, ValueError) as error:
        reason = " ".join(str(error).split())[:200]
        yield f"The variables cannot be read, at {name!r}: {reason.rstrip('.')}."


def lint_assets(graph: MetaGraph) -> Iterator[str]:
    """Yields a sentence for each asset that is missing, or is none."""
    assets = [asset.filename for asset in graph.proto.asset_file_def]
    for name in sorted(assets):
        if not (graph.folder / "assets" / name).is_file():
            yield f"There is no assets/{name}, which the model reads when it is loaded."
    tables = sorted({one.node.op for one in graph.served_nodes} & _TABLES)
    if tables and not assets:
        yield f"{tables[0]!r} reads a file that is not among the assets of the model."

"""Lint: a SavedModel -> what a server would trip over, one sentence each."""

import os
from collections.abc import Callable, Iterator

from bert_keras_layers.files.served_version import served_version
from bert_keras_layers.serving.lint_files import lint_assets, lint_variables
from bert_keras_layers.serving.lint_operations import lint_compilation, lint_operations
from bert_keras_layers.serving.lint_signatures import lint_signatures
from bert_keras_layers.serving.meta_graph import MetaGraph

_CHECKS: tuple[Callable[[MetaGraph], Iterator[str]], ...] = (
    lint_signatures,
    lint_operations,
    lint_compilation,
    lint_assets,
    lint_variables,
)


def lint_saved_model(folder: str | os.PathLike[str]) -> list[str]:
    """Returns what is wrong with a SavedModel for a server such as TF Serving.

    Looks at any SavedModel, of this library or not, without running it, for

    - no tag `serve`, no signature, no open batch; outputs that JSON cannot hold; ids
      of open length, which a server that pads would corrupt;
    - operations that a server with tensorflow-text does not know, that have no
      kernel for the CPU, run Python or open files, and functions that insist on XLA;
    - variables and assets that are missing or damaged.

    Operations and functions count where a signature or the initialisation calls
    them; unknown operations count anywhere, because they prevent loading.

    Args:
        folder: A SavedModel, or a folder of versions, of which the newest is taken.

    Returns:
        A sentence per finding; an empty list if there is none.

    Raises:
        FileNotFoundError: If there is no SavedModel.
        ValueError: If the `saved_model.pb` is damaged.
        RuntimeError: If the C library of TensorFlow, or tensorflow-text, is missing.

    Example:
    >>> import tempfile
    >>> import tensorflow as tf
    >>> from bert_keras_layers import lint_saved_model
    >>> class Doubled(tf.Module):
    ...     @tf.function(input_signature=[tf.TensorSpec((None, None), tf.int32)])
    ...     def serve(self, ids):
    ...         return {"doubled": 2.0 * tf.cast(ids, tf.float32)}
    >>> model = Doubled()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tf.saved_model.save(model, folder, signatures=model.serve)
    ...     lint_saved_model(folder)
    ["The input 'ids' of 'serving_default' has rows of open length, ..."]
    """
    graph = MetaGraph(served_version(folder))
    if not any("serve" in tags for tags in graph.tags):
        return [f"There is no tag 'serve', only {graph.tags}: a server finds nothing."]
    return [finding for check in _CHECKS for finding in check(graph)]

"""SavedModel protos: the folder of a SavedModel -> what its saved_model.pb says."""

import itertools
import pathlib
from typing import Any

from bert_keras_layers.files.saved_model import damage_named

# What TensorFlow's code for fingerprints takes for granted: without these attributes
# it ends the process.
_CALL = ("f", "config_proto")
_ATTRIBUTES = {
    "Const": ("dtype", "value"),
    "PartitionedCall": _CALL,
    "StatefulPartitionedCall": _CALL,
}


def read_saved_model_proto(folder: pathlib.Path) -> Any:
    """Returns the `SavedModel` proto of a folder, without making a graph of it.

    Args:
        folder: A folder with a `saved_model.pb`. Where there is a `fingerprint.pb` by
            the same version of TensorFlow's algorithm, the two must agree.

    Raises:
        ValueError: If the file is damaged; the folder is named.
        ImportError: If TensorFlow is not installed.
    """
    from tensorflow.core.protobuf import saved_model_pb2

    with damage_named(folder):
        proto = saved_model_pb2.SavedModel()
        proto.ParseFromString((folder / "saved_model.pb").read_bytes())
        if not proto.meta_graphs:
            raise ValueError("saved_model.pb holds no graph")
        for meta_graph in proto.meta_graphs:
            _check_attributes(meta_graph.graph_def)
        if (folder / "fingerprint.pb").is_file():
            _check_fingerprint(folder)
    return proto


def _check_attributes(graph: Any) -> None:
    functions = (function.node_def for function in graph.library.function)
    for node in itertools.chain(graph.node, *functions):
        for attribute in _ATTRIBUTES.get(node.op, ()):
            if attribute not in node.attr:
                raise ValueError(f"node {node.name!r} has no attribute {attribute!r}")


def _check_fingerprint(folder: pathlib.Path) -> None:
    from tensorflow.core.protobuf import fingerprint_pb2

    # A private path: `tf.saved_model.experimental` reads a fingerprint, makes none.
    from tensorflow.python.saved_model.pywrap_saved_model import fingerprinting

    written, received = (
        fingerprint_pb2.FingerprintDef(),
        fingerprint_pb2.FingerprintDef(),
    )
    written.ParseFromString((folder / "fingerprint.pb").read_bytes())
    received.ParseFromString(fingerprinting.CreateFingerprintDef(str(folder)))
    if written.version.producer != received.version.producer:
        return  # Another version computes another number.
    if written.saved_model_checksum != received.saved_model_checksum:
        raise ValueError(
            "saved_model.pb is not the one that fingerprint.pb was made of"
        )

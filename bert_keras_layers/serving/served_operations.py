"""Served operations: what a server with tensorflow-text can load, and what run."""

import functools
import pathlib
import tempfile
from typing import NamedTuple

from bert_keras_layers.serving.clean_process import run_clean_process

# Kernels of the device DEFAULT are there for every device.
_DEVICES = ("CPU", "DEFAULT")

# Has no kernel, because TensorFlow rewrites it before it places operations.
_REWRITTEN = {"AccumulateNV2"}


class ServedOperations(NamedTuple):
    """Names of operations.

    Args:
        known: Those that are registered.
        runnable: Those with a kernel for the CPU.
    """

    known: frozenset[str]
    runnable: frozenset[str]


@functools.cache
def served_operations() -> ServedOperations:
    """Returns the operations of the installed TensorFlow and tensorflow-text.

    Read in a clean process, once: this one may have more, of other packages and of
    TensorFlow's Python layer.

    Raises:
        RuntimeError: If the C library of TensorFlow or tensorflow-text is missing.
    """
    from tensorflow.core.framework import kernel_def_pb2, op_def_pb2

    with tempfile.TemporaryDirectory() as name:
        run_clean_process("operations", pathlib.Path(name))
        operations, kernels = op_def_pb2.OpList(), kernel_def_pb2.KernelList()
        operations.ParseFromString(pathlib.Path(name, "operations.pb").read_bytes())
        kernels.ParseFromString(pathlib.Path(name, "kernels.pb").read_bytes())
    runnable = {one.op for one in kernels.kernel if one.device_type in _DEVICES}
    return ServedOperations(
        frozenset(one.name for one in operations.op), frozenset(runnable | _REWRITTEN)
    )

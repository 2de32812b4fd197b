"""C session: a SavedModel, loaded and run by the C library as TF Serving does it."""

import contextlib
import ctypes
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bert_keras_layers.serving.c_library import CLibrary
from bert_keras_layers.serving.c_tensor import CTensor


class _Output(ctypes.Structure):
    """The `TF_Output` of the C API: one output of a node of the graph."""

    _fields_ = (("operation", ctypes.c_void_p), ("index", ctypes.c_int))


class CSession(contextlib.AbstractContextManager["CSession"]):
    """A SavedModel behind the loader of TF Serving; closed at the end of a `with`.

    Only a process that never imports TensorFlow shows what a server would: see
    `run_clean_process`.

    Args:
        library: TensorFlow's C library.
        folder: A SavedModel with the tag `serve`.

    Raises:
        RuntimeError: If TensorFlow cannot load it, with its reason.
    """

    def __init__(self, library: CLibrary, folder: str | os.PathLike[str]) -> None:
        self._library = library
        self._graph = library.call("TF_NewGraph")
        self._session = None
        options = library.call("TF_NewSessionOptions")
        tags = (ctypes.c_char_p * 1)(b"serve")
        try:
            self._session = library.checked(
                "TF_LoadSessionFromSavedModel",
                *(options, None, os.fsencode(folder), tags, len(tags)),
                *(self._graph, None),
            )
        except RuntimeError:
            self.close()
            raise
        finally:
            library.call("TF_DeleteSessionOptions", options)

    def run(
        self, feeds: Mapping[str, np.ndarray], fetches: Sequence[str]
    ) -> list[np.ndarray]:
        """Returns the values of tensors.

        Args:
            feeds: Arrays by the names of tensors, such as `serving_default_texts:0`:
                those in the signatures of the SavedModel. Strings are object arrays
                of bytes.
            fetches: Names of the tensors to return.

        Raises:
            ValueError: If there is no tensor of such a name.
            RuntimeError: If TensorFlow cannot compute them, with its reason.
        """
        inputs = (_Output * len(feeds))(*map(self._output, feeds))
        outputs = (_Output * len(fetches))(*map(self._output, fetches))
        with contextlib.ExitStack() as stack:
            tensors = []
            for array in feeds.values():
                tensors.append(CTensor.from_array(self._library, array))
                stack.callback(tensors[-1].delete)
            given = (ctypes.c_void_p * len(feeds))(*(one.pointer for one in tensors))
            taken = (ctypes.c_void_p * len(fetches))()
            self._library.checked(
                "TF_SessionRun",
                *(self._session, None, inputs, given, len(feeds)),
                *(outputs, taken, len(fetches), None, 0, None),
            )
            results = [CTensor(self._library, pointer) for pointer in taken]
            for result in results:
                stack.callback(result.delete)
            return [result.to_array() for result in results]

    def close(self) -> None:
        """Frees the model."""
        if self._session is not None:
            self._library.checked("TF_DeleteSession", self._session)
        self._library.call("TF_DeleteGraph", self._graph)

    def __exit__(self, *error: Any) -> None:
        self.close()

    def _output(self, name: str) -> _Output:
        node, _, index = name.rpartition(":")
        operation = self._library.call(
            "TF_GraphOperationByName", self._graph, node.encode()
        )
        if operation is None or not index.isdecimal():
            raise ValueError(
                "A tensor must be named as in a signature of the SavedModel, such as "
                f"'serving_default_texts:0'. Received: {name!r}"
            )
        count = self._library.call("TF_OperationNumOutputs", operation)
        if int(index) >= count:
            raise ValueError(
                f"{node!r} must be asked for an output below {count}. "
                f"Received: {name!r}"
            )
        return _Output(operation, int(index))

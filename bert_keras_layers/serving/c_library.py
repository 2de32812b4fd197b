"""C library: the part of TensorFlow that TF Serving is built on, without Python's."""

import ctypes
import importlib.util
import pathlib
import sys
from typing import Any

_FILES = {"linux": "libtensorflow_cc.so.2", "darwin": "libtensorflow_cc.2.dylib"}

_POINTER, _TEXT, _SIZE = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
_INT = ctypes.c_int


class CBuffer(ctypes.Structure):
    """The `TF_Buffer` of the C API: bytes that TensorFlow owns."""

    _fields_ = (("data", _POINTER), ("length", _SIZE), ("deallocator", _POINTER))


_BUFFER = ctypes.POINTER(CBuffer)

# Name: what it returns, then what it takes.
_FUNCTIONS: dict[str, tuple[Any, ...]] = {
    "TF_NewStatus": (_POINTER,),
    "TF_DeleteStatus": (None, _POINTER),
    "TF_GetCode": (_INT, _POINTER),
    "TF_Message": (_TEXT, _POINTER),
    "TF_DeleteBuffer": (None, _BUFFER),
    "TF_LoadLibrary": (_POINTER, _TEXT, _POINTER),
    "TF_GetAllOpList": (_BUFFER,),
    "TF_GetAllRegisteredKernels": (_BUFFER, _POINTER),
    "TF_NewGraph": (_POINTER,),
    "TF_DeleteGraph": (None, _POINTER),
    "TF_GraphOperationByName": (_POINTER, _POINTER, _TEXT),
    "TF_OperationNumOutputs": (_INT, _POINTER),
    "TF_NewSessionOptions": (_POINTER,),
    "TF_DeleteSessionOptions": (None, _POINTER),
    "TF_LoadSessionFromSavedModel": (
        # Options, run options, folder, tags, their number, graph, meta graph, status.
        *(_POINTER, _POINTER, _POINTER, _TEXT),
        *(ctypes.POINTER(_TEXT), _INT, _POINTER, _POINTER, _POINTER),
    ),
    "TF_SessionRun": (
        # Session, run options, inputs, outputs, targets, run metadata, status.
        *(None, _POINTER, _POINTER, _POINTER, _POINTER, _INT),
        *(_POINTER, _POINTER, _INT, _POINTER, _INT, _POINTER, _POINTER),
    ),
    "TF_DeleteSession": (None, _POINTER, _POINTER),
    "TF_AllocateTensor": (
        *(_POINTER, _INT, ctypes.POINTER(ctypes.c_int64), _INT, _SIZE),
    ),
    "TF_DeleteTensor": (None, _POINTER),
    "TF_TensorData": (_POINTER, _POINTER),
    "TF_TensorByteSize": (_SIZE, _POINTER),
    "TF_TensorType": (_INT, _POINTER),
    "TF_NumDims": (_INT, _POINTER),
    "TF_Dim": (ctypes.c_int64, _POINTER, _INT),
    "TF_StringInit": (None, _POINTER),
    "TF_StringCopy": (None, _POINTER, _TEXT, _SIZE),
    "TF_StringGetDataPointer": (_POINTER, _POINTER),
    "TF_StringGetSize": (_SIZE, _POINTER),
    # tensorflow::DisableXlaCompilation(), as TF Serving calls it when it starts.
    "_ZN10tensorflow21DisableXlaCompilationEv": (None,),
}


class CLibrary:
    """TensorFlow's C library with the operations of tensorflow-text, XLA switched off.

    Meant for a process that never imports TensorFlow: there nothing is registered
    but what a server has too. Both packages must be installed, for their libraries.

    Raises:
        ImportError: If a library is not there.
    """

    def __init__(self) -> None:
        file = _package_folder("tensorflow") / _FILES.get(sys.platform, "")
        if not file.is_file():
            raise ImportError(
                "The check needs TensorFlow's C library, which its packages for Linux "
                f"and macOS hold. Received: no library in {file}, on {sys.platform}"
            )
        # The libraries of tensorflow-text find their symbols in this one.
        self._library = ctypes.CDLL(str(file), ctypes.RTLD_GLOBAL)
        for name, (result, *arguments) in _FUNCTIONS.items():
            function = getattr(self._library, name)
            function.restype, function.argtypes = result, arguments
        self.call("_ZN10tensorflow21DisableXlaCompilationEv")
        for path in _package_folder("tensorflow_text").glob("python/ops/_*.so"):
            self.checked("TF_LoadLibrary", str(path).encode())

    def call(self, name: str, *arguments: Any) -> Any:
        """Calls a function of the C API."""
        return getattr(self._library, name)(*arguments)

    def checked(self, name: str, *arguments: Any) -> Any:
        """Calls one whose last argument is a status.

        Raises:
            RuntimeError: With TensorFlow's message, if the status is not OK.
        """
        status = self.call("TF_NewStatus")
        try:
            result = self.call(name, *arguments, status)
            if self.call("TF_GetCode", status):
                message = self.call("TF_Message", status).decode(errors="replace")
                raise RuntimeError(" ".join(message.split()))
            return result
        finally:
            self.call("TF_DeleteStatus", status)

    def registered(self) -> tuple[bytes, bytes]:
        """Returns all operations, an `OpList`, and kernels, a `KernelList`."""
        buffers = (
            self.call("TF_GetAllOpList"),
            self.checked("TF_GetAllRegisteredKernels"),
        )
        operations, kernels = map(self._bytes_of, buffers)
        return operations, kernels

    def _bytes_of(self, buffer: Any) -> bytes:
        content = buffer.contents
        try:
            return ctypes.string_at(content.data, content.length)
        finally:
            self.call("TF_DeleteBuffer", buffer)


def _package_folder(package: str) -> pathlib.Path:
    spec = importlib.util.find_spec(package)  # Without importing it.
    if spec is None or spec.origin is None:
        raise ImportError(
            f"{package} must be installed: pip install 'bert-keras-layers[tensorflow]'"
        )
    return pathlib.Path(spec.origin).parent

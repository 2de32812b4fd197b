"""C tensors: NumPy arrays -> tensors of TensorFlow's C API, and back."""

import ctypes
import math
from typing import Any

import numpy as np

from bert_keras_layers.serving.c_library import CLibrary

_STRING = 7
_STRING_SIZE = 24  # Of a `TF_TString`, which points to its characters or holds them.
_CODES = {
    np.dtype(name): code
    for name, code in {
        **{"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6},
        **{"int64": 9, "bool": 10, "uint16": 17, "uint32": 22, "uint64": 23},
    }.items()
}
_DTYPES = {code: dtype for dtype, code in _CODES.items()}


class CTensor:
    """A tensor that TensorFlow's C library can read.

    Strings are object arrays of bytes on the side of NumPy.

    Args:
        library: Where it lives.
        pointer: A `TF_Tensor`; this object owns it, until `delete`.
    """

    def __init__(self, library: CLibrary, pointer: Any) -> None:
        self.pointer = pointer
        self._library = library

    @classmethod
    def from_array(cls, library: CLibrary, array: np.ndarray) -> "CTensor":
        """Returns a tensor with a copy of an array.

        Raises:
            ValueError: If the array holds neither numbers nor bytes.
        """
        array = np.asarray(array)
        if array.dtype != object and array.dtype not in _CODES:
            raise ValueError(
                "An array must hold numbers, or be an object array of bytes. "
                f"Received: dtype {array.dtype}"
            )
        strings = array.dtype == object
        code = _STRING if strings else _CODES[array.dtype]
        size = array.size * _STRING_SIZE if strings else array.nbytes
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        pointer = library.call("TF_AllocateTensor", code, shape, array.ndim, size)
        tensor = cls(library, pointer)
        if strings:
            for place, value in zip(tensor._places(), array.flat, strict=True):
                library.call("TF_StringInit", place)
                library.call("TF_StringCopy", place, value, len(value))
        elif size:
            content = np.ascontiguousarray(array)
            data = library.call("TF_TensorData", pointer)
            ctypes.memmove(data, content.ctypes.data, size)
        return tensor

    def to_array(self) -> np.ndarray:
        """Returns a copy as an array.

        Raises:
            ValueError: If the tensor holds neither numbers nor strings.
        """
        code = self._library.call("TF_TensorType", self.pointer)
        if code == _STRING:
            values = [self._string_at(place) for place in self._places()]
            return np.array(values, object).reshape(self._shape())
        if code not in _DTYPES:
            raise ValueError(
                "A tensor must hold numbers or strings to be read. "
                f"Received: the type {code} of TensorFlow's C API"
            )
        array = np.empty(self._shape(), _DTYPES[code])
        if array.size:
            data = self._library.call("TF_TensorData", self.pointer)
            ctypes.memmove(array.ctypes.data, data, array.nbytes)
        return array

    def delete(self) -> None:
        """Frees the memory, of strings too; the tensor cannot be used after it."""
        self._library.call("TF_DeleteTensor", self.pointer)

    def _shape(self) -> tuple[int, ...]:
        rank = self._library.call("TF_NumDims", self.pointer)
        return tuple(self._library.call("TF_Dim", self.pointer, i) for i in range(rank))

    def _places(self) -> range:
        """Addresses of the strings."""
        count = math.prod(self._shape())
        start = self._library.call("TF_TensorData", self.pointer) if count else 0
        return range(start, start + count * _STRING_SIZE, _STRING_SIZE)

    def _string_at(self, place: int) -> bytes:
        return ctypes.string_at(
            self._library.call("TF_StringGetDataPointer", place),
            self._library.call("TF_StringGetSize", place),
        )

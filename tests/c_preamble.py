"""Code that begins a process with TensorFlow's C library and none of its Python."""

import pathlib

import bert_keras_layers

# The package without its __init__, and so without Keras.
C_PREAMBLE = f"""
import sys, types
import numpy as np
package = types.ModuleType("bert_keras_layers")
package.__path__ = [{str(pathlib.Path(bert_keras_layers.__file__).parent)!r}]
sys.modules["bert_keras_layers"] = package
from bert_keras_layers.serving.c_library import CLibrary
from bert_keras_layers.serving.c_session import CSession
library = CLibrary()
"""

"""Export of ids: a text model -> an ONNX or LiteRT file that takes ids, checked."""

import importlib.util
import os
import pathlib
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

from bert_keras_layers.files.published_file import published_file
from bert_keras_layers.models.text_model import TextModel
from bert_keras_layers.serving.export import CHECK_TEXTS, TOLERANCES
from bert_keras_layers.serving.litert_file import read_litert, write_litert
from bert_keras_layers.serving.number_check import difference_of_numbers
from bert_keras_layers.serving.onnx_file import read_onnx, write_onnx
from bert_keras_layers.serving.served_answer import ServedAnswer, served_answer
from bert_keras_layers.serving.served_functions import fitted

Arrays = dict[str, np.ndarray]


class _Format(NamedTuple):
    """What is needed for a kind of file, and what writes and reads it."""

    extra: str
    packages: tuple[str, ...]
    write: Callable[[Any, pathlib.Path], None]
    read: Callable[[pathlib.Path], Callable[[Arrays], Arrays]]


_FORMATS = {
    ".onnx": _Format("onnx", ("tf2onnx", "onnxruntime"), write_onnx, read_onnx),
    ".tflite": _Format("litert", ("ai_edge_litert",), write_litert, read_litert),
}


def export_ids_model(
    model: TextModel,
    file: str | os.PathLike[str],
    length: int | None = None,
    check_texts: Sequence[str] = CHECK_TEXTS,
) -> pathlib.Path:
    """Writes a model as an ONNX file (`.onnx`) or a LiteRT file (`.tflite`).

    The file takes what `model.preprocessor` returns, int32 `(batch, tokens)` by name,
    in batches of any size. It returns what the model does, float32, under the name
    that `export_saved_model` gives it: `probabilities`, `values` or `features`.

    Texts cannot go in: the operations of the tokeniser exist only in a SavedModel.

    `keras.Model.export` is not enough here: its ONNX files of a BERT do not load, as
    tf2onnx has no `Erfc`, which is in GELU; its LiteRT files of open lengths need
    the Flex delegate, which runtimes lack.

    Args:
        model: With a `preprocessor`, on the TensorFlow backend, in float32.
        file: Where to; the folder is made if there is none.
        length: Tokens of each text, 2 to the longest of the preprocessor. None, in
            ONNX only: any number of them.
        check_texts: Texts whose ids go through the file, in ONNX Runtime or LiteRT,
            before it is moved into place; there the numbers must be those of `model`
            within 1e-5 of the largest, or of 1.

    Returns:
        The file.

    Raises:
        ValueError: If the model cannot be exported so.
        ImportError: If the packages for such a file are not installed: those of the
            extras `onnx` and `litert`.
        RuntimeError: If the check fails; `file` is then as it was.

    Example:
    >>> import tempfile
    >>> from bert_keras_layers import BertEncoder, BertPreprocessor, TextClassifier
    >>> from bert_keras_layers import export_ids_model
    >>> words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film"]
    >>> encoder = BertEncoder(
    ...     vocabulary_size=7, hidden_size=8, num_layers=2, num_heads=2,
    ...     intermediate_size=16)
    >>> model = TextClassifier(encoder, 2, BertPreprocessor(words), layers=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_ids_model(model, f"{folder}/films.onnx").name
    'films.onnx'
    """
    file = pathlib.Path(file).expanduser()
    answer = served_answer(model)
    chosen = _checked_format(file)
    _check_length(length, file, model.preprocessor)
    _check_model(model)
    batches = _check_batches(model, answer, length, check_texts)
    with published_file(file) as draft:
        try:
            chosen.write(_function(model, answer.main, length), draft)
            compute = chosen.read(draft)
            for ids in batches:
                _compare(compute(ids)[answer.main], _expected(model, ids))
        # Converters and runtimes raise errors of their own, of many types.
        except Exception as error:
            raise RuntimeError(
                f"The {file.suffix} file did not pass its check, and was not put into "
                f"place: {error}"
            ) from error
    return file


def _checked_format(file: pathlib.Path) -> _Format:
    chosen = _FORMATS.get(file.suffix)
    if chosen is None:
        raise ValueError(
            f"`file` must end in one of {list(_FORMATS)}; these take ids, as the "
            "operations of the tokeniser exist only in a SavedModel: "
            f"`export_saved_model` writes one. Received: file='{file}'"
        )
    if not all(map(importlib.util.find_spec, chosen.packages)):
        raise ImportError(
            f"A {file.suffix} file is written and checked with "
            f"{' and '.join(chosen.packages)}: "
            f"pip install 'bert-keras-layers[tensorflow,{chosen.extra}]'"
        )
    return chosen


def _check_length(length: int | None, file: pathlib.Path, preprocessor: Any) -> None:
    longest = preprocessor.sequence_length
    if length is None and file.suffix == ".tflite":
        raise ValueError(
            "A .tflite file needs a fixed `length`, as LiteRT alone cannot compute "
            "texts of any. Received: length=None"
        )
    if length is not None and not (type(length) is int and 2 <= length <= longest):
        raise ValueError(
            f"`length` must be an integer, 2 to {longest}, the longest text of the "
            f"preprocessor. Received: length={length!r}"
        )


def _check_model(model: TextModel) -> None:
    backend = keras.backend.backend()
    if backend != "tensorflow":
        raise ValueError(
            "Files of ids are written on the TensorFlow backend: save the model as a "
            ".keras file, and load it with KERAS_BACKEND=tensorflow. "
            f"Received: a model on {backend}"
        )
    if model.encoder.compute_dtype != "float32":
        raise ValueError(
            "`model` must compute in float32. "
            f"Received: an encoder in {model.encoder.compute_dtype}"
        )


def _function(model: TextModel, main: str, length: int | None) -> Any:
    import tensorflow as tf

    names = list(model.input)

    def compute(*ids: Any) -> dict[str, Any]:
        outputs = model(dict(zip(names, ids, strict=True)), training=False)
        return {main: keras.ops.cast(outputs, "float32")}

    specs = [tf.TensorSpec((None, length), tf.int32, name) for name in names]
    return tf.function(compute, input_signature=specs, autograph=False)


def _check_batches(
    model: TextModel, answer: ServedAnswer, length: int | None, texts: Sequence[str]
) -> list[Arrays]:
    """Returns the ids of all texts, and those of the first as a batch of its own."""
    if isinstance(texts, str) or not texts:
        raise ValueError(
            f"`check_texts` must be a list of at least one text. Received: {texts!r}"
        )

    def ids(texts: Sequence[str]) -> Arrays:
        read = answer.read(model.preprocessor, np.array(texts, object))
        longest = np.asarray(read["input_ids"]).shape[1]
        shape = (None, length or longest)
        return {name: fitted(read[name], shape, "int32") for name in model.input}

    return [ids(texts), ids(texts[:1])]


def _expected(model: TextModel, ids: Arrays) -> np.ndarray:
    import tensorflow as tf

    # The runtimes compute on the CPU, and some GPUs round more coarsely.
    with tf.device("CPU"):
        return np.asarray(model(ids, training=False))


def _compare(computed: np.ndarray, expected: np.ndarray) -> None:
    difference = difference_of_numbers(computed, expected, TOLERANCES["float32"])
    if difference is not None:
        raise RuntimeError(f"The numbers must be those of the model {difference}")

"""Warm-up: the requests that TF Serving runs before a version takes any other."""

import os
import pathlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bert_keras_layers.files.published_file import published_file
from bert_keras_layers.files.served_version import served_version
from bert_keras_layers.serving.meta_graph import MetaGraph
from bert_keras_layers.serving.server_name import check_server_name

BATCH_SIZES = (1, 8, 32)
"""Numbers of rows of warm-up requests, and of the batches that a server forms."""

WARM_UP_TEXTS = (
    "Where is my parcel?",
    "It was due on Monday, and it's Thursday now! " * 20,
    "Ça coûte 20 € — trop cher 😡",
    "",
)
"""Texts of warm-up requests: short, long, beyond ASCII, and none."""

MOST_RECORDS = 1000
"""TF Serving refuses a version with more warm-up requests."""

OPEN_LENGTH = 8
"""Length of what a signature leaves open, other than the batch."""


def write_warm_up(
    version_folder: str | os.PathLike[str],
    batch_sizes: Sequence[int] = BATCH_SIZES,
    texts: Sequence[str] = WARM_UP_TEXTS,
    model_name: str | None = None,
) -> pathlib.Path:
    """Writes the requests that TF Serving runs when it loads a version.

    Without them the first users wait for what TensorFlow sets up lazily, and a
    version that loads but cannot run takes the place of one that can; with them the
    server refuses it. There is one request for each signature and batch size. String
    inputs hold `texts` over and over; inputs whose name ends in `mask` hold ones,
    all others zeros, which are ids in range of any vocabulary. Loading takes as long
    as all of them: fewer, smaller batches load sooner.

    Args:
        version_folder: A SavedModel, such as `saved_models/parcels/1`, or a folder
            of versions, of which the newest is taken.
        batch_sizes: Numbers of rows, at least 1. A server that forms batches refuses
            requests, these too, of more rows than its `max_batch_size`.
        texts: At least one, such as users send.
        model_name: By default the name of the folder that holds the versions.

    Returns:
        The file, `assets.extra/tf_serving_warmup_requests`, in `version_folder`.

    Raises:
        FileNotFoundError: If there is no SavedModel.
        ValueError: If it is damaged or has no signature that can be requested, there
            would be more than 1000 requests, or an argument is wrong.

    Example:
    >>> import pathlib, tempfile
    >>> import tensorflow as tf
    >>> from bert_keras_layers import write_warm_up
    >>> module = tf.Module()
    >>> module.serve = tf.function(
    ...     lambda texts: {"lengths": tf.strings.length(texts)},
    ...     input_signature=[tf.TensorSpec((None,), tf.string, name="texts")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     version = pathlib.Path(folder, "lengths", "1")
    ...     tf.saved_model.save(module, str(version), signatures=module.serve)
    ...     file = write_warm_up(version)
    ...     sum(1 for record in tf.data.TFRecordDataset(str(file)))
    3
    """
    folder = served_version(version_folder)
    name = folder.absolute().parent.name
    if model_name is not None:
        name = check_server_name("model", model_name)
    if not batch_sizes or any(
        not isinstance(size, int | np.integer) or size < 1 for size in batch_sizes
    ):
        raise ValueError(
            "`batch_sizes` must be numbers of rows, at least 1. "
            f"Received: {batch_sizes!r}"
        )
    if isinstance(texts, str) or not texts:
        raise ValueError(
            f"`texts` must be a list of at least one text. Received: {texts!r}"
        )
    signatures = {
        name: dict(sorted(signature.inputs.items()))
        for name, signature in sorted(MetaGraph(folder).signatures.items())
    }
    count = len(signatures) * len(batch_sizes)
    if not 0 < count <= MOST_RECORDS:
        raise ValueError(
            f"There must be 1 to {MOST_RECORDS} requests, one for each signature and "
            f"batch size. Received: {len(signatures)} signatures in {folder} and "
            f"{len(batch_sizes)} batch sizes"
        )
    import tensorflow as tf

    file = folder / "assets.extra" / "tf_serving_warmup_requests"
    with published_file(file) as draft, tf.io.TFRecordWriter(str(draft)) as writer:
        for record in _records(name, signatures, batch_sizes, texts):
            writer.write(record)
    return file


def _records(
    model_name: str,
    signatures: dict[str, dict[str, Any]],
    batch_sizes: Sequence[int],
    texts: Sequence[str],
) -> Iterator[bytes]:
    """Yields PredictionLog protos, each with a PredictRequest inside a PredictLog.

    They are written by hand: the package that defines them is not installed with
    TensorFlow. The numbers are those of the fields in prediction_log.proto,
    predict.proto and model.proto of TF Serving.
    """
    for signature, inputs in signatures.items():
        model_spec = _field(1, model_name.encode()) + _field(3, signature.encode())
        for batch_size in batch_sizes:
            request = _field(1, model_spec)
            for name, info in inputs.items():
                tensor = _tensor(name, info, batch_size, texts)
                request += _field(2, _field(1, name.encode()) + _field(2, tensor))
            yield _field(6, _field(1, request))


def _field(number: int, content: bytes) -> bytes:
    """Returns a field of a proto: its number and wire type 2, length and content."""
    length, size = b"", len(content)
    while size > 127:
        length += bytes([size & 127 | 128])
        size >>= 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def _tensor(name: str, info: Any, batch_size: int, texts: Sequence[str]) -> bytes:
    import tensorflow as tf

    dtype = tf.as_dtype(info.dtype)
    sizes = [dimension.size for dimension in info.tensor_shape.dim]
    shape = [OPEN_LENGTH if size < 0 else size for size in sizes]
    if sizes and sizes[0] < 0:
        shape[0] = batch_size
    if dtype == tf.string:
        values = np.resize(np.array([text.encode() for text in texts], object), shape)
    else:
        fill = np.ones if name.endswith("mask") else np.zeros
        values = fill(shape, dtype.as_numpy_dtype)
    return bytes(tf.make_tensor_proto(values, dtype, shape).SerializeToString())

"""Feature files: vectors, batch by batch -> a .npz file, whole or not at all."""

import pathlib
import zipfile
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.lib import format as npy

from bert_keras_layers.files.published_file import published_file


def write_features(
    path: pathlib.Path,
    shape: tuple[int, int],
    batches: Iterable[np.ndarray],
    labels: Sequence[str] | None = None,
) -> None:
    """Writes `features`, and `labels` where there are some, for `numpy.load`.

    Batches are written as they come, so that not all need to fit into memory.

    Args:
        path: The file.
        shape: That of all batches together, `(texts, width)`.
        batches: Float32 `(batch, width)`.
        labels: One per text.
    """
    header = {"descr": "<f4", "fortran_order": False, "shape": shape}
    with published_file(path) as draft, zipfile.ZipFile(draft, "w") as archive:
        with archive.open("features.npy", "w", force_zip64=True) as entry:
            npy.write_array_header_2_0(entry, header)
            for batch in batches:
                entry.write(batch.astype("<f4").tobytes())
        if labels is not None:
            with archive.open("labels.npy", "w", force_zip64=True) as entry:
                npy.write_array(entry, np.array(labels), allow_pickle=False)

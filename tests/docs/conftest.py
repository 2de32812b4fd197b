"""The built site, and the folder in which pages run."""

import pathlib
import shutil
import subprocess
import sys

import keras
import pytest
from docs.pages import DOCS
from encoders.test_bert_loading import CONFIG, random_weights, write_tf1_checkpoint

FIXTURES = DOCS.parent / "tests" / "fixtures"


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """Folder of the site, built as `make site` does; a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    process = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=DOCS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return folder


@pytest.fixture
def workplace(published_minilm, minilm, tmp_path, monkeypatch):
    """Current folder with every file that a page reads."""
    keras.utils.clear_session()  # Names of layers as in a fresh process.
    for name in ("hub_encoder", "hub_preprocess"):
        shutil.copytree(FIXTURES / name, tmp_path / name)
    write_tf1_checkpoint(tmp_path / "uncased_L-2_H-128_A-2", random_weights(CONFIG))
    pathlib.Path(tmp_path / "minilm").symlink_to(minilm, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path

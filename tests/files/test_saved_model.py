import hashlib
import pathlib
import shutil

import pytest

from bert_keras_layers.files.saved_model import load_saved_model

SAVED_MODEL = pathlib.Path(__file__).parents[1] / "fixtures" / "hub_encoder_v2"
GRAPH = "saved_model.pb"
WEIGHTS = "variables/variables.data-00000-of-00001"
INDEX = "variables/variables.index"

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def folder(tmp_path):
    return shutil.copytree(SAVED_MODEL, tmp_path / "model")


def refused(folder):
    with pytest.raises(ValueError, match=rf"SavedModel in {folder} must be whole.*Rec"):
        load_saved_model(folder)


def test_a_saved_model_is_loaded_alive(folder):
    digest = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    model = load_saved_model(str(folder), digest)
    assert len(model.variables) == 56
    assert callable(model)


def test_the_digest_is_checked_before_anything_is_loaded(folder):
    (folder / GRAPH).write_bytes(b"no graph")
    with pytest.raises(ValueError, match=f"SHA-256 of .*{WEIGHTS} must be {'0' * 64}"):
        load_saved_model(folder, "0" * 64)
    (folder / WEIGHTS).unlink()
    with pytest.raises(FileNotFoundError, match=WEIGHTS):
        load_saved_model(folder, "0" * 64)


@pytest.mark.parametrize("name", [GRAPH, WEIGHTS, INDEX])
@pytest.mark.parametrize("kept", [0, 0.5, 0.99])
def test_a_cut_file_is_refused(folder, name, kept):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: int(kept * len(content))])
    refused(folder)


@pytest.mark.parametrize(
    ("name", "where"),
    [(WEIGHTS, 0.1), (WEIGHTS, 0.5), (WEIGHTS, 0.99), (INDEX, 0.1), (GRAPH, 0.305)],
)
def test_a_flipped_bit_is_refused(folder, name, where):
    content = bytearray((folder / name).read_bytes())
    content[int(where * len(content))] ^= 16
    (folder / name).write_bytes(content)
    refused(folder)


@pytest.mark.parametrize("name", [WEIGHTS, INDEX])
def test_a_missing_file_of_weights_is_refused(folder, name):
    (folder / name).unlink()
    refused(folder)

import pathlib

import huggingface_hub
import pytest

from bert_keras_layers.files.pretrained_folder import pretrained_folder


@pytest.fixture
def hub(monkeypatch):
    """Records what is asked of the hub, and answers with a folder."""
    asked = []

    def snapshot_download(name, revision, allow_patterns):
        asked.append((name, revision, allow_patterns))
        return "/cache/snapshot"

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    return asked


def test_a_folder_is_returned_as_it_is(tmp_path, hub):
    assert pretrained_folder(tmp_path, ["a"]) == tmp_path
    assert pretrained_folder(str(tmp_path), ["a"]) == tmp_path
    assert hub == []


def test_the_home_folder_is_expanded(tmp_path, hub, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()
    assert pretrained_folder("~/model", ["a"]) == tmp_path / "model"
    assert hub == []


@pytest.mark.parametrize("name", ["bert-base-uncased", "google-bert/bert_base.v1"])
def test_a_hub_id_is_fetched(hub, name):
    assert pretrained_folder(name, ("a", "b"), "v1") == pathlib.Path("/cache/snapshot")
    assert hub == [(name, "v1", ["a", "b"])]


@pytest.mark.parametrize(
    "name", ["./none", "/no/ne", "/none", "~/none", "../a/b", "a/b/c", "a\\b", ".x"]
)
def test_what_looks_like_a_path_is_never_sent_to_the_hub(hub, name):
    with pytest.raises(
        FileNotFoundError, match=r"existing folder or a hub id.*Received"
    ):
        pretrained_folder(name, ["a"])
    assert hub == []


def test_a_path_object_is_never_sent_to_the_hub(hub):
    with pytest.raises(FileNotFoundError, match="Received: 'bert-base-uncased'"):
        pretrained_folder(pathlib.Path("bert-base-uncased"), ["a"])
    assert hub == []


@pytest.mark.parametrize("name", ["", "two words", "-x", "https:x", "name/"])
def test_what_can_be_neither_is_refused(hub, name):
    with pytest.raises(ValueError, match=r"existing folder or a hub id.*Received"):
        pretrained_folder(name, ["a"])
    assert hub == []


def test_a_file_is_refused(hub, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match=r"not a file. Received: .*file"):
        pretrained_folder(tmp_path / "file", ["a"])


def test_an_id_that_cannot_be_reached_is_named(monkeypatch):
    from huggingface_hub.errors import LocalEntryNotFoundError

    def snapshot_download(*args, **kwargs):
        raise LocalEntryNotFoundError("offline")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    with pytest.raises(FileNotFoundError, match="Received: 'no/one', revision='x'"):
        pretrained_folder("no/one", ["a"], "x")

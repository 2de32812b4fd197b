import pytest

from bert_keras_layers.files.published_folder import (
    newest_version,
    next_version,
    published_folder,
)


def test_versions_count_up_from_the_highest_number(tmp_path):
    assert newest_version(tmp_path / "none") is None
    assert next_version(tmp_path / "none") == tmp_path / "none" / "1"
    for name in ("2", "10", ".draft-99", "latest", "3.bak"):
        (tmp_path / name).mkdir()
    assert newest_version(tmp_path) == tmp_path / "10"
    assert next_version(tmp_path) == tmp_path / "11"


def test_a_folder_appears_whole(tmp_path):
    target = tmp_path / "models" / "1"
    with published_folder(target) as draft:
        (draft / "file").write_text("done")
        assert not target.exists()
        assert draft.parent == target.parent
        assert not draft.name.isdecimal()
    assert (target / "file").read_text() == "done"
    assert target.stat().st_mode & 0o777 == 0o755
    assert list(target.parent.iterdir()) == [target]


def test_after_an_error_nothing_is_there(tmp_path):
    target = tmp_path / "1"

    def write_half():
        with published_folder(target) as draft:
            (draft / "file").write_text("half")
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        write_half()
    assert list(tmp_path.iterdir()) == []


def test_an_existing_folder_is_never_replaced(tmp_path):
    target = tmp_path / "1"
    target.mkdir()
    (target / "old").touch()
    with pytest.raises(FileExistsError, match="must be no"), published_folder(target):
        pass
    assert [path.name for path in tmp_path.rglob("*")] == ["1", "old"]

import pytest

from bert_keras_layers.files.published_file import published_file


def test_a_file_appears_whole_and_can_be_read(tmp_path):
    target = tmp_path / "new" / "file.npz"
    with published_file(target) as draft:
        draft.write_text("done")
        assert not target.exists()
        assert (draft.parent, draft.suffix) == (target.parent, ".npz")
    assert target.read_text() == "done"
    assert target.stat().st_mode & 0o777 == 0o644
    assert list(target.parent.iterdir()) == [target]


def test_after_an_error_the_file_is_as_it_was(tmp_path):
    target = tmp_path / "file"
    target.write_text("before")

    def write_half():
        with published_file(target) as draft:
            draft.write_text("half")
            raise RuntimeError("broken")

    with pytest.raises(RuntimeError, match="broken"):
        write_half()
    assert target.read_text() == "before"
    assert list(tmp_path.iterdir()) == [target]

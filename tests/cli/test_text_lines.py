import io
import types

import pytest

from bert_keras_layers_cli.data.text_lines import read_lines


def test_each_line_is_a_text(tmp_path):
    file = tmp_path / "a.txt"
    file.write_bytes("\ufeffeins\r\n\r\nzwei\u2028noch zwei\n".encode())
    assert read_lines(file) == ["eins", "", "zwei\u2028noch zwei"]


def test_a_dash_is_stdin(tmp_path, monkeypatch):
    stdin = types.SimpleNamespace(buffer=io.BytesIO(b"one\ntwo"))
    monkeypatch.setattr("sys.stdin", stdin)
    assert read_lines(tmp_path.relative_to(tmp_path) / "-") == ["one", "two"]


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "at least one line"), (b"\n", "at least one line"), (b"\xe9", "UTF-8")],
)
def test_a_wrong_file_is_named(content, message, tmp_path):
    file = tmp_path / "a.txt"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=rf"a\.txt must .*{message}"):
        read_lines(file)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\.txt"):
        read_lines(tmp_path / "none.txt")

import pytest

from bert_keras_layers_cli.data.table_file import read_columns


def test_tsv_is_read_without_quoting(tmp_path):
    file = tmp_path / "data.tsv"
    file.write_text(
        '\ufefflabel\tid\ttext\nx\t1\t"quoted" text\ny\t2\tça, va\n', "utf-8"
    )
    texts, labels = read_columns(file, ["text", "label"])
    assert texts == ['"quoted" text', "ça, va"]
    assert labels == ["x", "y"]


def test_csv_is_read_with_quoting(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text('text,label\n"one, two\nthree",x\n', "utf-8")
    assert read_columns(file, ["text", "label"]) == [["one, two\nthree"], ["x"]]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", "text\tlabel\n", "at least one row"),
        ("a.tsv", "", r"columns 'text' and 'label'. Received: \[\]"),
        ("a.tsv", "text\tintent\na\tb\n", r"Received: \['text', 'intent'\]"),
        ("a.tsv", "text\tlabel\na\tb\nc\n", "line 3 without label"),
        ("a.tsv", "text\tlabel\n\tb\n", "line 2 without text"),
        ("a.tsv", "text\tlabel\n  \tb\n", "line 2 without text"),
        ("a.tsv", "text\tlabel\n" + "a" * 200_000 + "\tb\n", "must be a UTF-8 table"),
        ("a.xlsx", "", r"one of \['.csv', '.tsv'\]"),
    ],
)
def test_a_wrong_file_is_named(name, content, message, tmp_path):
    file = tmp_path / name
    file.write_text(content, "utf-8")
    with pytest.raises(ValueError, match=message):
        read_columns(file, ["text", "label"])


def test_another_encoding_is_named(tmp_path):
    file = tmp_path / "latin.tsv"
    file.write_bytes("text\tlabel\né\tx\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin\.tsv must be a UTF-8 table"):
        read_columns(file, ["text", "label"])


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\.tsv"):
        read_columns(tmp_path / "none.tsv", ["text", "label"])

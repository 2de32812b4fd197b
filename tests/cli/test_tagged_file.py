import pytest

from bert_keras_layers_cli.data.tagged_file import read_tagged

CONLL = """\
-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O

\r
Peter NNP B-NP B-PER
"""
CONLLU = """\
# sent_id = 1
# text = Dámelo.
1-2\tDámelo\t_\t_\t_\t_
1\tDá\tdar\tVERB\tV\t_
2\tmelo\tyo\tPRON\tP\t_
2.1\tnada\tnada\tX\tX\t_
3\t.\t.\tPUNCT\tF\t_

1\t#\t#\tSYM\tS\t_
"""


def test_the_first_and_the_last_column_are_read(tmp_path):
    file = tmp_path / "a.conll"
    file.write_bytes(b"\xef\xbb\xbf" + CONLL.encode())
    words, tags = read_tagged(file)
    assert words == [["EU", "rejects"], ["Peter"]]
    assert tags == [["B-ORG", "O"], ["B-PER"]]
    assert read_tagged(file, tag_column=2)[1] == [["NNP", "VBZ"], ["NNP"]]
    assert read_tagged(file, -2, 1)[0] == [["B-NP", "B-VP"], ["B-NP"]]


def test_conllu_has_words_and_comments(tmp_path):
    file = tmp_path / "a.conllu"
    file.write_text(CONLLU, "utf-8")
    words, tags = read_tagged(file)
    assert words == [["Dá", "melo", "."], ["#"]]
    assert tags == [["VERB", "PRON", "PUNCT"], ["SYM"]]
    assert read_tagged(file, tag_column=5)[1] == [["V", "P", "F"], ["S"]]


def test_tabs_separate_words_that_have_spaces(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("New York\tCITY\n", "utf-8")
    assert read_tagged(file) == ([["New York"]], [["CITY"]])


@pytest.mark.parametrize(
    ("name", "content", "columns", "message"),
    [
        ("a.csv", "", (), r"one of \['.conll', "),
        ("a.conll", "\n\n", (), "at least one sentence"),
        ("a.conll", "a O\nb O\n", (1, 3), "line 1 of .* with 2 columns"),
        ("a.conll", "a O\nb O\n", (-3, 1), "line 1 of .* with 2 columns"),
        ("a.tsv", "a\tO\nb\t\n", (), "line 2 of"),
        ("a.conll", "a O\n", (0, 1), "counted from 1"),
    ],
)
def test_a_wrong_file_is_named(name, content, columns, message, tmp_path):
    file = tmp_path / name
    file.write_text(content, "utf-8")
    with pytest.raises(ValueError, match=message):
        read_tagged(file, *columns)


def test_another_encoding_is_named(tmp_path):
    file = tmp_path / "latin.conll"
    file.write_bytes("é x\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin\.conll must be UTF-8 text"):
        read_tagged(file)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\.conll"):
        read_tagged(tmp_path / "none.conll")

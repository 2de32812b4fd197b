"""Tagged files: a word and its tag per line -> sentences and their tags."""

import pathlib
import re

ENDINGS = (".conll", ".conllu", ".tsv", ".txt")
# In the first column of CoNLL-U: "3" is a word, "3-4" and "3.1" are none.
_WORD_ID = re.compile(r"\d+")
_COLUMNS = {".conllu": (2, 4)}


def read_tagged(
    path: pathlib.Path, token_column: int | None = None, tag_column: int | None = None
) -> tuple[list[list[str]], list[list[str]]]:
    """Reads a UTF-8 file with a word per line, an empty line between sentences.

    Columns are separated by tabs or, in a line without one, by spaces. Left out are
    lines that start `-DOCSTART-` and, in CoNLL-U, comments and lines that are no word:
    ranges such as `3-4` and empty nodes such as `3.1`.

    Args:
        path: The file; .conllu is read as CoNLL-U.
        token_column: Of the words: 1 is the first column, -1 the last. Default: 1, in
            CoNLL-U 2.
        tag_column: Of the tags. Default: -1, in CoNLL-U 4.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is of another kind, has no sentence, or a line has not
            these columns; the line is named.
    """
    if path.suffix not in ENDINGS:
        raise ValueError(
            f"A tagged file must be one of {list(ENDINGS)}. Received: {path}"
        )
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}")
    if 0 in (token_column, tag_column):
        raise ValueError(
            "Columns are counted from 1, or from -1 backwards. Received: 0"
        )
    defaults = _COLUMNS.get(path.suffix, (1, -1))
    columns = (token_column or defaults[0], tag_column or defaults[1])
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be UTF-8 text. Received: {error}") from error
    words: list[list[str]] = [[]]
    tags: list[list[str]] = [[]]
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            words.append([])
            tags.append([])
        elif not _is_left_out(line, path.suffix):
            word, tag = _cells(line, columns, f"line {number} of {path}")
            words[-1].append(word)
            tags[-1].append(tag)
    words, tags = ([row for row in rows if row] for rows in (words, tags))
    if not words:
        raise ValueError(f"{path} must have at least one sentence. Received: none")
    return words, tags


def _is_left_out(line: str, ending: str) -> bool:
    if ending != ".conllu":
        return line.startswith("-DOCSTART-")
    return not _WORD_ID.fullmatch(line.split("\t")[0])


def _cells(line: str, columns: tuple[int, int], where: str) -> list[str]:
    cells = line.rstrip("\r").split("\t") if "\t" in line else line.split()
    found = []
    for column in columns:
        index = column - 1 if column > 0 else column
        in_range = -len(cells) <= index < len(cells)
        cell = cells[index].strip() if in_range else ""
        if not cell:
            raise ValueError(
                f"Each line must have a word in column {columns[0]} and a tag in "
                f"column {columns[1]}. Received: {where}, with {len(cells)} columns"
            )
        found.append(cell)
    return found

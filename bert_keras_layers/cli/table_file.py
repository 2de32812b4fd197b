"""Table files: a .tsv or .csv file -> texts and their labels."""

import csv
import pathlib
from typing import NamedTuple


class _Tsv(csv.excel_tab):
    quoting = csv.QUOTE_NONE


_DIALECTS: dict[str, type[csv.Dialect]] = {".csv": csv.excel, ".tsv": _Tsv}


class LabelledTexts(NamedTuple):
    """Texts and, for each, its label."""

    texts: list[str]
    labels: list[str]


def read_table(
    path: pathlib.Path, text_column: str, label_column: str
) -> LabelledTexts:
    """Reads two columns of a UTF-8 table with a header line.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is no .tsv or .csv, has no rows or not these columns, or
            a row is too short; the line is named.
    """
    if path.suffix not in _DIALECTS:
        raise ValueError(
            f"A table must be one of {sorted(_DIALECTS)}. Received: {path}"
        )
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}")
    try:
        return _read(path, text_column, label_column)
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} must be a UTF-8 table. Received: {error}") from error


def _read(path: pathlib.Path, text_column: str, label_column: str) -> LabelledTexts:
    texts, labels = [], []
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, dialect=_DIALECTS[path.suffix])
        columns = reader.fieldnames or []
        for column in (text_column, label_column):
            if column not in columns:
                raise ValueError(
                    f"{path} must have the columns {text_column!r} and "
                    f"{label_column!r}. Received: {list(columns)}"
                )
        for row in reader:
            if not all(
                (row[name] or "").strip() for name in (text_column, label_column)
            ):
                raise ValueError(
                    f"Each row of {path} must have a text and a label. "
                    f"Received: line {reader.line_num} without one of them"
                )
            texts.append(row[text_column])
            labels.append(row[label_column])
    if not texts:
        raise ValueError(f"{path} must have at least one row below its header.")
    return LabelledTexts(texts, labels)

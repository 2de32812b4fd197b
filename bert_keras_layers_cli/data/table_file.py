"""Table files: a .tsv or .csv file -> its columns."""

import csv
import pathlib
from collections.abc import Sequence


class _Tsv(csv.excel_tab):
    quoting = csv.QUOTE_NONE


_DIALECTS: dict[str, type[csv.Dialect]] = {".csv": csv.excel, ".tsv": _Tsv}


def read_columns(path: pathlib.Path, names: Sequence[str]) -> list[list[str]]:
    """Reads columns of a UTF-8 table with a header line.

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
        return _read(path, names)
    except (csv.Error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} must be a UTF-8 table. Received: {error}") from error


def _read(path: pathlib.Path, names: Sequence[str]) -> list[list[str]]:
    rows = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, dialect=_DIALECTS[path.suffix])
        columns = reader.fieldnames or []
        for name in names:
            if name not in columns:
                wanted = " and ".join(map(repr, names))
                raise ValueError(
                    f"{path} must have the columns {wanted}. Received: {list(columns)}"
                )
        for row in reader:
            cells = [row[name] or "" for name in names]
            for name, cell in zip(names, cells, strict=True):
                if not cell.strip():
                    raise ValueError(
                        f"Each row of {path} must have {' and '.join(names)}. "
                        f"Received: line {reader.line_num} without {name}"
                    )
            rows.append(cells)
    if not rows:
        raise ValueError(f"{path} must have at least one row below its header.")
    return [list(column) for column in zip(*rows, strict=True)]

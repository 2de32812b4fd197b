"""Answers: texts -> what a SavedModel says of them, as rows and as a table."""

import pathlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from bert_keras_layers.serving.served_model import ServedModel

Row = dict[str, Any]


def answers(
    folder: pathlib.Path, texts: Sequence[str], batch_size: int
) -> Iterator[list[Row]]:
    """Yields, batch by batch, each text and what is served for it, by name.

    Raises:
        FileNotFoundError: If there is no SavedModel.
        ValueError: If it takes no texts.
    """
    model = ServedModel(folder)
    for start in range(0, len(texts), batch_size):
        batch = texts[start : start + batch_size]
        outputs = model(batch)
        yield [
            {"text": text, **_row({name: x[i] for name, x in outputs.items()})}
            for i, text in enumerate(batch)
        ]


def answer_table(rows: Sequence[Row]) -> Table:
    """Returns a table of rows; of tags a line per word, else a line per text.

    Raises:
        ValueError: If there are no classes, numbers or tags in the rows.
    """
    for name, (columns, lines_of) in _TABLES.items():
        if name in rows[0]:
            table = Table(*columns)
            for row in rows:
                for line in lines_of(row):
                    table.add_row(*map(Text, line))
                if name == "words":
                    table.add_section()
            return table
    raise ValueError(
        "A table can hold classes, numbers and tags; --json prints all. "
        f"Received: {sorted(set(rows[0]) - {'text'})}"
    )


def _row(outputs: dict[str, np.ndarray]) -> Row:
    if "words" in outputs:  # The rows of a batch are padded to its longest text.
        length = np.count_nonzero(outputs["words"] != b"")
        outputs = {name: x[:length] for name, x in outputs.items()}
    return {name: _plain(x) for name, x in outputs.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_plain(entry) for entry in value]
    if isinstance(value, bytes):
        return value.decode()
    # The shortest decimal that is this float32; as a float64 it would be longer.
    return float(str(value)) if isinstance(value, np.floating) else value.item()


def _class_line(row: Row) -> list[tuple[str, ...]]:
    return [(row["text"], row["label"], f"{row['score']:.3f}")]


def _number_line(row: Row) -> list[tuple[str, ...]]:
    return [(row["text"], ", ".join(f"{value:.3f}" for value in row["values"]))]


def _labels_line(row: Row) -> list[tuple[str, ...]]:
    pairs = zip(row["labels"], row["scores"], strict=True)
    likely = [f"{label} {score:.3f}" for label, score in pairs if score >= 0.5]
    return [(row["text"], ", ".join(likely))]


def _word_lines(row: Row) -> list[tuple[str, ...]]:
    columns = zip(row["words"], row["labels"], row["scores"], strict=True)
    return [(word, label, f"{score:.3f}") for word, label, score in columns]


# By an output that only such a model has; a tagger has labels, too.
_TABLES: dict[str, tuple[tuple[str, ...], Callable[[Row], list[tuple[str, ...]]]]] = {
    "label": (("text", "label", "score"), _class_line),
    "words": (("word", "tag", "score"), _word_lines),
    "labels": (("text", "labels above 0.5"), _labels_line),
    "values": (("text", "value"), _number_line),
}

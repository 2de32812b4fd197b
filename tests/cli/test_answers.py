import io

import numpy as np
import pytest

from bert_keras_layers_cli.console import print_table
from bert_keras_layers_cli.runs import answers as module
from bert_keras_layers_cli.runs.answers import answer_table, answers


@pytest.fixture
def served(monkeypatch):
    """A function that says what is served for each text."""

    def serve(outputs):
        class Model:
            def __init__(self, folder):
                pass

            def __call__(self, texts):
                return {name: make(texts) for name, make in outputs.items()}

        monkeypatch.setattr(module, "ServedModel", Model)

    return serve


def rows_of(texts, batch_size=2):
    return [row for batch in answers("folder", texts, batch_size) for row in batch]


def printed(rows):
    out = io.StringIO()
    print_table(answer_table(rows), out)
    lines = [line.strip("│┃ ") for line in out.getvalue().splitlines()]
    cells = [
        [cell.strip() for cell in line.replace("┃", "│").split("│")] for line in lines
    ]
    return [row for row in cells if len(row) > 1]


def test_a_class_per_text_whatever_the_batches(served):
    served(
        {
            "label": lambda texts: np.array([t[:1].encode() for t in texts], object),
            "score": lambda texts: np.array([0.1] * len(texts), "float32"),
        }
    )
    rows = rows_of(["¿dónde? [/b] [red]", "b", "c"])
    assert rows[2] == {"text": "c", "label": "c", "score": 0.1}
    assert printed(rows)[1] == ["¿dónde? [/b] [red]", "¿", "0.100"]
    assert len(printed(rows)) == 4


def test_numbers(served):
    served({"values": lambda texts: np.array([[1.5, 2.0]] * len(texts), "float32")})
    rows = rows_of(["a"])
    assert rows == [{"text": "a", "values": [1.5, 2.0]}]
    assert printed(rows) == [["text", "value"], ["a", "1.500, 2.000"]]


def test_likely_labels_of_any_number(served):
    served(
        {
            "labels": lambda texts: np.array([[b"art", b"fun"]] * len(texts), object),
            "scores": lambda texts: np.array([[0.75, 0.25]] * len(texts), "float32"),
        }
    )
    assert printed(rows_of(["a"]))[1] == ["a", "art 0.750"]


def test_tags_without_padding(served):
    served(
        {
            "words": lambda texts: np.array([[b"in", b"Rome"], [b"Rome", b""]], object),
            "labels": lambda texts: np.array([[b"O", b"B"], [b"B", b""]], object),
            "scores": lambda texts: np.array([[0.5, 1], [1, 0]], "float32"),
        }
    )
    rows = rows_of(["in Rome", "Rome"])
    assert rows[1] == {
        "text": "Rome",
        "words": ["Rome"],
        "labels": ["B"],
        "scores": [1],
    }
    assert printed(rows)[1:] == [
        ["in", "O", "0.500"],
        ["Rome", "B", "1.000"],
        ["Rome", "B", "1.000"],
    ]


def test_vectors_are_for_json(served):
    served({"features": lambda texts: np.array([[0.1, 2]], "float32")})
    rows = rows_of(["a"])
    assert rows == [{"text": "a", "features": [0.1, 2.0]}]
    with pytest.raises(
        ValueError, match=r"--json prints all. Received: \['features'\]"
    ):
        answer_table(rows)

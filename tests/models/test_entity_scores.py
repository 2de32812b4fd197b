import sys

import pytest

from bert_keras_layers import entity_scores

STRAY = [["I-place", "I-place", "O", "B-name"], ["O", "O"]]  # Begins with an `I-`.
RIGHT = [["B-place", "I-place", "O", "B-name"], ["O", "B-name"]]


@pytest.mark.parametrize(
    ("scheme", "tags", "predicted", "expected"),
    [
        # Two of three predicted are among the three.
        (
            None,
            RIGHT,
            [["B-place", "I-place", "O", "B-name"], ["B-name", "O"]],
            (2 / 3, 2 / 3, 2 / 3),
        ),
        # An entity counts with all of its words only; None is no entity.
        ("IOB2", RIGHT, [["B-place", "O", "O", "B-name"], ["O", None]], (0.5, 1 / 3)),
        (
            "IOB2",
            RIGHT,
            [["I-place", "I-place", "O", "B-name"], ["O", "O"]],
            (1, 1 / 3),
        ),
        (None, RIGHT, STRAY, (1, 2 / 3)),
        # IOB1 begins with `I-`; `B-` only parts neighbours of one type.
        ("IOB1", [["I-a", "I-a", "B-a"]], [["I-a", "I-a", "B-a"]], (1, 1)),
        ("IOB1", [["I-a", "I-a", "B-a"]], [["I-a", "I-a", "I-a"]], (0, 0)),
        (None, [["I-a", "I-a", "B-a"]], [["I-a", "I-a", "B-a"]], (1, 1)),
        ("IOBES", [["B-a", "E-a", "S-a"]], [["B-a", "E-a", "S-a"]], (1, 1)),
        ("IOBES", [["B-a", "E-a", "S-a"]], [["B-a", "I-a", "S-a"]], (1, 1 / 2)),
        (None, [["B-a", "E-a", "S-a"]], [["B-a", "E-a", "O"]], (1, 1 / 2)),
        (None, RIGHT, [["O"] * 4, ["O"] * 2], (0, 0)),
    ],
)
def test_entities_are_right_as_a_whole_only(scheme, tags, predicted, expected):
    pytest.importorskip("seqeval")
    scores = entity_scores(tags, predicted, scheme)
    precision, recall = expected[:2]
    f1 = 2 * precision * recall / (precision + recall) if precision else 0
    assert scores == pytest.approx({"precision": precision, "recall": recall, "f1": f1})


def test_wrong_arguments_are_named(monkeypatch):
    with pytest.raises(ValueError, match=r"None or one of .*'IOBES'.*scheme='BIO'"):
        entity_scores(RIGHT, RIGHT, "BIO")
    with pytest.raises(ValueError, match="2 tags in 1 sentences for 6 words in 2"):
        entity_scores(RIGHT, [["O", "O"]])
    monkeypatch.setitem(sys.modules, "seqeval", None)
    with pytest.raises(ImportError, match=r"bert-keras-layers\[tagging\]"):
        entity_scores(RIGHT, RIGHT)

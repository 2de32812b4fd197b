"""Entity scores: right and predicted tags -> precision, recall, F1 of entities."""

from collections.abc import Sequence
from typing import Any

SCHEMES = ("IOB1", "IOB2", "IOBES")


def entity_scores(
    tags: Sequence[Sequence[str]],
    predicted: Sequence[Sequence[str | None]],
    scheme: str | None = None,
) -> dict[str, float]:
    """Scores entities: right only with the type, the first and the last word.

    Needs the package seqeval: extra `tagging`. Counts are summed over types (micro
    average).

    Args:
        tags: The right tags per sentence, such as `["B-location", "I-location", "O"]`.
        predicted: As many; None counts as `"O"`.
        scheme: `"IOB1"`, `"IOB2"` or `"IOBES"`, read strictly: what starts or goes on
            otherwise is no entity. None reads all of them as the scorer of CoNLL
            does, in which an `I-` after `O` starts an entity.

    Returns:
        A dict of `precision`, `recall` and `f1`, 0 to 1; 0 where nothing is counted.

    Raises:
        ValueError: If a scheme is unknown or the lengths differ.
        ImportError: If seqeval is not installed.

    Reference:
        [seqeval](https://github.com/chakki-works/seqeval).
    """
    if scheme is not None and scheme not in SCHEMES:
        raise ValueError(
            f"`scheme` must be None or one of {list(SCHEMES)}. "
            f"Received: scheme={scheme!r}"
        )
    lengths, others = ([len(row) for row in rows] for rows in (tags, predicted))
    if lengths != others:
        raise ValueError(
            "There must be a predicted tag for each word. "
            f"Received: {sum(others)} tags in {len(others)} sentences for "
            f"{sum(lengths)} words in {len(lengths)}"
        )
    metrics, schemes = _seqeval()
    options: dict[str, Any] = {"average": "micro", "zero_division": 0}
    if scheme is not None:
        options |= {"mode": "strict", "scheme": getattr(schemes, scheme)}
    right = [list(map(str, row)) for row in tags]
    given = [["O" if tag is None else tag for tag in row] for row in predicted]
    scores = {
        "precision": metrics.precision_score,
        "recall": metrics.recall_score,
        "f1": metrics.f1_score,
    }
    return {name: float(f(right, given, **options)) for name, f in scores.items()}


def _seqeval() -> tuple[Any, Any]:
    try:
        from seqeval import metrics, scheme
    except ImportError as error:
        raise ImportError(
            "Entity scores need seqeval: pip install 'bert-keras-layers[tagging]'"
        ) from error
    return metrics, scheme

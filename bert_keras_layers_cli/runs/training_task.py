"""Training task: what one kind of training reads, builds and tests."""

import abc
import pathlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.models.text_model import TextModel
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor

Results = dict[str, Any]


@dataclass(frozen=True)
class TrainingOptions:
    """The options of `bert-keras train`, whose help describes them."""

    data: pathlib.Path
    encoder: str
    output: pathlib.Path
    task: str = "classification"
    save: pathlib.Path | None = None
    test: pathlib.Path | None = None
    test_share: float = 0.2
    text_column: str = "text"
    label_column: str = "label"
    token_column: int | None = None
    tag_column: int | None = None
    layers: str = "4"
    pooling: str | None = None
    fine_tune: bool = False
    epochs: int = 20
    batch_size: int = 32
    learning_rate: float | None = None
    seed: int = 0


class Examples(NamedTuple):
    """Texts, or sentences in words, and the target of each."""

    inputs: Sequence[Any]
    targets: Sequence[Any]

    def take(self, rows: Sequence[int]) -> "Examples":
        """Returns some of them."""
        return Examples(
            [self.inputs[row] for row in rows], [self.targets[row] for row in rows]
        )


class TrainingTask(abc.ABC):
    """One kind of training.

    Args:
        options: Of the command.
    """

    def __init__(self, options: TrainingOptions) -> None:
        self.options = options

    @abc.abstractmethod
    def read(self, path: pathlib.Path) -> Examples:
        """Returns the examples in a file."""

    @abc.abstractmethod
    def learn(self, examples: Examples) -> None:
        """Takes from all examples what the model must know, such as its labels.

        Raises:
            ValueError: If there is nothing to tell apart.
        """

    @abc.abstractmethod
    def build(
        self,
        encoder: Encoder,
        preprocessor: BertPreprocessor,
        layers: int | list[int] | None,
    ) -> TextModel:
        """Returns the model to train."""

    @abc.abstractmethod
    def scores(self, model: TextModel, train: Examples, test: Examples) -> Results:
        """Returns what the model gets right, beside what needs no model."""

    def check(self, model: TextModel, test: Examples) -> None:
        """Raises a `ValueError` if the model cannot be tested on these."""
        model.encode_targets(test.targets)

    def group(self, target: Any) -> Hashable:
        """Returns a name for examples that are split in the same share each."""
        return None

    def different(self, values: Iterable[Any], what: str) -> list[Any]:
        """Returns the different values, in order.

        Raises:
            ValueError: If there are not two of them.
        """
        found = sorted(set(values))
        if len(found) < 2:
            raise ValueError(
                f"{self.options.data} must have at least two different {what}. "
                f"Received: only {found[0]!r}"
            )
        return found

    def fit(self, model: TextModel, train: Examples, **options: Any) -> None:
        """Trains the model."""
        model.fit(train.inputs, train.targets, **options)


MakeTask = Callable[[TrainingOptions], TrainingTask]

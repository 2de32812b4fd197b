"""Text batches: texts and targets -> padded batches that `fit` can iterate."""

from collections.abc import Iterator, Sequence
from typing import Any

import keras
import numpy as np

from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor
from bert_keras_layers.preprocessing.token_rows import TokenRows


class TextBatches(keras.utils.PyDataset):
    """Batches of token ids, each padded to its own longest text.

    Args:
        preprocessor: Pads the rows.
        rows: Token ids of all texts.
        arrays: Targets and, optionally, sample weights, `(texts, ...)` each.
        batch_size: Texts per batch; the last batch may be smaller.
        order: `"given"`; `"longest_first"`, which needs the least padding; or
            `"shuffled"`: drawn before each epoch, from NumPy's global generator,
            which `keras.utils.set_random_seed` seeds.
        multiple: Batches are padded to a multiple of this many tokens.
    """

    # How many axes of the arrays differ in size between batches.
    open_axes = 1

    def __init__(
        self,
        preprocessor: BertPreprocessor,
        rows: TokenRows,
        arrays: Sequence[np.ndarray] = (),
        batch_size: int = 32,
        order: str = "given",
        multiple: int = 1,
    ) -> None:
        super().__init__()
        if batch_size < 1:
            raise ValueError(
                f"`batch_size` must be at least 1. Received: batch_size={batch_size}"
            )
        for name, array in zip(("y", "sample_weight"), arrays, strict=False):
            if len(array) != len(rows):
                raise ValueError(
                    f"`{name}` must have one entry per text. "
                    f"Received: {len(array)} entries for {len(rows)} texts"
                )
        self._multiple = multiple
        self._preprocessor = preprocessor
        self._rows = rows
        self._arrays = arrays
        self._batch_size = batch_size
        self._ordering = order
        self.on_epoch_end()

    def __len__(self) -> int:
        return -(-len(self._rows) // self._batch_size)

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        chosen = self.chosen(index)
        ids = self._preprocessor.pad(self._rows.take(chosen), self._multiple)
        return (ids, *(array[chosen] for array in self._arrays))

    def chosen(self, index: int) -> np.ndarray:
        """Returns the indices of the texts of batch `index`."""
        start = index * self._batch_size
        return self._order[start : start + self._batch_size]

    def on_epoch_end(self) -> None:
        """Orders the texts; anew, if they are to be shuffled."""
        self._order = _ORDERS[self._ordering](self._rows.lengths, self._batch_size)

    def split(self, share: float) -> tuple["TextBatches", "TextBatches"]:
        """Returns the first texts and, longest first, the last `share` of them."""
        cut = len(self._rows) - int(len(self._rows) * share)
        if not 0 < cut < len(self._rows):
            raise ValueError(
                "`validation_split` must leave texts on both sides. "
                f"Received: validation_split={share} for {len(self._rows)} texts"
            )
        first, last = (
            type(self)(
                self._preprocessor,
                self._rows.take(rows),
                [array[rows] for array in self._arrays],
                self._batch_size,
                order,
                self._multiple,
            )
            for rows, order in (
                (np.arange(cut), self._ordering),
                (np.arange(cut, len(self._rows)), "longest_first"),
            )
        )
        return first, last

    def for_backend(self) -> Any:
        """Returns these batches in the form that suits the active Keras backend."""
        if keras.backend.backend() != "tensorflow":
            return self
        import tensorflow as tf

        # Keras fixes the length of all batches of a PyDataset to that of the first
        # two, if they agree; a signature of our own keeps it open.
        ids, *arrays = self[0]
        signature = (
            {
                name: tf.TensorSpec((None, None), rows.dtype)
                for name, rows in ids.items()
            },
            *(tf.TensorSpec(self._open_shape(array), array.dtype) for array in arrays),
        )
        dataset = tf.data.Dataset.from_generator(
            self._epoch, output_signature=signature
        )
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(len(self)))
        return dataset.prefetch(tf.data.AUTOTUNE)

    def _open_shape(self, array: np.ndarray) -> tuple[int | None, ...]:
        sizes = enumerate(array.shape)
        return tuple(None if axis < self.open_axes else size for axis, size in sizes)

    def _epoch(self) -> Iterator[tuple[Any, ...]]:
        yield from (self[index] for index in range(len(self)))
        self.on_epoch_end()


def _given(lengths: np.ndarray, batch_size: int) -> np.ndarray:
    return np.arange(len(lengths))


def _longest_first(lengths: np.ndarray, batch_size: int) -> np.ndarray:
    return np.argsort(-lengths, kind="stable")


def _shuffled(lengths: np.ndarray, batch_size: int) -> np.ndarray:
    # Texts of like length share a batch, which halves the padding; only alike, so
    # that a batch holds other texts in every epoch.
    order = np.argsort(lengths * np.random.uniform(0.7, 1.3, len(lengths)))
    full = len(order) // batch_size * batch_size
    batches = order[:full].reshape(-1, batch_size)
    order[:full] = np.random.permutation(batches).ravel()
    return order


_ORDERS = {"given": _given, "longest_first": _longest_first, "shuffled": _shuffled}

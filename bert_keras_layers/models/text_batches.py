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
        shuffle: Whether to draw a new order before each epoch, from NumPy's
            global generator, which `keras.utils.set_random_seed` seeds.
    """

    def __init__(
        self,
        preprocessor: BertPreprocessor,
        rows: TokenRows,
        arrays: Sequence[np.ndarray] = (),
        batch_size: int = 32,
        shuffle: bool = False,
    ) -> None:
        super().__init__()
        self._preprocessor = preprocessor
        self._rows = rows
        self._arrays = arrays
        self._batch_size = batch_size
        self._shuffle = shuffle
        self._order = np.arange(len(rows))
        self.on_epoch_end()

    def __len__(self) -> int:
        return -(-len(self._rows) // self._batch_size)

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        chosen = self.chosen(index)
        # XLA compiles anew for every length: keep to a few.
        multiple = 32 if keras.backend.backend() == "jax" else 1
        ids = self._preprocessor.pad(self._rows.take(chosen), multiple)
        return (ids, *(array[chosen] for array in self._arrays))

    def chosen(self, index: int) -> np.ndarray:
        """Returns the rows of batch `index`."""
        start = index * self._batch_size
        return self._order[start : start + self._batch_size]

    def on_epoch_end(self) -> None:
        """Draws a new order, if the texts are to be shuffled."""
        if self._shuffle:
            self._order = np.random.permutation(len(self._rows))

    def split(self, share: float) -> tuple["TextBatches", "TextBatches"]:
        """Returns the first texts and, unshuffled, the last `share` of them."""
        cut = len(self._rows) - int(len(self._rows) * share)
        if not 0 < cut < len(self._rows):
            raise ValueError(
                "`validation_split` must leave texts on both sides. "
                f"Received: validation_split={share} for {len(self._rows)} texts"
            )
        parts = (np.arange(cut), self._shuffle), (np.arange(cut, len(self._rows)), False)
        first, last = (
            TextBatches(
                self._preprocessor,
                self._rows.take(rows),
                [array[rows] for array in self._arrays],
                self._batch_size,
                shuffle,
            )
            for rows, shuffle in parts
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
            {name: tf.TensorSpec((None, None), rows.dtype) for name, rows in ids.items()},
            *(tf.TensorSpec((None, *array.shape[1:]), array.dtype) for array in arrays),
        )
        dataset = tf.data.Dataset.from_generator(
            self._epoch, output_signature=signature
        )
        dataset = dataset.apply(tf.data.experimental.assert_cardinality(len(self)))
        return dataset.prefetch(tf.data.AUTOTUNE)

    def _epoch(self) -> Iterator[tuple[Any, ...]]:
        yield from (self[index] for index in range(len(self)))
        self.on_epoch_end()

"""Word batches: sentences and the targets of their words -> padded batches."""

from typing import Any

import numpy as np

from bert_keras_layers.models.text_batches import TextBatches


class WordBatches(TextBatches):
    """Batches whose first array has a target per word, `(sentences, words)`.

    Each batch gets targets for as many words as its `word_ids` has tokens, which is
    what `WordPooling` makes of them.
    """

    open_axes = 2

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        ids, *arrays = super().__getitem__(index)
        if not arrays:
            return (ids,)
        targets, *weights = arrays
        width = ids["word_ids"].shape[1]
        fitted = np.zeros((len(targets), width), targets.dtype)
        fitted[:, : targets.shape[1]] = targets[:, :width]
        # Keras multiplies the weight of a sentence with the mask of its words; in
        # place, so one weight per sentence would not do on torch.
        weights = [
            np.repeat(x[:, np.newaxis], width, axis=1) if x.ndim == 1 else x
            for x in weights
        ]
        return (ids, fitted, *weights)

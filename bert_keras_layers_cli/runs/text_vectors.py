"""Text vectors: texts -> hidden states of BERT, joined and pooled, in batches."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from bert_keras_layers.encoders.bert_encoder import BertEncoder
from bert_keras_layers.models.feature_extractor import FeatureExtractor
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor

# Batches at a time: their texts are sorted by length, which saves padding.
_BATCHES = 4


class TextVectors:
    """Makes a vector of each text.

    Args:
        encoder: Folder or hub id.
        layers: As in `FeatureExtractor`.
        pooling: Modes of `GlobalPooling`.

    Raises:
        FileNotFoundError: If there is no such encoder.
        ValueError: If it has no such layers, or a mode is unknown.
    """

    def __init__(
        self, encoder: str, layers: int | list[int] | None, pooling: list[str]
    ) -> None:
        self._model = FeatureExtractor(
            BertEncoder.from_pretrained(encoder),
            BertPreprocessor.from_pretrained(encoder),
            layers=layers,
            pooling=pooling,
        )
        self.width: int = self._model.output_shape[-1]

    def batches(
        self, texts: Sequence[str], batch_size: int, advance: Callable[[int], None]
    ) -> Iterator[np.ndarray]:
        """Yields vectors float32 `(some texts, width)`, in order.

        Args:
            texts: All of them.
            batch_size: Texts that are computed together.
            advance: Called with how many more are done.
        """
        step = _BATCHES * batch_size
        for start in range(0, len(texts), step):
            some = texts[start : start + step]
            yield self._model.predict(some, batch_size, verbose=0)
            advance(len(some))

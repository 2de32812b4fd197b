"""FeatureExtractor: text or token ids -> hidden states, or one vector per text."""

from typing import Any

import keras

from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.layers.pooling_choice import Pooling
from bert_keras_layers.models.feature_model import FeatureModel, Layers
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class FeatureExtractor(FeatureModel):
    """Returns the chosen hidden states of texts, joined and, if asked, pooled.

    A functional `keras.Model` on token ids whose `predict` also takes texts or
    pairs. Pooled, it returns one array with a row per text, in the order given.
    Not pooled, it returns a list with one array per text: all its tokens, [CLS]
    and [SEP] included, and no padding. (On ids, the result is padded as they are.)

    Args:
        encoder: `BertEncoder.from_pretrained(...)`, or another one of the library;
            it is cut above the highest layer that is used.
        preprocessor: Turns texts into ids; without one the model takes ids only.
            If it has no `sequence_length`, texts are cut at the encoder's positions.
        layers: Hidden states to concatenate, as in `LayerConcat`; or a layer that
            joins them, such as `LayerStack(None)` for an axis over all of them, or
            `LayerMix(mode="mean")`. Its own `layers` are from then on counted from 0.
        pooling: A mode of `GlobalPooling` or several, a pooling layer, or None for
            a vector per token. On a `LayerStack`, each state is pooled for itself.
        **kwargs: Arguments of `keras.Model`, such as `name`.

    Call arguments:
        inputs: Dict of ids as made by the preprocessor, `(batch, tokens)` each.

    Output shape:
        In the compute dtype of the layers that join and pool, which is float32
        unless they or Keras's policy say otherwise. `(batch, width)`; without
        pooling, `(batch, tokens, width)`, which carries the mask. With a
        `LayerStack`, an axis of the layers comes before the width.

    Raises:
        ValueError: If an argument is out of range.

    Example:
    >>> from bert_keras_layers import BertEncoder, BertPreprocessor
    >>> from bert_keras_layers import FeatureExtractor, LayerStack
    >>> words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "i", "love", "paris"]
    >>> preprocessor = BertPreprocessor(words)
    >>> encoder = BertEncoder(
    ...     vocabulary_size=7, hidden_size=8, num_layers=12, num_heads=2,
    ...     intermediate_size=16)
    >>> texts = ["I love Paris", "Paris"]
    >>> FeatureExtractor(encoder, preprocessor).predict(texts, verbose=0).shape
    (2, 32)

    All 13 hidden states, of each token; and those of the first token of some:

    >>> model = FeatureExtractor(encoder, preprocessor, LayerStack(None), pooling=None)
    >>> [states.shape for states in model.predict(texts, verbose=0)]
    [(5, 13, 8), (3, 13, 8)]
    >>> stack = LayerStack([0, 3, 7, -1])
    >>> model = FeatureExtractor(encoder, preprocessor, stack, pooling="cls")
    >>> model.predict(texts, verbose=0).shape
    (2, 4, 8)
    """

    def __init__(
        self,
        encoder: Encoder,
        preprocessor: BertPreprocessor | None = None,
        layers: Layers = 4,
        pooling: Pooling | None = "mean",
        **kwargs: Any,
    ) -> None:
        super().__init__(encoder, preprocessor, layers, pooling, **kwargs)

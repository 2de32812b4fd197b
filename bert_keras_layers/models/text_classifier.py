"""TextClassifier: text or token ids -> probabilities of classes."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.heads.dense_head import DenseHead
from bert_keras_layers.layers.pooling_choice import Pooling
from bert_keras_layers.models.class_labels import ClassLabels, check_num_classes
from bert_keras_layers.models.class_names import class_names
from bert_keras_layers.models.class_numbers import class_numbers
from bert_keras_layers.models.feature_model import FeatureModel, Layers
from bert_keras_layers.models.label_sets import label_rows, label_sets
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class TextClassifier(ClassLabels, FeatureModel):
    """Classifies texts: encoder, joined layers, pooling, dense head.

    A functional `keras.Model` on token ids whose `fit`, `evaluate` and `predict`
    also take texts. The encoder is cut above the highest layer that is used;
    what is left of it, `model.encoder`, shares its weights with the one given.
    Set `encoder.trainable = False` before to train the head only.

    The model comes compiled with cross-entropy on class numbers, accuracy, and
    AdamW at learning rate 5e-5, or 1e-3 if the encoder is frozen. With
    `multi_label`, each class is a yes or no of its own: sigmoids, binary
    cross-entropy, and F1 at probability 0.5 over all labels of all texts.

    Args:
        encoder: `BertEncoder.from_pretrained(...)`, or another one of the library.
        num_classes: Number of classes, at least 2; of labels, at least 1.
        preprocessor: Turns texts into ids; without one the model takes ids only.
            If it has no `sequence_length`, texts are cut at the encoder's positions.
        layers: Hidden states to concatenate, as in `LayerConcat`; or a `LayerMix`,
            `LayerAttention` or `LayerConcat`, whose own `layers` are from then on
            counted from 0.
        pooling: A mode of `GlobalPooling`, such as `"mean"`, or several; or a layer
            such as `AttentionPooling()`.
        hidden_units: Sizes of dense layers before the output.
        dropout: Share to drop before each dense layer when training, in `[0, 1)`.
        labels: Names of the classes. Where None, `fit` sets it, sorted, if it
            gets names as targets.
        multi_label: Whether a text has any number of labels. Targets are then a
            list of names per text, or zeros and ones `(texts, num_classes)`.
        **kwargs: Arguments of `keras.Model`, such as `name`.

    Call arguments:
        inputs: Dict of ids as made by the preprocessor, `(batch, tokens)` each.

    Output shape:
        `(batch, num_classes)`, probabilities in float32.

    Raises:
        ValueError: If an argument is out of range or targets do not fit it.

    Example:
    >>> from bert_keras_layers import BertEncoder, BertPreprocessor, TextClassifier
    >>> from bert_keras_layers import AttentionPooling, LayerMix
    >>> words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film"]
    >>> encoder = BertEncoder(
    ...     vocabulary_size=7, hidden_size=8, num_layers=3, num_heads=2,
    ...     intermediate_size=16)
    >>> model = TextClassifier(encoder, 2, BertPreprocessor(words), layers=[1, 2])
    >>> history = model.fit(["good film", "bad film"], ["yes", "no"], verbose=0)
    >>> model.predict(["a good film"], verbose=0).shape, model.labels
    ((1, 2), ['no', 'yes'])

    All layers mixed, attention over the tokens, any number of labels:

    >>> model = TextClassifier(
    ...     encoder, 2, BertPreprocessor(words),
    ...     layers=LayerMix(None, name="layer_mix"),
    ...     pooling=AttentionPooling(num_heads=2), multi_label=True)
    >>> targets = [["art", "fun"], [], ["fun"]]
    >>> history = model.fit(["good film", "film", "good"], targets, verbose=0)
    >>> model.labels, model.get_layer("layer_mix") is model.joiner
    (['art', 'fun'], True)
    """

    def __init__(
        self,
        encoder: Encoder,
        num_classes: int,
        preprocessor: BertPreprocessor | None = None,
        layers: Layers = 4,
        pooling: Pooling = "mean",
        hidden_units: Sequence[int] = (),
        dropout: float = 0.1,
        labels: Sequence[str] | None = None,
        multi_label: bool = False,
        **kwargs: Any,
    ) -> None:
        check_num_classes(num_classes, least=1 if multi_label else 2)
        head = DenseHead(
            int(num_classes),
            activation="sigmoid" if multi_label else "softmax",
            hidden_units=hidden_units,
            dropout=dropout,
            dtype="float32",  # Half precision is too coarse for a loss.
            name="head",
        )
        super().__init__(encoder, preprocessor, layers, pooling, head, **kwargs)
        self.multi_label: bool = bool(multi_label)
        self.set_labels(labels)
        if multi_label:
            f1 = keras.metrics.F1Score(average="micro", threshold=0.5, name="f1")
            self.compile_defaults("binary_crossentropy", ["binary_accuracy", f1])
        else:
            self.compile_defaults("sparse_categorical_crossentropy", ["accuracy"])

    def encode_targets(self, targets: Any, learn: bool = False) -> np.ndarray:
        """Returns class numbers `(texts,)` for names or numbers of classes.

        Arrays `(texts, num_classes)`, for losses on one-hot targets, are returned
        as they are. With `multi_label`, all targets become such arrays.

        Args:
            targets: A name or number per text; or a list of names, or zeros and
                ones.
            learn: Whether to take the names as `labels`, sorted, if there are none.

        Raises:
            ValueError: If a name is unknown or a number out of range.
        """
        if self.multi_label:
            sets = label_sets(targets)
            if sets is None:
                return label_rows(targets, self.num_classes)
            rows = np.zeros((len(sets), self.num_classes), "float32")
            flat = [name for names in sets for name in names]
            texts = np.repeat(np.arange(len(sets)), [len(names) for names in sets])
            rows[texts, self.numbers_of(flat, learn)] = 1
            return rows
        names = class_names(targets)
        if names is not None:
            return self.numbers_of(names, learn)
        return class_numbers(targets, self.num_classes)

    def encode_class_weight(self, weight: dict[Any, float]) -> dict[int, float]:
        """Returns weights by class number; `multi_label` has none."""
        if self.multi_label:
            raise ValueError(
                "`class_weight` needs one class per text: weigh the texts by "
                f"`sample_weight`. Received: {weight}"
            )
        return super().encode_class_weight(weight)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_classes": self.num_classes,
            "hidden_units": self.head.hidden_units,
            "dropout": self.head.dropout,
            "labels": self.labels and list(self.labels),
            "multi_label": self.multi_label,
        }

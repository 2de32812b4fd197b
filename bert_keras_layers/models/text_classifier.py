"""TextClassifier: text or token ids -> probabilities of classes."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np

from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.heads.dense_head import DenseHead
from bert_keras_layers.layers.global_pooling import GlobalPooling
from bert_keras_layers.layers.layer_choice import choose_layers
from bert_keras_layers.layers.layer_concat import LayerConcat
from bert_keras_layers.models.class_names import class_names
from bert_keras_layers.models.fitted_preprocessor import fitted_preprocessor
from bert_keras_layers.models.labelled_model import LabelledModel, check_num_classes
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class TextClassifier(LabelledModel):
    """Classifies texts: encoder, concatenated layers, pooling, dense head.

    A functional `keras.Model` on token ids whose `fit`, `evaluate` and `predict`
    also take texts. The encoder is cut above the highest layer that is used;
    what is left of it, `model.encoder`, shares its weights with the one given.
    Set `encoder.trainable = False` before to train the head only.

    The model comes compiled with cross-entropy on class numbers, accuracy, and
    AdamW at learning rate 5e-5, or 1e-3 if the encoder is frozen.

    Args:
        encoder: `BertEncoder.from_pretrained(...)`, or another one of the library.
        num_classes: Number of classes, at least 2.
        preprocessor: Turns texts into ids; without one the model takes ids only.
            If it has no `sequence_length`, texts are cut at the encoder's positions.
        layers: Hidden states to concatenate, as in `LayerConcat`.
        pooling: A mode of `GlobalPooling`, such as `"mean"`, or several.
        hidden_units: Sizes of dense layers before the output.
        dropout: Share to drop before each dense layer when training, in `[0, 1)`.
        labels: Names of the classes. Where None, `fit` sets it, sorted, if it
            gets names as targets.
        **kwargs: Arguments of `keras.Model`, such as `name`.

    Call arguments:
        inputs: Dict of ids as made by the preprocessor, `(batch, tokens)` each.

    Output shape:
        `(batch, num_classes)`, probabilities in float32.

    Raises:
        ValueError: If an argument is out of range or targets do not fit it.

    Example:
    >>> from bert_keras_layers import BertEncoder, BertPreprocessor, TextClassifier
    >>> words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film"]
    >>> encoder = BertEncoder(
    ...     vocabulary_size=7, hidden_size=8, num_layers=3, num_heads=2,
    ...     intermediate_size=16)
    >>> model = TextClassifier(encoder, 2, BertPreprocessor(words), layers=[1, 2])
    >>> history = model.fit(["good film", "bad film"], ["yes", "no"], verbose=0)
    >>> model.predict(["a good film"], verbose=0).shape, model.labels
    ((1, 2), ['no', 'yes'])
    """

    def __init__(
        self,
        encoder: Encoder,
        num_classes: int,
        preprocessor: BertPreprocessor | None = None,
        layers: int | Sequence[int] | None = 4,
        pooling: str | Sequence[str] = "mean",
        hidden_units: Sequence[int] = (),
        dropout: float = 0.1,
        labels: Sequence[str] | None = None,
        **kwargs: Any,
    ) -> None:
        check_num_classes(num_classes)
        if preprocessor is not None:
            preprocessor = fitted_preprocessor(preprocessor, encoder)
        chosen = choose_layers(layers, encoder.num_layers + 1)
        encoder = encoder.truncate(max(chosen))
        concat = LayerConcat(chosen, name="layer_concat")
        pool = GlobalPooling(pooling, name="global_pooling")
        head = DenseHead(
            int(num_classes),
            activation="softmax",
            hidden_units=hidden_units,
            dropout=dropout,
            dtype="float32",  # Half precision is too coarse for a loss.
            name="head",
        )
        inputs = encoder.inputs()
        outputs = head(pool(concat(encoder(inputs)["hidden_states"])))
        super().__init__(inputs=inputs, outputs=outputs, **kwargs)
        self._assemble(
            encoder,
            preprocessor,
            head,
            labels,
            {
                "layers": chosen,
                "pooling": pooling,
                "hidden_units": list(hidden_units),
                "dropout": dropout,
            },
        )

    def encode_targets(self, targets: Any, learn: bool = False) -> np.ndarray:
        """Returns class numbers `(texts,)` for names or numbers of classes.

        Arrays `(texts, num_classes)`, for losses on one-hot targets, are returned
        as they are.

        Args:
            targets: A name or number per text.
            learn: Whether to take the names as `labels`, sorted, if there are none.

        Raises:
            ValueError: If a name is unknown or a number out of range.
        """
        names = class_names(targets)
        if names is not None:
            return self._numbers_of(names, learn)
        classes = np.asarray(targets)
        if classes.dtype.kind == "O":
            classes = np.asarray(classes.tolist())
        if classes.ndim == 2 and classes.shape[1] == 1:
            classes = classes[:, 0]
        one_hot = classes.shape[1:] == (self.num_classes,)
        if one_hot and classes.dtype.kind in "iufb":
            return classes
        return self._checked_numbers(classes)

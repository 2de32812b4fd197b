"""TokenClassifier: sentences in words, or ids -> probabilities of tags per word."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
from keras.src.backend.common.masking import set_keras_mask

from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.heads.dense_head import DenseHead
from bert_keras_layers.layers.layer_choice import choose_layers
from bert_keras_layers.layers.layer_concat import LayerConcat
from bert_keras_layers.layers.word_pooling import WordPooling
from bert_keras_layers.models.class_labels import ClassLabels, check_num_classes
from bert_keras_layers.models.class_names import class_names
from bert_keras_layers.models.class_numbers import class_numbers
from bert_keras_layers.models.entity_scores import entity_scores
from bert_keras_layers.models.fitted_preprocessor import fitted_preprocessor
from bert_keras_layers.models.tagged_sentences import (
    check_one_tag_per_word,
    numbers_by_sentence,
    tags_by_sentence,
    words_per_sentence,
)
from bert_keras_layers.models.text_inputs import TextInputs, sentence_inputs
from bert_keras_layers.models.text_model import TextModel
from bert_keras_layers.models.word_batches import WordBatches
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor
from bert_keras_layers.preprocessing.token_rows import TokenRows


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class TokenClassifier(ClassLabels, TextModel):
    """Tags the words of sentences: encoder, concatenated layers, words, dense head.

    A functional `keras.Model` on token ids and word ids whose `fit`, `evaluate` and
    `predict` also take sentences as lists of words, with a list of tags for each.
    Loss and accuracy count words that have a token. The rest is as in `TextClassifier`.

    Args:
        encoder: `BertEncoder.from_pretrained(...)`, or another one of the library.
        num_classes: Number of tags, at least 2.
        preprocessor: Turns words into ids; without one the model takes ids only.
            As in `TextClassifier`, sentences are cut at the encoder's positions.
        layers: Hidden states to concatenate, as in `LayerConcat`.
        word_pooling: A mode of `WordPooling`.
        hidden_units: Sizes of dense layers before the output.
        dropout: Share to drop before each dense layer when training, in `[0, 1)`.
        labels: Names of the tags. Where None, `fit` sets it, sorted, if it gets
            names as targets.
        **kwargs: Arguments of `keras.Model`, such as `name`.

    Call arguments:
        inputs: Dict of ids as made by `preprocessor.words`, `(batch, tokens)` each.

    Output shape:
        `(batch, tokens, num_classes)`: a row for each word, as many as could be, in
        float32; those of words carry the Keras mask. `predict` on sentences returns
        `(sentences, words, num_classes)`, zeros where there is no word, or none
        with a token within `sequence_length`.

    Raises:
        ValueError: If an argument is out of range or targets do not fit it.

    Example:
    >>> from bert_keras_layers import BertEncoder, BertPreprocessor, TokenClassifier
    >>> vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "in", "rome", "##s"]
    >>> encoder = BertEncoder(
    ...     vocabulary_size=7, hidden_size=8, num_layers=3, num_heads=2,
    ...     intermediate_size=16)
    >>> model = TokenClassifier(encoder, 2, BertPreprocessor(vocabulary), layers=2)
    >>> history = model.fit([["in", "Rome"], ["Romes"]], [["O", "B"], ["B"]], verbose=0)
    >>> model.predict([["Rome"], ["in", "Rome"]], verbose=0).shape, model.labels
    ((2, 2, 2), ['B', 'O'])
    >>> [len(tags) for tags in model.predict_tags([["Rome"], ["in", "Rome"]])]
    [1, 2]
    """

    kind_of_batches = WordBatches

    def __init__(
        self,
        encoder: Encoder,
        num_classes: int,
        preprocessor: BertPreprocessor | None = None,
        layers: int | Sequence[int] | None = 4,
        word_pooling: str = "first",
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
        pool = WordPooling(word_pooling, name="word_pooling")
        head = DenseHead(
            int(num_classes),
            activation="softmax",
            hidden_units=hidden_units,
            dropout=dropout,
            dtype="float32",  # Half precision is too coarse for a loss.
            name="head",
        )
        ids = encoder.inputs()
        word_ids = keras.Input((None,), dtype="int32", name="word_ids")
        states = encoder(ids)["hidden_states"]
        outputs = head(pool([concat(states), word_ids]))
        inputs = {**ids, "word_ids": word_ids}
        super().__init__(inputs=inputs, outputs=outputs, **kwargs)
        self.encoder: Encoder = encoder
        self.states: list[keras.KerasTensor] = states
        self.preprocessor = preprocessor
        self.head: DenseHead = head
        self._arguments = {
            "layers": chosen,
            "word_pooling": word_pooling,
            "hidden_units": list(hidden_units),
            "dropout": dropout,
        }
        self.set_labels(labels)
        self.compile_defaults("sparse_categorical_crossentropy", ["accuracy"])

    def encode_targets(self, targets: Any, learn: bool = False) -> np.ndarray:
        """Returns class numbers `(sentences, words)`, 0 beyond the last word.

        Args:
            targets: For each sentence, a name or number of a tag per word.
            learn: Whether to take the names as `labels`, sorted, if there are none.

        Raises:
            ValueError: If a name is unknown or a number out of range.
        """
        rows = tags_by_sentence(targets)
        flat = [tag for tags in rows for tag in tags]
        names = class_names(flat)
        if names is not None:
            numbers = self.numbers_of(names, learn)
        else:
            numbers = class_numbers(
                np.asarray(flat, None if flat else "int32"), self.num_classes, "word"
            )
        return numbers_by_sentence(numbers, rows)

    def encode_class_weight(self, weight: dict[Any, float]) -> dict[int, float]:
        """Raises a `ValueError`: Keras takes it for one target per text."""
        raise ValueError(
            "`class_weight` is for one target per text; Keras would read the tags "
            f"of a sentence as one. Received: class_weight={weight}"
        )

    def compute_metrics(
        self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None
    ) -> Any:
        """Counts words only: where JAX takes gradients, Keras loses their mask."""
        pool = self.get_layer("word_pooling")
        is_word = pool.compute_mask([None, x["word_ids"]], x["attention_mask"])
        set_keras_mask(y_pred, is_word)
        return super().compute_metrics(x, y, y_pred, sample_weight)

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        **kwargs: Any,
    ) -> Any:
        """Predicts as `keras.Model.predict` does, on sentences too; see the class."""
        inputs = self._text_inputs(x)
        if inputs is None:
            return super().predict(x, batch_size, verbose, **kwargs)
        lengths = words_per_sentence(inputs)
        shape = (len(lengths), max(lengths, default=0), self.num_classes)
        predicted = np.zeros(shape, "float32")
        by_sentence = super().predict(inputs.texts, batch_size, verbose, **kwargs)
        for row, output in zip(predicted, by_sentence, strict=True):
            row[: len(output)] = output[: len(row)]
        return predicted

    def predict_tags(
        self, sentences: Any, batch_size: int | None = None, verbose: str | int = 0
    ) -> list[list[str | None]]:
        """Returns the most probable tag of each word, by name.

        Args:
            sentences: Lists of words.
            batch_size: As in `predict`.
            verbose: As in `predict`.

        Returns:
            A tag per word; None where it has no token, such as when it was cut off.
        """
        if self.labels is None:
            raise ValueError(
                "Tags by name need a model with `labels`: give them to the "
                "constructor, or train on names first. Received: labels=None"
            )
        lengths = words_per_sentence(sentence_inputs(sentences))
        predicted = self.predict(sentences, batch_size, verbose)
        names = np.array([*self.labels, None], object)
        best = np.where(predicted.any(-1), predicted.argmax(-1), len(self.labels))
        rows = zip(best, lengths, strict=True)
        return [names[row[:length]].tolist() for row, length in rows]

    def entity_scores(
        self, sentences: Any, tags: Any, scheme: str | None = None
    ) -> dict[str, float]:
        """Returns precision, recall and F1 of whole entities; see `entity_scores`.

        Args:
            sentences: Lists of words.
            tags: For each sentence, the name of the right tag per word.
            scheme: `"IOB1"`, `"IOB2"` or `"IOBES"`, read strictly; None reads any of
                them as the CoNLL scorer does.
        """
        return entity_scores(
            tags_by_sentence(tags), self.predict_tags(sentences), scheme
        )

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "num_classes": self.num_classes,
            "labels": self.labels and list(self.labels),
            **self._arguments,
        }

    def _text_inputs(self, x: Any) -> TextInputs | None:
        if isinstance(x, Mapping):
            ids = {name: rows for name, rows in x.items() if name != "word_ids"}
            return super()._text_inputs(ids)
        return sentence_inputs(x)

    def _encode(self, inputs: TextInputs) -> TokenRows:
        return self._require_preprocessor().encode_words(inputs.texts)

    def _targets(self, inputs: TextInputs, targets: Any, learn: bool) -> np.ndarray:
        check_one_tag_per_word(inputs, targets)
        return self.encode_targets(targets, learn)

    def _unpadded(
        self, outputs: np.ndarray, ids: Mapping[str, np.ndarray]
    ) -> list[np.ndarray]:
        places = np.arange(outputs.shape[1])[:, np.newaxis]
        is_word = (ids["word_ids"][:, np.newaxis] == places).any(-1)
        return [*np.where(is_word[..., np.newaxis], outputs, 0)]

"""TokenClassifier: sentences in words, or ids -> probabilities of tags per word."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np

from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.heads.dense_head import DenseHead
from bert_keras_layers.layers.layer_choice import choose_layers
from bert_keras_layers.layers.layer_concat import LayerConcat
from bert_keras_layers.layers.word_pooling import WordPooling
from bert_keras_layers.models.class_names import class_names
from bert_keras_layers.models.entity_scores import entity_scores
from bert_keras_layers.models.fitted_preprocessor import fitted_preprocessor
from bert_keras_layers.models.labelled_model import LabelledModel, check_num_classes
from bert_keras_layers.models.text_inputs import TextInputs, sentence_inputs
from bert_keras_layers.models.word_batches import WordBatches
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor
from bert_keras_layers.preprocessing.sentence_list import are_split
from bert_keras_layers.preprocessing.token_rows import TokenRows


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class TokenClassifier(LabelledModel):
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

    _kind_of_batches = WordBatches
    _labelled = "word"

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
        tokens = concat(encoder(ids)["hidden_states"])
        outputs = head(pool([tokens, word_ids]))
        super().__init__(
            inputs={**ids, "word_ids": word_ids}, outputs=outputs, **kwargs
        )
        self._assemble(
            encoder,
            preprocessor,
            head,
            labels,
            {
                "layers": chosen,
                "word_pooling": word_pooling,
                "hidden_units": list(hidden_units),
                "dropout": dropout,
            },
        )

    def encode_targets(self, targets: Any, learn: bool = False) -> np.ndarray:
        """Returns class numbers `(sentences, words)`, 0 beyond the last word.

        Args:
            targets: For each sentence, a name or number of a tag per word.
            learn: Whether to take the names as `labels`, sorted, if there are none.

        Raises:
            ValueError: If a name is unknown or a number out of range.
        """
        rows = _tags_by_sentence(targets)
        flat = [tag for tags in rows for tag in tags]
        names = class_names(flat)
        if names is not None:
            numbers = self._numbers_of(names, learn)
        else:
            numbers = self._checked_numbers(np.asarray(flat, None if flat else "int32"))
        lengths = np.array([len(tags) for tags in rows], "int32")
        mask = np.arange(lengths.max(initial=0)) < lengths[:, np.newaxis]
        encoded = np.zeros(mask.shape, "int32")
        encoded[mask] = numbers
        return encoded

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
        lengths = _words_per_sentence(sentence_inputs(sentences))
        predicted = self.predict(sentences, batch_size, verbose)
        names = np.array([*self.labels, None], object)
        best = np.where(predicted.any(-1), predicted.argmax(-1), len(self.labels))
        return [
            names[row[:length]].tolist()
            for row, length in zip(best, lengths, strict=True)
        ]

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
            _tags_by_sentence(tags), self.predict_tags(sentences), scheme
        )

    def _text_inputs(self, x: Any) -> TextInputs | None:
        if isinstance(x, Mapping):
            ids = {name: rows for name, rows in x.items() if name != "word_ids"}
            return super()._text_inputs(ids)
        return sentence_inputs(x)

    def _encode(self, inputs: TextInputs) -> TokenRows:
        return self._require_preprocessor().encode_words(inputs.texts)

    def _targets(self, inputs: TextInputs, targets: Any, learn: bool) -> np.ndarray:
        lengths = _words_per_sentence(inputs)
        for index, (words, tags) in enumerate(
            zip(lengths, _tags_by_sentence(targets), strict=False)
        ):
            if words != len(tags):
                raise ValueError(
                    "`y` must have one tag per word. "
                    f"Received: {len(tags)} tags for {words} words at index {index}"
                )
        return self.encode_targets(targets, learn)

    def _shape_of_predictions(
        self, inputs: TextInputs, rows: TokenRows
    ) -> tuple[int, ...]:
        return (
            len(rows),
            max(_words_per_sentence(inputs), default=0),
            self.num_classes,
        )

    def _without_padding(
        self, outputs: np.ndarray, ids: Mapping[str, np.ndarray]
    ) -> np.ndarray:
        places = np.arange(outputs.shape[1])[:, np.newaxis]
        is_word = (ids["word_ids"][:, np.newaxis] == places).any(-1)
        return np.where(is_word[..., np.newaxis], outputs, 0)

    def _weight_by_number(self, weight: dict[Any, float] | None) -> None:
        if weight:
            raise ValueError(
                "`class_weight` is for one target per text; Keras would read the tags "
                f"of a sentence as one. Received: class_weight={weight}"
            )


def _tags_by_sentence(targets: Any) -> list[Sequence[Any]]:
    if hasattr(targets, "to_list"):  # A ragged tensor or a Series.
        targets = targets.to_list()
    if not hasattr(targets, "__len__") or not (are_split(targets) or not len(targets)):
        raise ValueError(
            "`y` must hold a list of tags per sentence. "
            f"Received: {type(targets).__name__} without a list in it"
        )
    return list(targets)


def _words_per_sentence(inputs: TextInputs | None) -> list[int]:
    if inputs is None or not (are_split(inputs.texts) or not len(inputs.texts)):
        raise ValueError(
            "Sentences must be lists of words, such as those of `text.split()`. "
            "Received: no list of words"
        )
    return [len(words) for words in inputs.texts]

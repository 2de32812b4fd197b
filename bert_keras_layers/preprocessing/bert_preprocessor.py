"""Preprocessing: texts -> the token ids, mask and types that an encoder takes."""

import functools
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras

from bert_keras_layers.preprocessing import vocabulary as special
from bert_keras_layers.preprocessing.hub_settings import hub_settings
from bert_keras_layers.preprocessing.padding import Padding
from bert_keras_layers.preprocessing.pretrained_settings import pretrained_settings
from bert_keras_layers.preprocessing.rust_tokenizer import RustTokenizer
from bert_keras_layers.preprocessing.sentence_list import sentence_list
from bert_keras_layers.preprocessing.text_list import is_one_text, is_tensor, text_list
from bert_keras_layers.preprocessing.token_rows import TokenRows

if TYPE_CHECKING:
    from bert_keras_layers.preprocessing.graph_tokenizer import GraphTokenizer


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class BertPreprocessor:
    """Turns texts into BERT token ids, as Hugging Face's `BertTokenizerFast` does.

    Python texts go through a Rust engine and come out as NumPy arrays; no
    TensorFlow is imported. TensorFlow string tensors, symbolic ones too
    (`tf.data`, `tf.function`, exports), stay in the graph. Both give the same ids
    for every string. Special tokens written in a text stay text.

    Args:
        vocabulary: The tokens as a list; the position of a token is its id.
            For a file, folder or hub id use `from_pretrained`.
        lowercase: Whether to lowercase and to strip accents (uncased models).
        sequence_length: Tokens to keep at most, special ones included; the
            longer text of a pair is cut first. `None` keeps all.
        padding: The width of a batch: `"longest"` row, `"sequence_length"`, or
            an integer to round the longest row up to a multiple of it, but
            never beyond `sequence_length`.

    Call arguments:
        texts: One text, or a list, tuple, NumPy array or pandas Series of
            texts (`str`, or UTF-8 `bytes`), or a `tf.string` tensor of rank 0
            or 1.
        pairs: Optional second texts, as many as `texts`.

    Output shape:
        A dict of int32 `input_ids`, `attention_mask` and `token_type_ids`, each
        `(batch, tokens)`, or `(tokens,)` for one text.

    Raises:
        ValueError: If an argument or a text is not as described; a wrong text
            is named with its index.

    Example:
    >>> from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor
    >>> vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "i", "love", "paris"]
    >>> preprocessor = BertPreprocessor(vocabulary)
    >>> preprocessor(["I love Paris", "Paris"])["input_ids"]
    array([[2, 4, 5, 6, 3],
           [2, 6, 3, 0, 0]], dtype=int32)
    """

    def __init__(
        self,
        vocabulary: Sequence[str],
        lowercase: bool = True,
        sequence_length: int | None = None,
        padding: str | int = "longest",
    ) -> None:
        if sequence_length is not None and (
            type(sequence_length) is not int or sequence_length < 2
        ):
            raise ValueError(
                "`sequence_length` must be None or an integer of at least 2, for "
                f"[CLS] and [SEP]. Received: sequence_length={sequence_length!r}"
            )
        if not isinstance(lowercase, bool):
            raise ValueError(
                f"`lowercase` must be True or False. Received: lowercase={lowercase!r}"
            )
        self.vocabulary = special.checked_vocabulary(vocabulary)
        self.lowercase = lowercase
        self.sequence_length = sequence_length
        self.padding = padding
        self.vocabulary_size = len(self.vocabulary)
        self.pad_id = self.vocabulary.index(special.PAD)
        self.unknown_id = self.vocabulary.index(special.UNKNOWN)
        self.start_id = self.vocabulary.index(special.START)
        self.end_id = self.vocabulary.index(special.END)
        self._padding = Padding.of(padding, sequence_length)

    @classmethod
    def from_pretrained(
        cls,
        source: str | os.PathLike[str],
        *,
        revision: str | None = None,
        **kwargs: Any,
    ) -> "BertPreprocessor":
        """Builds the preprocessor that belongs to a checkpoint.

        Vocabulary, `lowercase` and `sequence_length` (the positions of the
        model) are read from the checkpoint's files.

        Args:
            source: A folder, a vocabulary file (`vocab.txt`), or a hub id.
            revision: Branch, tag or commit on the hub.
            **kwargs: Arguments of the class; they win over the files.

        Raises:
            FileNotFoundError: If there is no such folder, file or hub id, or no
                vocabulary in it.
            ValueError: If the checkpoint's tokenizer does anything that this one
                does not.
        """
        return cls(**{**pretrained_settings(source, revision), **kwargs})

    @classmethod
    def from_hub(
        cls, source: str | os.PathLike[str], **kwargs: Any
    ) -> "BertPreprocessor":
        """Builds the preprocessor that belongs to a TF-Hub SavedModel.

        Vocabulary, `lowercase` and `sequence_length` are read from it: the positions
        of an encoder, the length of what a preprocessing model returns. Needs
        TensorFlow, tensorflow-text for a preprocessing model, and the extra `hub`
        to fetch.

        Args:
            source: A BERT encoder or text preprocessing model: an unpacked folder, a
                URL that tensorflow_hub resolves, or a Kaggle handle or URL.
            **kwargs: Arguments of the class; they win over the SavedModel.

        Raises:
            FileNotFoundError: If there is no SavedModel, it cannot be fetched, or
                it has no WordPiece vocabulary.
            ValueError: If it is damaged, or neither of the two.
            ImportError: If a package that it takes is not installed.
        """
        return cls(**{**hub_settings(source), **kwargs})

    def __call__(self, texts: Any, pairs: Any = None) -> dict[str, Any]:
        if pairs is not None:
            self._check_room_for_pairs()
        if is_tensor(texts) or is_tensor(pairs):
            return self._tokenizer_of_tensors(texts, pairs)
        if is_one_text(texts):
            pair = None if pairs is None else [pairs]
            return {name: rows[0] for name, rows in self([texts], pair).items()}
        return self.pad(self.encode(texts, pairs))

    def encode(self, texts: Any, pairs: Any = None) -> TokenRows:
        """Returns the ids of Python texts as unpadded rows.

        Args:
            texts: A sequence of texts, as in a call.
            pairs: Optional second texts, as many as `texts`.
        """
        first = text_list(texts, "texts")
        if pairs is None:
            return self._rust_tokenizer.encode(first)
        second = text_list(pairs, "pairs")
        if len(first) != len(second):
            raise ValueError(
                "`pairs` must hold as many texts as `texts`. "
                f"Received: {len(second)} pairs and {len(first)} texts"
            )
        self._check_room_for_pairs()
        return self._rust_tokenizer.encode(first, second)

    def pad(self, rows: TokenRows, multiple: int = 1) -> dict[str, Any]:
        """Returns what a call returns, from rows that were encoded earlier.

        Args:
            rows: From `encode`.
            multiple: The longest row counts as rounded up to a multiple of this,
                so that batches come in few widths.
        """
        longest = -(-rows.longest // multiple) * multiple
        return rows.padded(self.pad_id, self._padding.width(longest))

    def words(self, sentences: Any) -> dict[str, Any]:
        """Returns what a call returns, and int32 `word_ids`: the word of each token.

        Words are numbered from 0 in each sentence, as given; one of spaces or control
        characters only has no token. A text is split as BERT does, at spaces and
        around punctuation. Special tokens and padding have -1. The cut at
        `sequence_length` may leave the first tokens of a word. Up to that, a batch
        is at least as wide as it has words: `WordPooling` loses none.

        Args:
            sentences: A sequence of lists of words; a `tf.string` tensor of rank 2,
                ragged, or dense with empty strings as padding; or of texts.

        Example:
        >>> vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "do", "##n", "'", "t"]
        >>> BertPreprocessor(vocabulary).words([["Don't", "do"]])["word_ids"]
        array([[-1,  0,  0,  0,  0,  1, -1]], dtype=int32)
        """
        if is_tensor(sentences):
            return self._tokenizer_of_tensors.words(sentences)
        return self.pad(self.encode_words(sentences))

    def encode_words(self, sentences: Any) -> TokenRows:
        """Returns the ids and word ids of Python sentences as unpadded rows."""
        return self._rust_tokenizer.encode_words(sentence_list(sentences))

    def graph_tokenizer(self, **kwargs: Any) -> "GraphTokenizer":
        """Returns a new engine for string tensors, as calls on such use one."""
        from bert_keras_layers.preprocessing.graph_tokenizer import GraphTokenizer

        settings = (self.vocabulary, self.lowercase, self.sequence_length)
        return GraphTokenizer(*settings, self._padding, **kwargs)

    def get_config(self) -> dict[str, Any]:
        return {
            "vocabulary": list(self.vocabulary),
            "lowercase": self.lowercase,
            "sequence_length": self.sequence_length,
            "padding": self.padding,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> "BertPreprocessor":
        return cls(**config)

    def __reduce__(self) -> tuple[Any, ...]:
        # The engines are rebuilt where they are needed: tensors do not pickle.
        return type(self).from_config, (self.get_config(),)

    @functools.cached_property
    def _rust_tokenizer(self) -> RustTokenizer:
        return RustTokenizer(self.vocabulary, self.lowercase, self.sequence_length)

    @functools.cached_property
    def _tokenizer_of_tensors(self) -> "GraphTokenizer":
        return self.graph_tokenizer()

    def _check_room_for_pairs(self) -> None:
        if self.sequence_length is not None and self.sequence_length < 3:
            raise ValueError(
                "`sequence_length` must be at least 3 for pairs. "
                f"Received: sequence_length={self.sequence_length}"
            )

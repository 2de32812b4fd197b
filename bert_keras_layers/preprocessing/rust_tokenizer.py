"""The engine outside the graph: strings -> token rows, with `tokenizers`."""

import itertools
from collections.abc import Iterable, Sequence

import numpy as np
from tokenizers import (
    Encoding,
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

from bert_keras_layers.preprocessing import vocabulary as special
from bert_keras_layers.preprocessing.token_rows import IntArray, TokenRows
from bert_keras_layers.preprocessing.unicode_table import MAX_CHARACTERS


class RustTokenizer:
    """Tokenizes Python strings as Hugging Face's `BertTokenizerFast` does.

    The tokenizer knows no added tokens, so `[SEP]` in a text stays text.

    Args:
        vocabulary: The tokens, checked; the position of a token is its id.
        lowercase: Whether to lowercase and to strip accents.
        sequence_length: Tokens to keep of a text or pair, special ones
            included; `None` keeps all.
    """

    def __init__(
        self, vocabulary: Sequence[str], lowercase: bool, sequence_length: int | None
    ) -> None:
        ids = {token: index for index, token in enumerate(vocabulary)}
        self._tokenizer = Tokenizer(
            models.WordPiece(
                vocab=ids,
                unk_token=special.UNKNOWN,
                max_input_chars_per_word=MAX_CHARACTERS,
                continuing_subword_prefix="##",
            )
        )
        self._tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
        self._tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        self._tokenizer.post_processor = processors.BertProcessing(
            (special.END, ids[special.END]), (special.START, ids[special.START])
        )
        if sequence_length is not None:
            self._tokenizer.enable_truncation(sequence_length, strategy="longest_first")

    def encode(self, texts: list[str], pairs: list[str] | None = None) -> TokenRows:
        """Returns the ids of texts, or of pairs of texts, with special tokens."""
        batch = texts if pairs is None else list(zip(texts, pairs, strict=True))
        encodings = self._tokenizer.encode_batch_fast(batch)
        lengths = np.fromiter(map(len, encodings), "int32", len(encodings))
        total = int(lengths.sum())
        input_ids = _flat((encoding.ids for encoding in encodings), total)
        if pairs is None:
            return TokenRows(input_ids, np.zeros_like(input_ids), lengths)
        token_type_ids = _flat((encoding.type_ids for encoding in encodings), total)
        return TokenRows(input_ids, token_type_ids, lengths)

    def encode_words(self, sentences: list[str] | list[list[str]]) -> TokenRows:
        """Returns ids and word ids of texts, or of sentences that are split."""
        is_split = bool(sentences) and isinstance(sentences[0], list)
        # `encode_batch_fast` would lose the words.
        encodings = self._tokenizer.encode_batch(sentences, is_pretokenized=is_split)
        lengths = np.fromiter(map(len, encodings), "int32", len(encodings))
        total = int(lengths.sum())
        input_ids = _flat((encoding.ids for encoding in encodings), total)
        word_ids = _flat((_numbers(encoding) for encoding in encodings), total)
        return TokenRows(input_ids, np.zeros_like(input_ids), lengths, word_ids)


def _numbers(encoding: Encoding) -> list[int]:
    return [-1 if number is None else number for number in encoding.word_ids]


def _flat(rows: Iterable[list[int]], total: int) -> IntArray:
    return np.fromiter(itertools.chain.from_iterable(rows), "int32", total)

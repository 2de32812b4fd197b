"""Both engines give the ids and word ids of Hugging Face's BertTokenizerFast."""

import functools

import keras
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bert_keras_layers import BertPreprocessor

TROUBLE = (
    "aAbBéÉİßςΣ中가각\u1100\u1161..,[]#' \t\n\r\x00\x01\x7f\xa0\xad\xb4\u0301\u0323"
    "\u200b\u200d\u2028\u302e\U0001d165\ufb01\uff21\uff0c\ufffd\ue000\U0001f600"
)
WORD = st.sampled_from(
    ["[SEP]", "[CLS]", "##s", "don't", "unlikely", "", "x" * 101, "a-b.", "\u200b"]
) | st.text(alphabet=TROUBLE, max_size=4)
SENTENCES = [["Paris's", "", "I"], [], ["\u200b", "love", "i."], ["[SEP]", "paris"]]


@pytest.fixture(scope="module", params=[True, False], ids=["uncased", "cased"])
def compare(request, vocabulary_files):
    """A function: compares both engines with Hugging Face, for some length."""
    import tensorflow as tf
    from transformers import BertTokenizerFast

    file = vocabulary_files[request.param]
    reference = BertTokenizerFast(str(file), do_lower_case=request.param)

    @functools.cache  # The engines of a large vocabulary take a second to build.
    def preprocessor_of(length):
        return BertPreprocessor.from_pretrained(
            file, lowercase=request.param, sequence_length=length
        )

    def run(sentences, length=None):
        is_split = not isinstance(sentences[0], str)
        preprocessor = preprocessor_of(length)
        expected = [
            reference(
                sentence,
                is_split_into_words=is_split,
                split_special_tokens=True,
                truncation=bool(length),
                max_length=length,
            )
            for sentence in sentences
        ]
        tensor = tf.ragged.constant(sentences, dtype=tf.string)
        received = [preprocessor.words(sentences), preprocessor.words(tensor)]
        if is_split:
            received.append(preprocessor.words(tensor.to_tensor("")))
        for batch in received:
            for number, one in enumerate(expected):
                size = len(one["input_ids"])
                ids, words, mask = (
                    np.asarray(batch[name][number])
                    for name in ("input_ids", "word_ids", "attention_mask")
                )
                assert mask.sum() == mask[:size].sum() == size
                assert ids[:size].tolist() == one["input_ids"], sentences[number]
                numbers = [-1 if x is None else x for x in one.word_ids()]
                assert words[:size].tolist() == numbers, sentences[number]
                assert (words[size:] == -1).all()
            for name in batch:
                np.testing.assert_array_equal(batch[name], received[0][name])

    return run


@pytest.mark.tensorflow
@settings(
    max_examples=60,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(
    sentences=st.lists(st.lists(WORD, max_size=6), min_size=12, max_size=12),
    length=st.sampled_from([None, None, 2, 3, 7]),
)
def test_any_words(compare, sentences, length):
    compare(sentences, length)
    compare([" ".join(words) for words in sentences], length)
    compare(["".join(words) for words in sentences], length)


@pytest.mark.tensorflow
@pytest.mark.real_data
def test_real_words(compare, data_folder):
    file = data_folder / "wnut17" / "emerging.dev.conll"
    blocks = file.read_text(encoding="utf-8").replace("\t\n", "\n").split("\n\n")
    sentences = [[x.split("\t")[0] for x in b.splitlines()] for b in blocks]
    compare([words for words in sentences if words][:500], 24)


def test_words_are_numbered_as_given(small_vocabulary):
    batch = BertPreprocessor(small_vocabulary).words(SENTENCES)
    word_ids = [
        [-1, 0, 0, 0, 2, -1],
        [-1, -1, -1, -1, -1, -1],
        [-1, 1, 2, 2, -1, -1],
        [-1, 0, 0, 0, 1, -1],
    ]
    assert batch["word_ids"].dtype == "int32"
    np.testing.assert_array_equal(batch["word_ids"], word_ids)
    np.testing.assert_array_equal(batch["input_ids"][3], [2, 9, 10, 11, 6, 3])


def test_a_cut_leaves_the_first_tokens_of_a_word(small_vocabulary):
    preprocessor = BertPreprocessor(small_vocabulary, sequence_length=4)
    batch = preprocessor.words([["i", "love.", "paris"]])
    np.testing.assert_array_equal(batch["word_ids"], [[-1, 0, 1, -1]])


@pytest.mark.parametrize("padding", ["longest", "sequence_length", 4])
def test_a_batch_is_as_wide_as_it_has_words(small_vocabulary, padding):
    preprocessor = BertPreprocessor(small_vocabulary, True, 12, padding)
    sentences = [["", " ", "", "\u200b", "", "i"], ["love"]]
    batch = preprocessor.words(sentences)
    assert batch["word_ids"].max() == 5
    width = {"longest": 6, "sequence_length": 12, 4: 8}[padding]
    assert batch["input_ids"].shape == batch["word_ids"].shape == (2, width)
    rows = preprocessor.encode_words(sentences)
    again = preprocessor.pad(rows.take([1, 0]))
    np.testing.assert_array_equal(again["word_ids"][::-1], batch["word_ids"])
    if keras.backend.backend() == "tensorflow":
        import tensorflow as tf

        ragged = preprocessor.words(tf.ragged.constant(sentences))
        np.testing.assert_array_equal(ragged["word_ids"], batch["word_ids"])


def test_texts_are_split_at_spaces_and_around_punctuation(small_vocabulary):
    preprocessor = BertPreprocessor(small_vocabulary)
    batch = preprocessor.words(["i  love pariss.", ""])
    expected = [[-1, 0, 1, 2, 2, 3, -1], [-1] * 7]
    np.testing.assert_array_equal(batch["word_ids"], expected)


@pytest.mark.parametrize(
    "sentences",
    [
        (("i", "love"), ("paris",)),
        [np.array(["i", "love"]), [b"paris"]],
        np.array([["i", "love"], ["paris", ""]]),
        np.array([["i", "love"], ["paris"]], object),
    ],
)
def test_words_come_in_any_sequence(sentences, small_vocabulary):
    batch = BertPreprocessor(small_vocabulary).words(sentences)
    np.testing.assert_array_equal(batch["word_ids"], [[-1, 0, 1, -1], [-1, 0, -1, -1]])


def test_no_sentences_give_no_rows(small_vocabulary):
    batch = BertPreprocessor(small_vocabulary).words([])
    assert {name: rows.shape for name, rows in batch.items()} == dict.fromkeys(
        ["input_ids", "attention_mask", "token_type_ids", "word_ids"], (0, 0)
    )
    assert BertPreprocessor(small_vocabulary).words([[]])["word_ids"].shape == (1, 2)


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([["i"], "love"], "all be lists of words.* Received: 'love' at index 1"),
        ([["i"], ["love", 1]], r"`sentences\[1\]` must hold strings.*1 at index 1"),
        ([["i"], None], r"`sentences\[1\]` must be .* Received: NoneType"),
        ([["\ud800"]], r"`sentences\[0\]` must hold valid Unicode"),
        ([1], "`sentences` must hold strings. Received: 1 at index 0"),
        ("i love", "`sentences` must be a list.* Received: 'i love'"),
        ({"i": 1}, "`sentences` must be one text or a flat sequence"),
    ],
)
def test_wrong_sentences_are_named(sentences, message, small_vocabulary):
    with pytest.raises(ValueError, match=message):
        BertPreprocessor(small_vocabulary).words(sentences)


@pytest.mark.tensorflow
def test_words_stay_in_the_graph_with_static_shapes(small_vocabulary):
    import tensorflow as tf

    preprocessor = BertPreprocessor(small_vocabulary, True, 12, "sequence_length")
    expected = preprocessor.words(SENTENCES)
    ragged = tf.ragged.constant(SENTENCES)
    dataset = tf.data.Dataset.from_tensor_slices(ragged).ragged_batch(4)
    dataset = dataset.map(preprocessor.words)
    assert dataset.element_spec["word_ids"].shape[1] == 12
    (batch,) = dataset
    for name, rows in expected.items():
        np.testing.assert_array_equal(batch[name], rows)
    with pytest.raises(ValueError, match=r"rank 1 or 2.*dtype .*int32.* and rank 1"):
        preprocessor.words(tf.constant([1]))
    with pytest.raises(ValueError, match=r"rank 1 or 2.*rank 3"):
        preprocessor.words(tf.constant([[["a"]]]))

import copy
import json
import pathlib
import pickle

import keras
import numpy as np
import pytest

import bert_keras_layers
from bert_keras_layers import BertPreprocessor

NAMES = ["input_ids", "attention_mask", "token_type_ids"]


class Series:
    """As much of a pandas Series as matters here."""

    ndim = 1

    def __init__(self, values):
        self._values = values

    def __len__(self):
        return len(self._values)

    def tolist(self):
        return list(self._values)


@pytest.fixture
def preprocessor(small_vocabulary):
    return BertPreprocessor(small_vocabulary)


def test_ids_mask_and_types_of_texts(preprocessor):
    received = preprocessor(["I love Paris", "pariss.", ""])
    expected = {
        "input_ids": [[2, 4, 5, 6, 3], [2, 6, 7, 8, 3], [2, 3, 0, 0, 0]],
        "attention_mask": [[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 0, 0, 0]],
        "token_type_ids": [[0] * 5] * 3,
    }
    assert list(received) == NAMES
    for name, array in received.items():
        assert array.dtype == "int32"
        assert array.tolist() == expected[name]


def test_ids_mask_and_types_of_pairs(preprocessor):
    received = preprocessor(["i", "i love"], ["paris.", "x"])
    expected = {
        "input_ids": [[2, 4, 3, 6, 8, 3], [2, 4, 5, 3, 1, 3]],
        "attention_mask": [[1] * 6, [1] * 6],
        "token_type_ids": [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1]],
    }
    assert {name: array.tolist() for name, array in received.items()} == expected


def test_ids_of_a_real_vocabulary(minilm):
    preprocessor = BertPreprocessor.from_pretrained(
        minilm, sequence_length=7, padding="sequence_length"
    )
    received = preprocessor("I love Paris")
    assert received["input_ids"].tolist() == [101, 1045, 2293, 3000, 102, 0, 0]
    assert received["attention_mask"].tolist() == [1, 1, 1, 1, 1, 0, 0]


def test_only_uncased_drops_case_and_accents():
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "É", "a", "e", "é"]
    cased, uncased = (BertPreprocessor(vocabulary, mode) for mode in (False, True))
    assert cased("É é")["input_ids"].tolist() == [2, 4, 7, 3]
    assert uncased("É é")["input_ids"].tolist() == [2, 6, 6, 3]


def test_special_tokens_in_a_text_stay_text(preprocessor):
    assert preprocessor("[SEP]")["input_ids"].tolist() == [2, 9, 10, 11, 3]


@pytest.mark.parametrize(
    "texts",
    [
        ("i", "love"),
        np.array(["i", "love"]),
        np.array(["i", "love"], object),
        np.array([b"i", b"love"]),
        [np.str_("i"), np.array("love")],
        Series(["i", "love"]),
    ],
    ids=["tuple", "unicode", "object", "bytes", "scalars", "series"],
)
def test_every_sequence_of_texts_is_taken(preprocessor, texts):
    assert preprocessor(texts)["input_ids"].tolist() == [[2, 4, 3], [2, 5, 3]]
    assert preprocessor(texts, texts)["input_ids"].shape == (2, 5)


@pytest.mark.parametrize("text", ["i", b"i", np.str_("i"), np.array("i")])
def test_one_text_loses_the_batch_axis(preprocessor, text):
    for pair, length in ((None, 3), ("love paris", 6)):
        received = preprocessor(text, pair)
        assert {array.shape for array in received.values()} == {(length,)}
    assert preprocessor(text)["input_ids"].tolist() == [2, 4, 3]


def test_bytes_that_are_no_unicode_are_dropped(preprocessor):
    assert preprocessor(b"\xffi\xff")["input_ids"].tolist() == [2, 4, 3]


@pytest.mark.parametrize(
    ("padding", "width"),
    [("longest", 5), ("sequence_length", 11), (1, 5), (4, 8), (8, 8), (16, 11)],
)
def test_padding_sets_the_width(small_vocabulary, padding, width):
    preprocessor = BertPreprocessor(
        small_vocabulary, sequence_length=11, padding=padding
    )
    ids = preprocessor(["i love paris", "i"])["input_ids"]
    assert ids.shape == (2, width)
    assert ids[1].tolist() == [2, 4, 3] + [0] * (width - 3)
    empty = preprocessor([])["input_ids"].shape
    assert empty == ((0, 11) if padding == "sequence_length" else (0, 0))


def test_padding_uses_the_id_of_the_padding_token(small_vocabulary):
    ids = BertPreprocessor([*small_vocabulary[1:], "[PAD]"])(["i love", "i"])[
        "input_ids"
    ]
    assert ids[1].tolist() == [1, 3, 2, len(small_vocabulary) - 1]


def test_long_texts_are_cut_the_longer_first(small_vocabulary):
    preprocessor = BertPreprocessor(small_vocabulary, sequence_length=6)
    long, short = "i love paris i love paris", "paris"
    assert preprocessor(long)["input_ids"].tolist() == [2, 4, 5, 6, 4, 3]
    assert preprocessor(long, short)["input_ids"].tolist() == [2, 4, 5, 3, 6, 3]
    assert preprocessor(long, long)["input_ids"].tolist() == [2, 4, 3, 4, 5, 3]


def test_encoded_rows_can_be_reordered_before_padding(preprocessor):
    texts = ["i", "i love paris", "", "love paris"]
    rows = preprocessor.encode(texts, texts)
    order = np.argsort(rows.lengths)[1:]
    received = preprocessor.pad(rows.take(order))
    expected = preprocessor(*[[texts[i] for i in order]] * 2)
    assert len(rows) == 4
    for name in NAMES:
        np.testing.assert_array_equal(received[name], expected[name])
    wide = preprocessor.pad(rows, multiple=32)
    assert wide["input_ids"].shape == (4, 32)


def test_attributes(preprocessor, small_vocabulary):
    assert preprocessor.vocabulary == tuple(small_vocabulary)
    assert preprocessor.vocabulary_size == 12
    ids = (preprocessor.pad_id, preprocessor.unknown_id)
    assert (*ids, preprocessor.start_id, preprocessor.end_id) == (0, 1, 2, 3)


def test_config_rebuilds_it_without_a_file(small_vocabulary):
    preprocessor = BertPreprocessor(small_vocabulary, False, 8, padding=4)
    data = json.loads(json.dumps(keras.saving.serialize_keras_object(preprocessor)))
    assert data["config"]["vocabulary"] == small_vocabulary
    for rebuilt in (
        keras.saving.deserialize_keras_object(data),
        pickle.loads(pickle.dumps(preprocessor)),
        copy.deepcopy(preprocessor),
    ):
        assert rebuilt.get_config() == preprocessor.get_config()
        assert rebuilt("i Love")["input_ids"].tolist() == [2, 4, 1, 3]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", None], r"strings. Received: None at index 1, a NoneType"),
        (["a", "b", float("nan")], r"Received: nan at index 2, a float"),
        ([1], r"Received: 1 at index 0, a int"),
        ([["a"]], r"Received: \['a'\] at index 0, a list"),
        ([("a", "b")], r"at index 0, a tuple"),
        (np.array([["a"]]), r"flat sequence of texts. Received: ndarray of rank 2"),
        (["a", "b\ud800"], r"valid Unicode. Received: 'b\\ud800' at index 1"),
        ({"a": 1}, r"flat sequence of texts. Received: dict"),
        (iter(["a"]), r"flat sequence of texts. Received: list_iterator"),
        (None, r"flat sequence of texts. Received: NoneType"),
    ],
)
def test_what_is_no_text_is_named(preprocessor, texts, message):
    with pytest.raises(ValueError, match=f"`texts` must.*{message}"):
        preprocessor(texts)
    if texts is not None:
        with pytest.raises(ValueError, match=f"`pairs` must.*{message}"):
            preprocessor(["a"] * 3, texts)


def test_pairs_of_another_number_are_refused(preprocessor):
    with pytest.raises(ValueError, match=r"as many.*Received: 1 pairs and 2 texts"):
        preprocessor(["a", "b"], ["c"])


def test_no_room_for_pairs_is_refused(small_vocabulary):
    preprocessor = BertPreprocessor(small_vocabulary, sequence_length=2)
    assert preprocessor("i")["input_ids"].tolist() == [2, 3]
    with pytest.raises(ValueError, match=r"at least 3 for pairs.*sequence_length=2"):
        preprocessor("i", "i")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sequence_length": 1}, "at least 2.*sequence_length=1"),
        ({"sequence_length": 8.0}, "integer.*sequence_length=8.0"),
        ({"lowercase": None}, r"True or False.*lowercase=None"),
        ({"padding": "max"}, "'longest', 'sequence_length'.*padding='max'"),
        ({"padding": 0}, "positive integer.*padding=0"),
        ({"padding": True}, "positive integer.*padding=True"),
        ({"padding": "sequence_length"}, "needs a `sequence_length`.*None"),
    ],
)
def test_wrong_options_are_named(small_vocabulary, options, message):
    with pytest.raises(ValueError, match=message):
        BertPreprocessor(small_vocabulary, **options)


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        ("vocab.txt", "use `BertPreprocessor.from_pretrained`.*'vocab.txt'"),
        (pathlib.Path("vocab.txt"), "use `BertPreprocessor.from_pretrained`"),
        (["[PAD]", "[CLS]", "a"], r"3 tokens without \[UNK\], \[SEP\]"),
        (
            ["a", "b", "a", "c", "b", "a"],
            r"'a' in lines \[1, 3, 6\], 'b' in lines \[2, 5\]",
        ),
        (
            [str(i) for i in [*range(9), *range(9)]],
            r"'2' in lines \[3, 12\] and 6 more",
        ),
        (["a", ""], "non-empty strings.*'' in line 2"),
        (["a", None], "non-empty strings.*None in line 2"),
        (["a\ud800"], "valid Unicode.*in line 1"),
    ],
)
def test_a_wrong_vocabulary_is_refused(vocabulary, message):
    with pytest.raises(ValueError, match=message):
        BertPreprocessor(vocabulary)


def test_python_texts_import_no_tensorflow(run_python):
    # A stand-in for Keras, which imports TensorFlow itself on that backend, and for
    # the package's own `__init__`.
    code = f"""
import sys, types
keras = types.ModuleType("keras")
keras.saving = types.SimpleNamespace(
    register_keras_serializable=lambda package: lambda registered: registered
)
package = types.ModuleType("bert_keras_layers")
package.__path__ = {list(bert_keras_layers.__path__)!r}
sys.modules.update(keras=keras, bert_keras_layers=package)
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor
preprocessor = BertPreprocessor(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "i"])
print(preprocessor(["I"], ["i"])["input_ids"].tolist())
print([name for name in ("tensorflow", "tensorflow_text", "transformers")
       if name in sys.modules])
"""
    assert run_python(code).split("\n")[:2] == ["[[2, 4, 3, 4, 3]]", "[]"]

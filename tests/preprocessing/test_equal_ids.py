"""Both engines give the ids of Hugging Face's BertTokenizerFast."""

import unicodedata

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bert_keras_layers import BertPreprocessor

pytestmark = pytest.mark.tensorflow

MODES = pytest.mark.parametrize("lowercase", [True, False], ids=["uncased", "cased"])
# What has gone wrong somewhere: deleted, split, folded, decomposed and reordered.
TROUBLE = (
    "aAeEiIsSßẞéÉİ\u0131\u017f\u03c3ςΣΩ\u2126\u212a\u212b中\u8c48国가각힣\u1100\u1161\u11a8"
    "..,[]#' \t\n\r\x00\x01\x1c\x7f\x85\xa0\xad\xb4"
    "\u0301\u0307\u0323\u0344\u034f\u0358\u061b\u061c\u0e31\u0f73\u1b44\u180e\u200b"
    "\u200d\u2028\u2029\u2060\u302e\u302f\u3000\ufb01\ufe0f\uff21\uff0c\ufffd\ufeff"
    "\u08d4\ue000\U0001d15e\U0001d160\U0001d165\U0001d166\U0001d16d\U0001e94a"
    "\U0001f600\U0001f1e6\U0002f800\U000e0061\U000f0000\U0010ffff"
)
# Characters that stand for whole words, so that one draw makes a text.
WORDS = str.maketrans(
    dict(
        zip(
            "\ue001\ue002\ue003\ue004\ue005\ue006\ue007",
            ["[SEP]", "[CLS]", "[MASK]", "##s", "unlikely", "x" * 34, "가" * 34],
            strict=True,
        )
    )
)
TROUBLE_AND_WORDS = TROUBLE + "".join(map(chr, WORDS))


def assert_equal_ids(preprocessor, reference, texts, pairs=None):
    """Compares both engines with the reference, every array in full."""
    import tensorflow as tf

    expected = reference(texts, pairs, preprocessor.sequence_length)
    tensors = [None if part is None else tf.constant(part) for part in (texts, pairs)]
    for received in (preprocessor(texts, pairs), preprocessor(*tensors)):
        assert set(received) == set(expected)
        for name in expected:
            array = np.asarray(received[name])
            if not np.array_equal(array, expected[name]):  # Name the first one.
                width = min(array.shape[1], expected[name].shape[1])
                different = array[:, :width] != expected[name][:, :width]
                row = int(different.any(axis=1).argmax())
                pytest.fail(
                    f"{name} of {texts[row]!r}: {array[row]} != {expected[name][row]}"
                )


@pytest.fixture(scope="module")
def characters(tmp_path_factory):
    """A vocabulary file with every assigned character as a word and inside words."""
    points = [chr(code) for code in range(0x110000)]
    assigned = [c for c in points if unicodedata.category(c) not in ("Cn", "Cs")]
    known = {c for a in assigned for c in a + unicodedata.normalize("NFD", a)}
    known |= {c for letter in known for c in letter.lower()}
    known -= set("\n\r\x00")
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokens += [token for c in sorted(known) for token in (c, f"##{c}")]
    file = tmp_path_factory.mktemp("characters") / "vocab.txt"
    file.write_text("\n".join(tokens), encoding="utf-8", newline="\n")
    return file, tokens, assigned


@pytest.fixture(scope="module", params=[True, False], ids=["uncased", "cased"])
def engines(request, characters, reference):
    """Engines that know every character, so that no difference hides in [UNK]."""
    file, tokens, _ = characters
    return BertPreprocessor(tokens, request.param), reference(file, request.param)


def test_every_assigned_character_in_every_place(engines, characters):
    _, _, assigned = characters
    for start in range(0, len(assigned), 1 << 14):
        part = assigned[start : start + (1 << 14)]
        assert_equal_ids(*engines, part)
        assert_equal_ids(*engines, [f"a{c}b a {c} b {c}{c}" for c in part])


@pytest.fixture(scope="module")
def compared():
    """The different strings that the property test has compared, per engine."""
    seen = {}
    yield seen
    assert all(len(texts) >= 20_000 for texts in seen.values())


@settings(
    max_examples=600,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
@given(
    st.lists(
        st.text(max_size=12)
        | st.text(alphabet=TROUBLE_AND_WORDS, max_size=12).map(
            lambda text: text.translate(WORDS)
        ),
        min_size=50,
        max_size=50,
        unique=True,
    )
)
def test_any_string(engines, compared, texts):
    compared.setdefault(engines[0].lowercase, set()).update(texts)
    assert_equal_ids(*engines, texts)


@pytest.mark.real_data
@MODES
def test_real_texts(vocabulary_files, data_folder, real_texts, reference, lowercase):
    public = {
        **vocabulary_files,
        False: data_folder.parent / "fixtures/cased_vocab.txt",
    }
    preprocessor = BertPreprocessor.from_pretrained(
        public[lowercase], lowercase=lowercase, sequence_length=None
    )
    expected = reference(public[lowercase], lowercase)
    assert len(real_texts) == 22_312
    for start in range(0, len(real_texts), 4096):
        assert_equal_ids(preprocessor, expected, real_texts[start : start + 4096])


@pytest.mark.parametrize("length", [None, *range(3, 14)])
def test_pairs_and_their_truncation(vocabulary_files, reference, length):
    file = vocabulary_files[False]
    preprocessor = BertPreprocessor.from_pretrained(
        file, lowercase=False, sequence_length=length
    )
    sizes = [(first, second) for first in range(8) for second in range(8)]
    texts = ["a b c d e f g"[: 2 * first] for first, _ in sizes]
    pairs = ["h i j k l m n"[: 2 * second] for _, second in sizes]
    expected = reference(file, False)
    assert_equal_ids(preprocessor, expected, texts, pairs)
    assert_equal_ids(preprocessor, expected, texts)


def test_long_words(engines):
    lengths = [32, 33, 34, 35, 36, 49, 50, 51, 66, 67, 99, 100, 101, 102, 300]
    words = [c * n for c in "aéß가각中ัあ\u1f82\U0001f600-" for n in lengths]
    mixed = ["a" * n + "가" * m for n in (66, 67, 96, 97, 98) for m in (1, 11, 12)]
    texts = [text for w in words + mixed for text in (w, f"x {w} y", f"{w}.{w}")]
    assert_equal_ids(*engines, texts)


def test_special_tokens_in_a_text_stay_text(engines):
    texts = ["a [SEP] b", "[CLS]", "[PAD][UNK]", "[MASK] [sep]", "##s [unused1]"]
    assert_equal_ids(*engines, texts)
    preprocessor, _ = engines
    ids = preprocessor(["a [SEP] b"])["input_ids"][0]
    assert list(ids).count(preprocessor.end_id) == 1


def test_characters_that_are_reordered(engines):
    # U+302E (class 224) and U+1D165 (216): sorted, unless one of class 0 is between.
    between = ["", "\x01", "\u200d", "\u0301", "\u034f", "\u0e31", "a", " ", "가"]
    texts = [
        first + c + second
        for c in between
        for first in "\u302e\U0001d165\U0001d16d\U0001d15e\u1b44"
        for second in "\u302e\U0001d165\U0001d16d\U0001d15e\u1b44"
    ]
    # Side by side they also show whether a text is sorted into its neighbour.
    assert_equal_ids(*engines, texts)
    assert_equal_ids(*engines, [f"a{text}b" for text in texts])


def test_bytes_that_are_no_unicode(engines):
    import tensorflow as tf

    preprocessor, reference = engines
    parts = [
        b"a",
        b"\xff",
        b"\xc3",
        b"\xa9",
        b"\xe4\xb8",
        b"\xed\xa0\x80",
        b"\xc0\xaf",
        b" ",
    ]
    texts = [a + b + c + d for a in parts for b in parts for c in parts for d in parts]
    expected = reference([text.decode("utf-8", "replace") for text in texts])
    for received in (preprocessor(texts), preprocessor(tf.constant(texts))):
        np.testing.assert_array_equal(received["input_ids"], expected["input_ids"])


@pytest.mark.parametrize(
    "tokens",
    [
        ["a b", "a", "b"],  # TensorFlow Text alone would match it across two words.
        ["##"],
        ["## ", " "],
        ["\x00", "a\x00b"],  # TensorFlow Text alone fails at these.
        ["é", "##é", "\uff21", "ß", "\u0301"],
        ["a.b", "##.", ".", "a##b", "###"],
        ["中国", "##中", "a中", "中"],
        ["\ufffd4", "\ufffd5", "a"],
        ["a" * 300, "##" + "b" * 300, "a"],
    ],
)
@MODES
def test_odd_tokens(tokens, lowercase):
    import tensorflow as tf

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *tokens]
    preprocessor = BertPreprocessor(vocabulary, lowercase)
    texts = ["a b", "ab", "a  b é a.b a##b 中国 a中 ## ß \u0301", "a" * 90, " \ufffd4"]
    texts += [text + " \ufffd" for text in texts]  # The exact path too.
    expected = preprocessor(texts)
    received = preprocessor(tf.constant(texts))
    np.testing.assert_array_equal(received["input_ids"], expected["input_ids"])

import keras
import numpy as np
import pytest
from contract import ALLCLOSE, arrays, check_layer
from hypothesis import given, settings
from hypothesis import strategies as st

from bert_keras_layers import WordPooling

TOKENS = np.array(
    [[[9, 9], [1, -4], [3, -2], [5, 5]], [[2, 0], [7, 1], [8, 8], [9, 9]]], "float32"
)
# The second text has one word only, of one token.
WORD_IDS = np.array([[-1, 0, 0, 2], [1, -1, -1, -1]], "int32")
MODES = ["first", "last", "max", "mean"]


def pooled(mode, tokens, word_ids, mask=None, **options):
    return arrays(WordPooling(mode, **options)([tokens, word_ids], mask=mask))[0]


def numpy_pooled(mode, tokens, word_ids, words):
    """Pools a text `(tokens, width)` word by word."""
    reduce = {
        "first": lambda x: x[0],
        "last": lambda x: x[-1],
        "max": lambda x: x.max(0),
        "mean": lambda x: x.mean(0),
    }[mode]
    members = [tokens[word_ids == number] for number in range(words)]
    return np.stack([reduce(x) if len(x) else 0 * tokens[0] for x in members])


@st.composite
def texts_in_words(draw):
    """Draws tokens, word ids in any order, out of range too, and a mask."""
    texts, length = draw(st.sampled_from([(3, 5), (2, 1)]))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    tokens = rng.normal(size=(texts, length, 3)).astype("float32")
    word_ids = rng.integers(-2, length + 2, (texts, length))
    if draw(st.booleans()):
        word_ids = np.sort(word_ids // 2)
    return tokens, word_ids, rng.random((texts, length)) < 0.8


@pytest.mark.parametrize("mode", ["first", "mean"])
def test_contract(mode, tmp_path):
    layer = WordPooling(mode, name="pool")
    check_layer(layer, [TOKENS, WORD_IDS], tmp_path)


def test_contract_with_a_number_of_words(tmp_path):
    check_layer(WordPooling("max", 2, name="pool"), [TOKENS, WORD_IDS], tmp_path)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("first", [[[1, -4], [0, 0], [5, 5]], [[0, 0], [2, 0], [0, 0]]]),
        ("last", [[[3, -2], [0, 0], [5, 5]], [[0, 0], [2, 0], [0, 0]]]),
        ("max", [[[3, -2], [0, 0], [5, 5]], [[0, 0], [2, 0], [0, 0]]]),
        ("mean", [[[2, -3], [0, 0], [5, 5]], [[0, 0], [2, 0], [0, 0]]]),
    ],
)
def test_each_word_has_the_vectors_of_its_own_tokens(mode, expected, dtype):
    received = pooled(mode, TOKENS, WORD_IDS, max_words=3, dtype=dtype)
    np.testing.assert_array_equal(received, expected)


@settings(deadline=None, max_examples=60)
@given(texts=texts_in_words(), max_words=st.sampled_from([None, 2, 7]))
def test_every_mode_pools_as_numpy_does(texts, max_words):
    tokens, word_ids, mask = texts
    words = max_words or tokens.shape[1]
    kept = np.where(mask, word_ids, -1)
    spoiled = np.where((kept >= 0) & (kept < words), 0, np.nan)[..., None]
    for mode in MODES:
        received = pooled(mode, tokens + spoiled, word_ids, mask, max_words=max_words)
        expected = [
            numpy_pooled(mode, *row, words) for row in zip(tokens, kept, strict=True)
        ]
        np.testing.assert_allclose(received, expected, **ALLCLOSE)
    computed = WordPooling(max_words=max_words).compute_mask([tokens, word_ids], mask)
    numbers = np.arange(words)[:, None]
    np.testing.assert_array_equal(
        keras.ops.convert_to_numpy(computed), (kept[:, None] == numbers).any(2)
    )


def test_padding_texts_changes_no_word():
    longer = np.pad(TOKENS, [(0, 1), (0, 3), (0, 0)], constant_values=5)
    more_ids = np.pad(WORD_IDS, [(0, 1), (0, 3)], constant_values=-1)
    for mode in MODES:
        received = pooled(mode, longer, more_ids)
        expected = pooled(mode, TOKENS, WORD_IDS)
        np.testing.assert_array_equal(received[:2, :4], expected)
        assert not received[2].any()
        assert not received[:, 4:].any()


@pytest.mark.parametrize("mode", ["mean", "max"])
def test_sums_are_taken_in_float32(mode):
    tokens = np.full((1, 5000, 1), 20.0, "float32")  # Sums to 100000 > 65504.
    word_ids = np.zeros((1, 5000), "int32")
    received = pooled(mode, tokens, word_ids, max_words=1, dtype="mixed_float16")
    np.testing.assert_array_equal(received, [[[20.0]]])


@pytest.mark.parametrize("mode", MODES)
def test_gradients_reach_the_tokens_of_words_and_no_others(mode):
    inputs, word_ids = keras.Input((4, 2)), keras.Input((4,), dtype="int32")
    moved = keras.layers.Embedding(5, 2, name="moved")
    positions = moved(keras.ops.cumsum(keras.ops.ones_like(word_ids), 1) - 1)
    spoiled = keras.ops.where((word_ids >= 0)[..., None], inputs + positions, np.nan)
    model = keras.Model([inputs, word_ids], WordPooling(mode)([spoiled, word_ids]))
    model.compile(keras.optimizers.SGD(0.1), "mse")
    before = keras.ops.convert_to_numpy(model.weights[0])
    feed = [TOKENS[:1], WORD_IDS[:1]]
    model.train_on_batch(feed, np.full((1, 4, 2), 50.0))
    change = keras.ops.convert_to_numpy(model.weights[0]) != before
    assert np.isfinite(arrays(model.weights)[0]).all()
    uses = {"first": [1, 3], "last": [2, 3], "max": [2, 3], "mean": [1, 2, 3]}[mode]
    np.testing.assert_array_equal(change.all(1), np.isin(np.arange(5), uses))


@pytest.mark.parametrize("max_words", [None, 4])
def test_the_mask_that_tokens_carry_leaves_words_out(max_words, tmp_path):
    inputs, word_ids = keras.Input((4, 2)), keras.Input((4,), dtype="int32")
    masked = keras.layers.Masking(9.0)(inputs)
    words = WordPooling(max_words=max_words)([masked, word_ids])
    mean = keras.layers.GlobalAveragePooling1D()(words)  # Reads the words' mask.
    model = keras.Model([inputs, word_ids], [words, mean])
    model.save(tmp_path / "words.keras")
    model = keras.models.load_model(tmp_path / "words.keras")
    all_words = np.array([[0, 1, 2, 3], [0, 0, 1, 2]], "int32")
    received, mean = model.predict([TOKENS, all_words], verbose=0)
    np.testing.assert_array_equal(received[0], [[0, 0], [1, -4], [3, -2], [5, 5]])
    np.testing.assert_array_equal(received[1], [[2, 0], [8, 8], [0, 0], [0, 0]])
    np.testing.assert_allclose(mean, [[3, -1 / 3], [5, 4]], rtol=1e-6)


def test_open_dimensions_stay_open_and_max_words_is_static():
    inputs = [keras.Input((None, 2)), keras.Input((None,), dtype="int32")]
    assert WordPooling()(inputs).shape == (None, None, 2)
    assert WordPooling(max_words=7)(inputs).shape == (None, 7, 2)
    words = WordPooling("mean")(inputs)
    model = keras.Model(inputs, keras.layers.ActivityRegularization()(words))
    for length in (4, 3):
        received = model.predict([TOKENS[:, :length], WORD_IDS[:, :length]], verbose=0)
        expected = pooled("mean", TOKENS[:, :length], WORD_IDS[:, :length])
        np.testing.assert_array_equal(received, expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "median"}, r"one of \['first', 'last', 'max', 'mean'\].*'median'"),
        ({"max_words": 0}, "None or a positive integer. Received: max_words=0"),
        ({"max_words": 1.5}, "None or a positive integer. Received: max_words=1.5"),
    ],
)
def test_a_wrong_argument_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        WordPooling(**options)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (TOKENS, r"a list of token vectors and word ids\. Received: shape \(2, 4, 2\)"),
        ([TOKENS[0], WORD_IDS], r"\(batch, tokens, width\)"),
        ([TOKENS, WORD_IDS[:, :3]], r"here \(2, 4\)\. Received: shape \(2, 3\)"),
        ([TOKENS, WORD_IDS[..., None]], r"here \(2, 4\)\. Received: shape"),
        ([TOKENS, WORD_IDS * 1.0], "must be integers. Received: dtype float"),
    ],
)
def test_wrong_inputs_are_named(inputs, message):
    with pytest.raises(ValueError, match=message):
        WordPooling()(inputs)

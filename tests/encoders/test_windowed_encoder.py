import keras
import numpy as np
import pytest
from contract import arrays, check_layer
from encoders.test_every_encoder import (
    changed,
    classifier,
    copies,
    hub,
    native,
    parts_of,
    take_one_step,
    wrapped,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from bert_keras_layers import (
    BertPreprocessor,
    TextClassifier,
    TokenClassifier,
    WindowedEncoder,
)

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefghijklmnopqrstuvwxyz"]
LONG = " ".join("the quick brown fox jumps over a lazy dog".replace(" ", ""))


def batch(lengths, tokens=None):
    """Random texts of so many tokens, `[CLS]` and `[SEP]` included, padded."""
    rng = np.random.default_rng(sum(lengths))
    ids = rng.integers(4, 30, (len(lengths), tokens or max(lengths))).astype("int32")
    mask = (np.arange(ids.shape[1]) < np.array(lengths)[:, None]).astype("int32")
    for row, length in zip(ids, lengths, strict=True):
        row[:1], row[length - 1 : length], row[length:] = 2, 3, 0
    types = rng.integers(0, 2, ids.shape).astype("int32")
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}


def by_hand(encoder, inputs, length, stride):
    """States and pooler output of each text, one window of one text at a time."""
    for ids, types, kept in zip(
        inputs["input_ids"],
        inputs["token_type_ids"],
        inputs["attention_mask"].sum(axis=1),
        strict=True,
    ):
        body, room = np.arange(1, kept - 1), length - 2
        starts = [0]
        while starts[-1] + room < len(body):
            starts.append(starts[-1] + stride)
        places, owner = [], np.zeros(len(body), int)
        for number, start in enumerate(starts):
            places.append([0, *body[start : start + room], kept - 1])
            # Farther from our first token than from the last of the window before?
            for q in range(start, min(start + room, len(body))):
                is_new = not number or q - start > start - stride + room - 1 - q
                owner[q] = number if is_new else owner[q]
        # As many as there ever are: JAX compiles for each shape.
        windows = {name: np.zeros((40, length), "int32") for name in inputs}
        for number, row in enumerate(places):
            windows["input_ids"][number, : len(row)] = ids[row]
            windows["token_type_ids"][number, : len(row)] = types[row]
            windows["attention_mask"][number, : len(row)] = 1
        outputs = encoder(windows)
        states = []
        for state in arrays(outputs["hidden_states"]):  # (windows, length, width)
            first = state[: len(places), 0].mean(axis=0)
            rest = [state[owner[q], q - starts[owner[q]] + 1] for q in range(len(body))]
            states.append(np.stack([first, *rest, state[number, len(row) - 1]]))
        yield states, arrays(outputs["pooler_output"])[0][: len(places)].mean(axis=0)


@pytest.mark.one_backend  # Each shape is compiled anew on JAX.
@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.integers(3, 40), min_size=3, max_size=3),
    st.sampled_from([(5, 1), (5, 3), (8, 4), (20, 9)]),
)
def test_states_are_those_of_windows_taken_by_hand(lengths, sizes):
    encoder, inputs = native(), batch(lengths, tokens=40)
    outputs = WindowedEncoder(encoder, *sizes)(inputs)
    expected = by_hand(encoder, inputs, *sizes)
    for i, (states, pooled) in enumerate(expected):
        for received, state in zip(outputs["hidden_states"], states, strict=True):
            row = keras.ops.convert_to_numpy(received)[i, : lengths[i]]
            np.testing.assert_allclose(row, state, atol=2e-6)
        row = keras.ops.convert_to_numpy(outputs["pooler_output"])[i]
        np.testing.assert_allclose(row, pooled, atol=2e-6)


def test_contract(small_encoder, tmp_path):
    layer = WindowedEncoder(small_encoder(), 8, 3, name="encoder")
    check_layer(layer, batch([20, 5, 13]), tmp_path)


@pytest.mark.tensorflow
@pytest.mark.parametrize("make", [native, wrapped, hub])
def test_lengths_may_be_open_and_every_encoder_will_do(make):
    import tensorflow as tf

    encoder = make()
    long = WindowedEncoder(encoder, 8, max_positions=99)
    open_shape = {name: tf.TensorSpec((None, None), "int32") for name in batch([3])}
    traced = tf.function(long, input_signature=[open_shape])
    for lengths in ([8, 4], [3], [30, 8, 9], [17]):
        inputs = batch(lengths)
        kept = inputs["attention_mask"] == 1
        received = arrays(traced(inputs)["hidden_states"])
        plain = encoder if max(lengths) <= 8 else long
        for one, other in zip(
            received, arrays(plain(inputs)["hidden_states"]), strict=True
        ):
            np.testing.assert_allclose(one[kept], other[kept], atol=2e-6)


def test_the_mask_may_have_holes_and_a_row_may_be_empty():
    encoder, inputs = native(), batch([20, 20])
    inputs["attention_mask"][0, 3:6] = 0
    inputs["attention_mask"][1] = 0
    long = WindowedEncoder(encoder, 8, 3)
    expected = arrays(long(inputs)["last_hidden_state"])[0]
    assert np.isfinite(expected).all()
    inputs["input_ids"][0, 3:6] = 9
    received = arrays(long(inputs)["last_hidden_state"])[0]
    kept = inputs["attention_mask"] == 1
    np.testing.assert_allclose(received[kept], expected[kept], atol=2e-6)


def test_cutting_and_freezing_reach_the_encoder():
    long = WindowedEncoder(native(), 8, 3)
    shorter = long.truncate(1)
    assert (shorter.num_layers, shorter.window_length, shorter.stride) == (1, 8, 3)
    inputs = batch([20])
    received = arrays(shorter(inputs)["hidden_states"])
    for one, other in zip(
        received, arrays(long(inputs)["hidden_states"]), strict=False
    ):
        np.testing.assert_allclose(one, other, atol=2e-6)


def test_freezing_reaches_the_encoder():
    long = WindowedEncoder(native(), 4, 2)  # Shorter than the texts of the step.
    long.freeze(blocks=2)
    before = {name: copies(part) for name, part in parts_of(long.encoder).items()}
    take_one_step(classifier(long), keras.optimizers.Adam(0.01))
    frozen = {"embeddings", "block_0", "block_1"}
    for name, part in parts_of(long.encoder).items():
        assert changed(part, before[name]) == (name not in frozen), name


def test_wrapping_a_frozen_encoder_keeps_it_frozen():
    encoder = native()
    encoder.trainable = False
    assert WindowedEncoder(encoder).trainable_weights == []


def test_a_classifier_reads_long_texts_to_the_end(small_encoder, tmp_path):
    encoder = WindowedEncoder(small_encoder(max_positions=12), max_positions=64)
    model = TextClassifier(encoder, 2, BertPreprocessor(VOCABULARY), layers=[3])
    assert model.preprocessor.sequence_length == 64
    texts = [f"{LONG} x", f"{LONG} y"]
    model.fit(texts, [0, 1], verbose=0)
    x, y = probabilities = model.predict(texts, verbose=0)
    assert (x != y).any()
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras", safe_mode=True)
    np.testing.assert_array_equal(loaded.predict(texts, verbose=0), probabilities)


def test_every_word_of_a_long_sentence_gets_a_tag(small_encoder):
    encoder = WindowedEncoder(small_encoder(max_positions=12), max_positions=64)
    labels = ["consonant", "vowel"]
    model = TokenClassifier(
        encoder, 2, BertPreprocessor(VOCABULARY), layers=[3], labels=labels
    )
    sentence = LONG.split()
    tags = [labels[letter in "aeiou"] for letter in sentence]
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy")
    model.fit([sentence] * 8, [tags] * 8, epochs=20, verbose=0)
    assert model.predict_tags([sentence]) == [tags]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"window_length": 21}, "`window_length` must be .* 3 to 20. .*=21"),
        ({"window_length": 2}, "`window_length` must be .* 3 to 20. .*=2"),
        ({"stride": 19}, "`stride` must be an integer, 1 to 18. .*stride=19"),
        ({"stride": 2.5}, "`stride` must be an integer, .*stride=2.5"),
        ({"max_positions": 19}, "`max_positions` must be .* at least 20. .*=19"),
    ],
)
def test_sizes_out_of_range_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        WindowedEncoder(native(), **arguments)


def test_what_is_no_encoder_or_has_intermediates_is_refused(small_encoder):
    for encoder in (None, small_encoder(intermediates=["pre_norm"])):
        with pytest.raises(ValueError, match=r"without `intermediates`. Received: "):
            WindowedEncoder(encoder)


def test_texts_beyond_the_limit_are_refused():
    with pytest.raises(ValueError, match=r"30 positions.*Received: shape"):
        WindowedEncoder(native(), max_positions=30)(batch([31]))

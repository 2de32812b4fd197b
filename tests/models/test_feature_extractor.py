import keras
import numpy as np
import pytest
from contract import arrays

from bert_keras_layers import (
    BertEncoder,
    BertPreprocessor,
    FeatureExtractor,
    LayerMix,
    LayerStack,
)

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "i", "love", "paris", "a", "b", "c"]
TEXTS = ["I love Paris", "a", "a b c a b", "", "love"]


@pytest.fixture
def extractor(small_encoder):
    """A function that makes an extractor on small blocks."""

    def make(num_layers=3, **options):
        encoder = small_encoder(num_layers=num_layers)
        return FeatureExtractor(encoder, BertPreprocessor(WORDS), **options)

    return make


def states_of(model, texts):
    """Returns each text's states without padding, `(states, tokens, width)` each."""
    ids = model.preprocessor(texts)
    states = np.stack(arrays(model.encoder(ids)["hidden_states"]), axis=1)
    lengths = ids["attention_mask"].sum(-1)
    return [text[:, :n] for text, n in zip(states, lengths, strict=True)]


def test_pooled_vectors_come_in_the_order_given(extractor):
    model = extractor(layers=[0, 2])
    received = model.predict(TEXTS, batch_size=2, verbose=0)
    expected = [
        np.concatenate([text[0].mean(0), text[2].mean(0)])
        for text in states_of(model, TEXTS)
    ]
    np.testing.assert_allclose(received, expected, atol=1e-5)
    assert model.encoder.num_layers == 2
    assert model.predict([], verbose=0).shape == (0, 16)


def test_states_come_without_padding(extractor):
    model = extractor(layers=2, pooling=None)
    received = model.predict(TEXTS, batch_size=2, verbose=0)
    assert isinstance(received, list)
    for one, text in zip(received, states_of(model, TEXTS), strict=True):
        assert one.dtype == "float32"
        expected = np.concatenate([text[2], text[3]], -1)
        np.testing.assert_allclose(one, expected, atol=1e-5)
    assert model.predict([], verbose=0) == []


def test_on_ids_states_are_padded_as_the_ids_are(extractor):
    model = extractor(pooling=None)
    ids = model.preprocessor(TEXTS)
    assert model.predict(ids, verbose=0).shape == (*ids["input_ids"].shape, 32)


def test_all_thirteen_states_of_a_text(extractor):
    model = extractor(12, layers=LayerStack(None), pooling=None)
    (states,) = model.predict(["I love Paris"], verbose=0)
    assert states.shape == (5, 13, 8)  # [CLS] i love paris [SEP]
    (expected,) = states_of(model, ["I love Paris"])
    np.testing.assert_allclose(states, expected.swapaxes(0, 1), atol=1e-5)


def test_first_tokens_of_some_layers_stand_in_a_stack(extractor):
    model = extractor(12, layers=LayerStack([0, 3, 7, -1]), pooling="cls")
    received = model.predict(TEXTS, verbose=0)
    expected = [text[[0, 3, 7, 12], 0] for text in states_of(model, TEXTS)]
    np.testing.assert_allclose(received, expected, atol=1e-5)


def test_layers_pooled_one_by_one_are_layers_pooled_side_by_side(extractor):
    keras.utils.set_random_seed(1)
    stacked = extractor(layers=LayerStack([0, 2, 1])).predict(TEXTS, verbose=0)
    keras.utils.set_random_seed(1)
    joined = extractor(layers=[0, 2, 1]).predict(TEXTS, verbose=0)
    np.testing.assert_allclose(stacked.reshape(5, 24), joined, atol=1e-6)


def test_negative_layers_of_a_layer_keep_their_meaning_when_blocks_are_dropped(
    extractor,
):
    mix = LayerMix([1, -2], "mean")
    model = extractor(layers=mix)
    assert model.encoder.num_layers == 2
    assert (model.joiner, mix.layers) == (mix, [1, 2])
    expected = [(text[1] + text[2]).mean(0) / 2 for text in states_of(model, TEXTS)]
    np.testing.assert_allclose(model.predict(TEXTS, verbose=0), expected, atol=1e-5)


def test_pairs_are_texts(extractor):
    model = extractor()
    pairs = (TEXTS, TEXTS[::-1])
    np.testing.assert_allclose(
        model.predict(pairs, verbose=0),
        model.predict(model.preprocessor(*pairs), verbose=0),
        atol=1e-6,
    )


@pytest.mark.parametrize("pooling", [None, "cls"])
def test_a_keras_file_is_complete(pooling, extractor, tmp_path):
    model = extractor(layers=LayerStack([-2, 1]), pooling=pooling)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras", safe_mode=True)
    for one, other in zip(
        loaded.predict(TEXTS, verbose=0), model.predict(TEXTS, verbose=0), strict=True
    ):
        np.testing.assert_allclose(one, other, atol=1e-6)


def test_half_precision_gives_float32_arrays(small_encoder):
    encoder = small_encoder(dtype="mixed_bfloat16")
    model = FeatureExtractor(encoder, BertPreprocessor(WORDS), pooling=None)
    assert all(x.dtype == "float32" for x in model.predict(TEXTS, verbose=0))


def test_a_layer_that_returns_its_weights_too_is_refused(extractor):
    with pytest.raises(ValueError, match=r"one tensor, without weights.*LayerMix"):
        extractor(layers=LayerMix(return_weights=True))


def test_real_weights_tell_similar_texts_from_others(minilm):
    model = FeatureExtractor(
        BertEncoder.from_pretrained(minilm),
        BertPreprocessor.from_pretrained(minilm),
        layers=1,
    )
    texts = ["I love Paris", "Paris is a city that I adore.", "My parcel is late."]
    vectors = model.predict(texts, verbose=0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors @ vectors.T
    assert vectors.shape == (3, 384)
    assert cosines[0, 1] > 0.7 > 0.3 > cosines[0, 2]

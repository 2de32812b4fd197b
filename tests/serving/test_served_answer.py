import numpy as np
import pytest

from bert_keras_layers import (
    BertPreprocessor,
    FeatureExtractor,
    LayerMix,
    LayerStack,
    TextClassifier,
    TextRegressor,
    TokenClassifier,
    export_saved_model,
)
from bert_keras_layers.serving.served_model import ServedModel

pytestmark = pytest.mark.tensorflow

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "very", "a", "."]
TEXTS = ["a good film.", "BAD", "", "very very bad, a film (§ 4)", "schlecht"]


def test_any_number_of_labels_come_most_probable_first(small_encoder, tmp_path):
    names = ["late", "broken", "fun"]
    model = TextClassifier(
        small_encoder(), 3, BertPreprocessor(WORDS), labels=names, multi_label=True
    )
    outputs = ServedModel(export_saved_model(model, tmp_path))(TEXTS)
    expected = model.predict(TEXTS, verbose=0)
    np.testing.assert_allclose(outputs["probabilities"], expected, atol=1e-5)
    assert sorted(outputs) == ["labels", "probabilities", "scores"]
    order = (-outputs["probabilities"]).argsort(-1, kind="stable")
    np.testing.assert_array_equal(
        outputs["scores"], np.take_along_axis(outputs["probabilities"], order, -1)
    )
    assert outputs["labels"].tolist() == np.array(names, "S")[order].tolist()


def test_a_regressor_returns_its_values(small_encoder, tmp_path):
    model = TextRegressor(
        small_encoder(), BertPreprocessor(WORDS), LayerMix([1, -2]), num_outputs=2
    )
    outputs = ServedModel(export_saved_model(model, tmp_path))(TEXTS)
    assert list(outputs) == ["values"]
    expected = model.predict(TEXTS, verbose=0)
    np.testing.assert_allclose(outputs["values"], expected, atol=1e-5)


def test_an_extractor_returns_vectors(small_encoder, tmp_path):
    model = FeatureExtractor(small_encoder(), BertPreprocessor(WORDS))
    outputs = ServedModel(export_saved_model(model, tmp_path))(TEXTS)
    assert list(outputs) == ["features"]
    expected = model.predict(TEXTS, verbose=0)
    np.testing.assert_allclose(outputs["features"], expected, atol=1e-4)


def test_an_extractor_of_states_returns_them_with_their_mask(small_encoder, tmp_path):
    model = FeatureExtractor(
        small_encoder(), BertPreprocessor(WORDS), LayerStack(None), pooling=None
    )
    outputs = ServedModel(export_saved_model(model, tmp_path))(TEXTS)
    expected = model.predict(TEXTS, verbose=0)
    for states, mask, one in zip(
        outputs["features"], outputs["mask"], expected, strict=True
    ):
        assert mask.sum() == len(one)
        np.testing.assert_allclose(states[mask == 1], one, atol=1e-4)


def test_a_tagger_returns_a_row_per_word(small_encoder, tmp_path):
    labels = ["O", "B", "I"]
    preprocessor = BertPreprocessor(WORDS, sequence_length=7)
    model = TokenClassifier(small_encoder(), 3, preprocessor, labels=labels)
    outputs = ServedModel(export_saved_model(model, tmp_path))(TEXTS)
    sentences = [text.split() for text in TEXTS]
    for i, sentence in enumerate(sentences):
        row = [word.encode() for word in sentence]
        assert outputs["words"][i].tolist() == row + [b""] * (7 - len(row))
    expected = model.predict(sentences, verbose=0)
    np.testing.assert_allclose(outputs["probabilities"], expected, atol=1e-5)
    np.testing.assert_allclose(outputs["scores"], expected.max(-1), atol=1e-5)
    assert not expected[3, -2:].any()  # No room for these words.
    tags = [[tag.decode() or None for tag in row] for row in outputs["labels"]]
    assert [row[: len(x)] for row, x in zip(tags, sentences, strict=True)] == (
        model.predict_tags(sentences)
    )

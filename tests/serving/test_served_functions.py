import numpy as np
import pytest

from bert_keras_layers import (
    BertPreprocessor,
    FeatureExtractor,
    TextClassifier,
    WindowedEncoder,
    export_saved_model,
)
from bert_keras_layers.serving.clean_answers import ServedRequest, clean_answers
from bert_keras_layers.serving.meta_graph import MetaGraph

pytestmark = pytest.mark.tensorflow

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "very", "a", "."]
TEXTS = np.array(["a good film.", "BAD", "", "very very bad, a film (§ 4)"], object)
PAIRS = TEXTS[::-1]


@pytest.fixture(scope="module")
def model():
    from conftest import SMALL

    from bert_keras_layers import BertEncoder

    return TextClassifier(BertEncoder(**SMALL), 2, BertPreprocessor(WORDS), layers=2)


@pytest.fixture(scope="module")
def version(model, tmp_path_factory):
    return export_saved_model(
        model, tmp_path_factory.mktemp("x"), id_lengths=[16, 4], hidden_states=[0, -1]
    )


def answer(version, signature, **inputs):
    (outputs,) = clean_answers(version, [ServedRequest(signature, inputs)]).outputs
    return outputs


def test_signatures_have_names_and_shapes(version):
    signatures = MetaGraph(version).signatures
    assert sorted(signatures) == [
        "features",
        "ids_16",
        "ids_4",
        "pairs",
        "serving_default",
    ]
    shapes = {
        name: {
            key: tuple(dim.size for dim in tensor.tensor_shape.dim)
            for key, tensor in signature.inputs.items()
        }
        for name, signature in signatures.items()
    }
    assert shapes["pairs"] == {"texts": (-1,), "pairs": (-1,)}
    names = ("input_ids", "attention_mask", "token_type_ids")
    assert shapes["ids_16"] == dict.fromkeys(names, (-1, 16))


def test_pairs_are_answered_as_the_model_does(model, version):
    outputs = answer(version, "pairs", texts=TEXTS, pairs=PAIRS)
    expected = model.predict((list(TEXTS), list(PAIRS)), verbose=0)
    np.testing.assert_allclose(outputs["probabilities"], expected, atol=1e-5)
    assert sorted(outputs) == ["label", "probabilities", "score"]


def test_ids_are_answered_as_texts_are(model, version):
    preprocessor = BertPreprocessor(
        WORDS, padding="sequence_length", sequence_length=16
    )
    outputs = answer(version, "ids_16", **preprocessor(TEXTS))
    expected = model.predict(list(TEXTS), verbose=0)
    np.testing.assert_allclose(outputs["probabilities"], expected, atol=1e-5)


def test_features_are_what_the_head_takes_and_states_come_with_their_mask(
    model, version
):
    outputs = answer(version, "features", texts=TEXTS)
    assert sorted(outputs) == ["features", "hidden_state_0", "hidden_state_3", "mask"]
    extractor = FeatureExtractor(model.encoder, model.preprocessor, layers=2)
    expected = extractor.predict(list(TEXTS), verbose=0)
    np.testing.assert_allclose(outputs["features"], expected, atol=1e-5)
    ids = model.preprocessor(TEXTS)
    np.testing.assert_array_equal(outputs["mask"], ids["attention_mask"])
    states = model.encoder(ids)["hidden_states"]
    kept = ids["attention_mask"] == 1
    for i in (0, 3):
        received = outputs[f"hidden_state_{i}"]
        np.testing.assert_allclose(received[kept], states[i][kept], atol=1e-5)


def test_long_texts_are_served_whole(small_encoder, tmp_path):
    encoder = WindowedEncoder(small_encoder(max_positions=12), max_positions=64)
    model = TextClassifier(encoder, 2, BertPreprocessor(WORDS), layers=1)
    version = export_saved_model(model, tmp_path)
    assert sorted(MetaGraph(version).signatures) == [
        "features",
        "ids_64",
        "serving_default",
    ]
    texts = np.array(["very " * n + "bad" for n in (3, 11, 40, 90)], object)
    outputs = answer(version, "serving_default", texts=texts)
    expected = model.predict(list(texts), verbose=0)
    np.testing.assert_allclose(outputs["probabilities"], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"id_lengths": [21]}, r"`id_lengths` must be integers, 2 to 20, .*=\[21\]"),
        ({"id_lengths": [8.0]}, r"`id_lengths` must be integers, .*=\[8.0\]"),
        ({"hidden_states": [4]}, "`hidden_states` is read .* each from -4 to 3"),
    ],
)
def test_what_there_is_not_is_refused(arguments, message, model, tmp_path):
    with pytest.raises(ValueError, match=message):
        export_saved_model(model, tmp_path, **arguments)
    assert list(tmp_path.iterdir()) == []


def test_any_bytes_get_an_answer(model, version):
    texts = np.array(
        [b"\xff good", b"bad \xc3", b"\xed\xa0\x80", b"x" * 10_000], object
    )
    outputs = answer(version, "serving_default", texts=texts)
    expected = model.predict(list(texts), verbose=0)
    np.testing.assert_allclose(outputs["probabilities"], expected, atol=1e-5)

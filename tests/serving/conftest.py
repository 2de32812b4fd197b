"""Models that the tests of clients ask, behind the stub of TF Serving."""

import pytest

from bert_keras_layers import (
    BertEncoder,
    BertPreprocessor,
    TextClassifier,
    export_saved_model,
)

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "very", "a", "."]


def _numbers_model(factor):
    """A model that shows each kind of output, and how inputs arrive."""
    import tensorflow as tf

    module = tf.Module()

    def sizes(texts):
        return {"sizes": factor * tf.strings.length(texts)}

    def kinds(ids, texts):
        decimals = tf.cast(ids, tf.float32) * 0.3
        rare = tf.constant([float("nan"), float("inf"), -float("inf")])
        return {
            "decimals": decimals,
            "rare": tf.ones_like(decimals) * rare,
            "ids": ids,
            "texts": texts,
            "raw_bytes": texts,
        }

    def cut(texts):
        return {"texts": texts[:-1]}

    def echo(texts):
        return {"echo_bytes": texts}

    ids = tf.TensorSpec((None, 3), tf.int32, "ids")
    texts = tf.TensorSpec((None,), tf.string, "texts")
    signatures = {
        "serving_default": tf.function(sizes, input_signature=[texts]),
        "kinds": tf.function(kinds, input_signature=[ids, texts]),
        "cut": tf.function(cut, input_signature=[texts]),
        "echo": tf.function(echo, input_signature=[texts]),
    }
    return module, signatures


@pytest.fixture(scope="session")
def classifier():
    encoder = BertEncoder(
        vocabulary_size=len(WORDS),
        hidden_size=8,
        num_layers=3,
        num_heads=2,
        intermediate_size=16,
    )
    preprocessor = BertPreprocessor(WORDS, sequence_length=8)
    return TextClassifier(encoder, 2, preprocessor, labels=["no", "ja ✓"])


@pytest.fixture(scope="session")
def exported(classifier, tmp_path_factory):
    """The folder of the version that the classifier was exported to."""
    return export_saved_model(classifier, tmp_path_factory.mktemp("models") / "films")


@pytest.fixture(scope="session")
def stub_models(exported, tmp_path_factory):
    """The classifier as `customer_messages`, and `numbers` in three versions."""
    import tensorflow as tf
    from serving.stub_server import StubModels

    folder = tmp_path_factory.mktemp("numbers")
    numbers = {}
    for version in (1, 2, 10):
        module, signatures = _numbers_model(factor=version)
        numbers[version] = folder / str(version)
        tf.saved_model.save(module, str(numbers[version]), signatures=signatures)
    models = {"customer_messages": {1: exported}, "numbers": numbers}
    labels = {"customer_messages": {"canary": 1}, "numbers": {"stable": 2}}
    return StubModels(models, labels)

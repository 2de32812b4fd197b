import pathlib
import shutil

import numpy as np
import pytest

from bert_keras_layers import BertEncoder, BertPreprocessor
from bert_keras_layers.preprocessing.hub_settings import hub_settings

FIXTURES = pathlib.Path(__file__).parents[1] / "fixtures"
NAMES = {
    "input_ids": "input_word_ids",
    "attention_mask": "input_mask",
    "token_type_ids": "input_type_ids",
}
TEXTS = [
    "The movie was great!",
    "Hello   World, it's a TERRIBLE\tmovie - un-able...",
    "Café CAFÉ cafe\u0301, 我我 was good?",
    "badly doing 123 unknownly \u20ac \U0001f600",
    "",
    "a b c " * 30,
]

pytestmark = pytest.mark.tensorflow


@pytest.fixture(scope="module")
def preprocess_model():
    import tensorflow as tf
    import tensorflow_text

    del tensorflow_text  # Its operations are registered now.
    return tf.saved_model.load(str(FIXTURES / "hub_preprocess"))


@pytest.fixture
def saved(tmp_path):
    """A function that saves a module with a vocabulary, and says where."""
    import tensorflow as tf

    def save(module, words=("[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "word")):
        vocabulary = tmp_path / "vocab.txt"
        vocabulary.write_text("\n".join(words), encoding="utf-8")
        module.vocab_file = tf.saved_model.Asset(str(vocabulary))
        tf.saved_model.save(module, str(tmp_path / "model"))
        return tmp_path / "model"

    return save


def equal_to_the_model(preprocessor, model, texts):
    import tensorflow as tf

    expected = model(tf.constant(texts))
    for given in (texts, tf.constant(texts)):
        received = preprocessor(given)
        for name, theirs in NAMES.items():
            np.testing.assert_array_equal(received[name], expected[theirs])


def test_ids_equal_those_of_the_preprocessing_model(preprocess_model):
    preprocessor = BertPreprocessor.from_hub(
        FIXTURES / "hub_preprocess", padding="sequence_length"
    )
    assert preprocessor.lowercase is True
    assert preprocessor.sequence_length == 32
    assert preprocessor.vocabulary_size == 108
    equal_to_the_model(preprocessor, preprocess_model, TEXTS)


def test_ids_on_real_texts_equal_those_of_the_preprocessing_model(
    preprocess_model, real_texts
):
    ascii_texts = [text for text in real_texts if text.isascii()][:3000]
    preprocessor = BertPreprocessor.from_hub(
        str(FIXTURES / "hub_preprocess"), padding="sequence_length"
    )
    equal_to_the_model(preprocessor, preprocess_model, ascii_texts)


def test_an_encoder_and_its_preprocessing_model_agree():
    encoder = BertPreprocessor.from_hub(FIXTURES / "hub_encoder", sequence_length=32)
    model = BertPreprocessor.from_hub(FIXTURES / "hub_preprocess")
    assert encoder.get_config() == model.get_config()


def test_an_encoder_says_its_settings_without_being_loaded(tmp_path):
    folder = shutil.copytree(FIXTURES / "hub_encoder_v2", tmp_path / "model")
    (folder / "saved_model.pb").write_bytes(b"no graph")
    settings = hub_settings(folder)
    assert settings["lowercase"] is True
    assert settings["sequence_length"] == 12
    assert settings["vocabulary"][:4] == ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    preprocessor = BertPreprocessor.from_hub(folder, sequence_length=8, lowercase=False)
    assert preprocessor.sequence_length == 8
    assert preprocessor.lowercase is False


def test_a_preprocessing_model_feeds_the_encoder_as_it_is(preprocess_model):
    import tensorflow as tf

    encoder = BertEncoder.from_hub(FIXTURES / "hub_encoder")
    theirs = encoder(preprocess_model(tf.constant(TEXTS)))
    preprocessor = BertPreprocessor.from_hub(
        FIXTURES / "hub_preprocess", padding="sequence_length"
    )
    ours = encoder(preprocessor(TEXTS))
    assert len(theirs["hidden_states"]) == 3
    for one, other in zip(ours["hidden_states"], theirs["hidden_states"], strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("lowercase", [True, False])
def test_a_cased_encoder_keeps_case(saved, lowercase):
    import tensorflow as tf

    module = tf.Module()
    module.do_lower_case = tf.Variable(lowercase, trainable=False)
    settings = hub_settings(saved(module))
    assert settings["lowercase"] is lowercase
    assert settings["sequence_length"] is None


@pytest.mark.parametrize("lowercase", [True, False])
@pytest.mark.parametrize("words", ["a A word Word", "a word", "A B"])
def test_a_cased_preprocessing_model_keeps_case(saved, tmp_path, lowercase, words):
    import tensorflow as tf
    import tensorflow_text

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words.split()]
    (tmp_path / "words").write_text("\n".join(words))
    tokenizer = tensorflow_text.BertTokenizer(
        str(tmp_path / "words"), token_out_type=tf.int32, lower_case=lowercase
    )

    class Model(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def __call__(self, texts):
            ids = tokenizer.tokenize(texts).merge_dims(1, 2)[:, :6]
            rows = tf.concat([tf.fill([tf.size(texts), 1], 2), ids], 1)
            rows = tf.concat([rows, tf.fill([tf.size(texts), 1], 3)], 1)
            return {"input_word_ids": rows.to_tensor(shape=[None, 8])}

    model = Model()
    model.tokenizer = tokenizer
    settings = hub_settings(saved(model, words))
    assert settings["vocabulary"] == words
    assert settings["sequence_length"] == 8
    if "a" in words:  # Else no lower-case text has an id, folded or not.
        assert settings["lowercase"] is lowercase


def test_a_sentencepiece_model_is_refused(tmp_path):
    folder = shutil.copytree(FIXTURES / "hub_encoder_v2", tmp_path / "albert")
    (folder / "assets" / "uncased_vocab.txt").rename(folder / "assets" / "30k.model")
    message = r"one WordPiece vocabulary.*sentencepiece.*\['30k\.model'\] in .*/albert"
    with pytest.raises(FileNotFoundError, match=message):
        BertPreprocessor.from_hub(folder)


def test_a_saved_model_of_something_else_is_refused(saved):
    import tensorflow as tf

    folder = saved(tf.Module())
    with pytest.raises(ValueError, match=rf"{folder} must be a TF-Hub BERT encoder or"):
        BertPreprocessor.from_hub(folder)


@pytest.mark.parametrize("name", ["hub_encoder_v2", "hub_preprocess"])
@pytest.mark.parametrize("file", ["saved_model.pb", "variables/variables.index"])
def test_a_damaged_saved_model_is_refused(tmp_path, name, file):
    folder = shutil.copytree(FIXTURES / name, tmp_path / "model")
    (folder / file).write_bytes((folder / file).read_bytes()[:-200])
    if (name, file) == ("hub_encoder_v2", "saved_model.pb"):  # It is not read.
        assert BertPreprocessor.from_hub(folder).lowercase is True
        return
    with pytest.raises(ValueError, match=f"SavedModel in {folder} must be whole"):
        BertPreprocessor.from_hub(folder)


def test_a_missing_source_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must be a SavedModel folder, a URL"):
        BertPreprocessor.from_hub(tmp_path / "none")

import pytest
import tensorflow as tf
from saved_function import save_function

from bert_keras_layers.serving.served_model import ServedModel

pytestmark = pytest.mark.tensorflow


def test_a_model_of_numbers_takes_no_texts(tmp_path):
    spec = tf.TensorSpec((None,), name="x")
    save_function(tmp_path / "1", lambda x: {"y": x + 1}, spec)
    with pytest.raises(ValueError, match="'serving_default' that takes texts"):
        ServedModel(tmp_path)


def test_any_model_of_texts_answers(tmp_path):
    spec = tf.TensorSpec((None,), tf.string, name="x")
    save_function(tmp_path, lambda x: {"y": tf.strings.length(x)}, spec)
    assert ServedModel(tmp_path)(["a", "abc"])["y"].tolist() == [1, 3]


def test_missing_variables_are_named(exported, tmp_path):
    import shutil

    shutil.copytree(exported, tmp_path / "1")
    shutil.rmtree(tmp_path / "1" / "variables")
    with pytest.raises(ValueError, match="is not whole"):
        ServedModel(tmp_path)

import keras
import numpy as np
import pytest

from bert_keras_layers import BertPreprocessor, TextRegressor
from bert_keras_layers_cli.data.model_file import read_model, write_model

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film"]


def test_a_model_is_written_and_read(small_encoder, tmp_path):
    model = TextRegressor(small_encoder(), BertPreprocessor(VOCABULARY), layers=1)
    file = tmp_path / "new" / "model.keras"
    write_model(model, file)
    assert list(file.parent.iterdir()) == [file]
    expected, given = (x.predict(["good film"]) for x in (model, read_model(file)))
    np.testing.assert_array_equal(given, expected)


@pytest.mark.parametrize(
    ("layer", "message"),
    [
        (keras.layers.Dense(2), "must hold a text model of bert_keras_layers"),
        (keras.layers.Lambda(lambda x: x), "could not be loaded: .*afe"),
    ],
)
def test_other_models_are_refused(layer, message, tmp_path):
    file = tmp_path / "model.keras"
    keras.Sequential([keras.Input((3,)), layer]).save(file)
    with pytest.raises(ValueError, match=message):
        read_model(file)


def test_a_damaged_file_is_refused(small_encoder, tmp_path):
    model = TextRegressor(small_encoder(), BertPreprocessor(VOCABULARY), layers=1)
    file = tmp_path / "model.keras"
    write_model(model, file)
    content = bytearray(file.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 2000] = bytes(2000)
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"model\.keras could not be loaded"):
        read_model(file)

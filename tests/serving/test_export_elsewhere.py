import keras
import pytest

from bert_keras_layers import BertPreprocessor, TextClassifier, export_saved_model


@pytest.mark.skipif(
    keras.backend.backend() == "tensorflow", reason="about the other backends"
)
def test_other_backends_are_told_what_to_do(small_encoder, tmp_path):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    model = TextClassifier(small_encoder(), 2, BertPreprocessor(words))
    with pytest.raises(ValueError, match="load it with KERAS_BACKEND=tensorflow"):
        export_saved_model(model, tmp_path)

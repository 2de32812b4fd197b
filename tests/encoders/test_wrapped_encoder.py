import keras
import pytest

from bert_keras_layers import HubEncoder, TransformersEncoder


@pytest.mark.skipif(
    keras.backend.backend() == "tensorflow", reason="about the other backends"
)
@pytest.mark.parametrize("wrapper", [HubEncoder, TransformersEncoder])
def test_on_another_backend_the_error_names_the_native_encoder(wrapper):
    for make in (wrapper, wrapper.from_pretrained):
        with pytest.raises(RuntimeError, match=r"TensorFlow: set.*or use BertEncoder"):
            make("folder")

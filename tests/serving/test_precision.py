import numpy as np
import pytest
from encoders.test_every_encoder import FIXTURES, wrapped

from bert_keras_layers import (
    BertPreprocessor,
    HubEncoder,
    LayerMix,
    TextClassifier,
    TokenClassifier,
    WindowedEncoder,
    export_saved_model,
)
from bert_keras_layers.serving.precision import in_bfloat16
from bert_keras_layers.serving.served_model import ServedModel

pytestmark = pytest.mark.tensorflow

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "very", "a", "."]
TEXTS = ["a good film.", "BAD", "", "very very bad, a film (§ 4)"]


def classifier(encoder, **kwargs):
    return TextClassifier(encoder, 2, BertPreprocessor(WORDS), layers=1, **kwargs)


def test_an_encoder_in_bfloat16_is_half_the_size_and_answers_nearly_the_same(
    small_encoder, tmp_path, capsys
):
    model = classifier(small_encoder(hidden_size=128))
    full = export_saved_model(model, tmp_path)
    half = export_saved_model(model, tmp_path, precision="bfloat16")
    file = "variables/variables.data-00000-of-00001"
    saved = (full / file).stat().st_size - (half / file).stat().st_size
    assert saved == pytest.approx(2 * model.encoder.count_params(), rel=0.01)
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == [str(full), str(half)]
    assert "MB, loads in" in lines[0]
    assert "s, first answer after" in lines[0]
    received = ServedModel(half)(TEXTS)["probabilities"]
    assert received.dtype == "float32"
    expected = model.predict(TEXTS, verbose=0)
    np.testing.assert_allclose(received, expected, atol=0.02)
    assert np.abs(received - expected).max() > 1e-6  # It was rounded.


@pytest.mark.parametrize(
    "make",
    [
        lambda small: classifier(wrapped()),
        lambda small: classifier(WindowedEncoder(small(max_positions=8))),
        lambda small: classifier(small(), pooling=["cls", "max"]),
        lambda small: TokenClassifier(small(), 2, BertPreprocessor(WORDS), layers=2),
        lambda small: TextClassifier(small(), 2, layers=LayerMix([0, -1])),
    ],
)
def test_the_copy_has_the_weights_of_the_model(make, small_encoder):
    model = make(small_encoder)
    copy = in_bfloat16(model)
    assert copy.encoder.compute_dtype == "bfloat16"
    for weight, original in zip(copy.weights, model.weights, strict=True):
        np.testing.assert_allclose(
            np.asarray(weight, "float32"), original, rtol=1e-2, atol=1e-3
        )


def test_what_has_no_such_precision_is_refused(small_encoder, tmp_path):
    with pytest.raises(ValueError, match=r"among \['float32', 'bfloat16'\]. .*'int8'"):
        export_saved_model(classifier(small_encoder()), tmp_path, precision="int8")
    hub = classifier(HubEncoder.from_pretrained(FIXTURES / "hub_encoder"))
    with pytest.raises(ValueError, match=r"build the model on `encoder.to_native\(\)`"):
        export_saved_model(hub, tmp_path, precision="bfloat16")
    assert list(tmp_path.iterdir()) == []

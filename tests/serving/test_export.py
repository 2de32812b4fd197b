import shutil

import numpy as np
import pytest

from bert_keras_layers import (
    BertEncoder,
    BertPreprocessor,
    TextClassifier,
    export_saved_model,
)
from bert_keras_layers.serving import export
from bert_keras_layers.serving.clean_answers import ServedRequest, clean_answers
from bert_keras_layers.serving.served_functions import ServedFunctions
from bert_keras_layers.serving.served_model import ServedModel

pytestmark = pytest.mark.tensorflow

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "very", "a", "."]
TEXTS = ["a good film.", "BAD", "", "very very bad, a film (§ 4)", "schlecht", "\x00a"]


@pytest.fixture
def model(small_encoder):
    preprocessor = BertPreprocessor(WORDS, sequence_length=8)
    return TextClassifier(small_encoder(), 2, preprocessor, labels=["no", "yes"])


@pytest.fixture(scope="module")
def minilm_export(minilm, tmp_path_factory):
    preprocessor = BertPreprocessor.from_pretrained(minilm)
    model = TextClassifier(BertEncoder.from_pretrained(minilm), 4, preprocessor)
    folder = tmp_path_factory.mktemp("minilm")
    return model, export_saved_model(model, folder)


def test_the_signature_reads_like_documentation(model, tmp_path):
    version = export_saved_model(model, tmp_path / "model")
    assert version == tmp_path / "model" / "1"
    served = ServedModel(version)
    signature = served._model.signatures["serving_default"]
    (texts,) = signature.structured_input_signature[1].values()
    assert (texts.name, texts.shape.as_list(), texts.dtype.name) == (
        "texts",
        [None],
        "string",
    )
    outputs = {
        name: (output.shape.as_list(), output.dtype.name)
        for name, output in signature.structured_outputs.items()
    }
    assert outputs == {
        "label": ([None], "string"),
        "probabilities": ([None, 2], "float32"),
        "score": ([None], "float32"),
    }


def test_served_outputs_are_those_of_the_live_model(model, tmp_path):
    expected = model.predict(TEXTS, verbose=0)
    outputs = ServedModel(export_saved_model(model, tmp_path).parent)(TEXTS)
    np.testing.assert_allclose(outputs["probabilities"], expected, atol=1e-5)
    np.testing.assert_allclose(outputs["score"], expected.max(-1), atol=1e-5)
    names = [model.labels[i].encode() for i in expected.argmax(-1)]
    assert outputs["label"].tolist() == names


def test_classes_without_names_are_numbers(small_encoder, tmp_path):
    model = TextClassifier(small_encoder(), 3, BertPreprocessor(WORDS))
    outputs = ServedModel(export_saved_model(model, tmp_path))(TEXTS)
    assert set(outputs["label"].tolist()) <= {b"0", b"1", b"2"}


def test_an_empty_batch_gives_empty_outputs(model, tmp_path):
    outputs = ServedModel(export_saved_model(model, tmp_path))([])
    assert outputs["probabilities"].shape == (0, 2)


def test_real_weights_serve_through_the_c_loader(minilm_export):
    model, version = minilm_export
    texts = [*export.CHECK_TEXTS, "a long text, " * 200]
    request = ServedRequest("serving_default", {"texts": np.array(texts, object)})
    (outputs,) = clean_answers(version, [request]).outputs
    np.testing.assert_allclose(
        outputs["probabilities"], model.predict(texts, verbose=0), rtol=0, atol=1e-5
    )


def test_versions_count_up_and_older_ones_stay(model, tmp_path):
    first = export_saved_model(model, tmp_path)
    before = sorted(path.stat().st_mtime_ns for path in first.rglob("*"))
    assert export_saved_model(model, tmp_path) == tmp_path / "2"
    assert before == sorted(path.stat().st_mtime_ns for path in first.rglob("*"))
    assert ServedModel(tmp_path).version == tmp_path / "2"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1", "2"]


def test_an_export_that_differs_is_not_published(model, tmp_path, monkeypatch):
    write = export._write

    def write_another(functions, folder):
        weights = model.get_weights()
        model.set_weights([weight + 0.1 for weight in weights])
        write(functions, folder)
        model.set_weights(weights)

    monkeypatch.setattr(export, "_write", write_another)
    with pytest.raises(RuntimeError, match=r"not put into place.*within 1e-05"):
        export_saved_model(model, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_export_that_does_not_load_is_not_published(model, tmp_path, monkeypatch):
    write = export._write

    def write_half(functions, folder):
        write(functions, folder)
        shutil.rmtree(folder / "variables")

    monkeypatch.setattr(export, "_write", write_half)
    with pytest.raises(RuntimeError, match="not put into place"):
        export_saved_model(model, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_an_export_with_findings_is_not_published(model, tmp_path, monkeypatch):
    import tensorflow as tf

    outputs = ServedFunctions._named

    def with_a_mean(self, *args):
        named = outputs(self, *args)
        return {**named, "mean": tf.reduce_mean(next(iter(named.values())))}

    monkeypatch.setattr(ServedFunctions, "_named", with_a_mean)
    with pytest.raises(RuntimeError, match=r"put into place: The output 'mean' .* sin"):
        export_saved_model(model, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_exported_is_named(small_encoder, model, tmp_path):
    with pytest.raises(ValueError, match=r"text model \(TextCl.* with a `prep"):
        export_saved_model(TextClassifier(small_encoder(), 2), tmp_path)
    with pytest.raises(ValueError, match="at least one text"):
        export_saved_model(model, tmp_path, check_texts=[])
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="must be a SavedModel"):
        ServedModel(tmp_path)


def test_keras_export_writes_the_model_on_ids(model, tmp_path):
    import tensorflow as tf

    ids = model.preprocessor(TEXTS)
    model.export(tmp_path / "ids", verbose=False)
    served = tf.saved_model.load(tmp_path / "ids")
    np.testing.assert_allclose(
        served.serve(ids), model.predict(ids, verbose=0), atol=1e-5
    )

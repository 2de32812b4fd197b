import importlib.util

import numpy as np
import pytest
from conftest import SMALL

from bert_keras_layers import (
    BertEncoder,
    BertPreprocessor,
    FeatureExtractor,
    TextClassifier,
    TextRegressor,
    TokenClassifier,
    WindowedEncoder,
    export_ids_model,
)
from bert_keras_layers.serving import onnx_file

pytestmark = pytest.mark.tensorflow

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "very", "a", "."]
TEXTS = ["a good film.", "BAD", "", "very very bad, a film (§ 4)"]


def parts():
    return {"encoder": BertEncoder(**SMALL), "preprocessor": BertPreprocessor(WORDS)}


MODELS = {
    "probabilities": lambda: TextClassifier(num_classes=3, **parts()),
    "values": lambda: TextRegressor(**parts()),
    "features": lambda: FeatureExtractor(pooling=None, **parts()),
    "tags": lambda: TokenClassifier(num_classes=3, **parts()),
}
"""By the output of their files; the tagger's are `probabilities` too."""


def windowed():
    encoder = WindowedEncoder(BertEncoder(**SMALL), max_positions=64)
    return TextClassifier(encoder, 3, BertPreprocessor(WORDS))


@pytest.fixture(scope="module")
def classifier():
    return MODELS["probabilities"]()


def onnx_function(file):
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(file)
    names = [output.name for output in session.get_outputs()]
    return lambda ids: dict(zip(names, session.run(None, ids), strict=True))


def litert_function(file):
    runtime = pytest.importorskip("ai_edge_litert.interpreter")
    runner = runtime.Interpreter(str(file)).get_signature_runner()
    return lambda ids: runner(**ids)


def ids_of(model, tokens):
    read = model.preprocessor
    if "word_ids" in model.input:
        ids = read.words([text.split() for text in TEXTS])
    else:
        ids = read(TEXTS)
    widths = [(0, 0), (0, tokens)]
    padded = {name: np.pad(ids[name], widths)[:, :tokens] for name in model.input}
    return {name: array.astype("int32") for name, array in padded.items()}


def assert_same(model, compute, ids):
    (output,) = compute(ids).values()
    expected = np.asarray(model(ids, training=False))
    np.testing.assert_allclose(output, expected, atol=1e-5)


@pytest.mark.parametrize("kind", MODELS)
def test_onnx_runtime_computes_the_model_at_every_size(kind, tmp_path):
    pytest.importorskip("tf2onnx")
    model = MODELS[kind]()
    file = export_ids_model(model, tmp_path / "model.onnx")
    compute = onnx_function(file)
    for tokens in (2, 7, 20):
        ids = ids_of(model, tokens)
        for texts in (1, 4):
            few = {name: array[:texts] for name, array in ids.items()}
            assert_same(model, compute, few)
    name = "probabilities" if kind == "tags" else kind
    assert list(compute(ids)) == [name]


@pytest.mark.parametrize("kind", MODELS)
def test_litert_computes_the_model_at_its_length(kind, tmp_path):
    pytest.importorskip("ai_edge_litert")
    model = MODELS[kind]()
    file = export_ids_model(model, str(tmp_path / "new" / "model.tflite"), length=9)
    compute = litert_function(file)
    ids = ids_of(model, 9)
    for texts in (1, 3, 4):
        assert_same(
            model, compute, {name: array[:texts] for name, array in ids.items()}
        )
    name = "probabilities" if kind == "tags" else kind
    assert list(compute(ids)) == [name]


def test_onnx_files_name_their_axes_and_may_fix_the_length(classifier, tmp_path):
    pytest.importorskip("tf2onnx")
    runtime = pytest.importorskip("onnxruntime")
    names = {"input_ids", "attention_mask", "token_type_ids"}
    for length, shape in ((None, ["batch", "tokens"]), (6, ["batch", 6])):
        file = export_ids_model(classifier, tmp_path / "model.onnx", length)
        session = runtime.InferenceSession(file)
        inputs = {given.name: given.shape for given in session.get_inputs()}
        assert inputs == dict.fromkeys(names, shape)
        (output,) = session.get_outputs()
        assert output.shape == ["batch", 3]
    assert_same(classifier, onnx_function(file), ids_of(classifier, 6))


def test_onnx_runtime_finds_the_largest_of_each_word(tmp_path):
    pytest.importorskip("tf2onnx")
    model = TokenClassifier(num_classes=3, word_pooling="max", **parts())
    file = export_ids_model(model, tmp_path / "model.onnx")
    assert_same(model, onnx_function(file), ids_of(model, 12))


@pytest.mark.parametrize("length", [None, 64])
def test_onnx_runtime_computes_long_texts_in_windows(length, tmp_path):
    pytest.importorskip("tf2onnx")
    model = windowed()
    file = export_ids_model(model, tmp_path / "model.onnx", length, ["very " * 50])
    ids = model.preprocessor(["very " * n + "bad film" for n in (1, 17, 40, 90)])
    assert ids["input_ids"].shape == (4, 64)
    assert_same(model, onnx_function(file), {name: ids[name] for name in model.input})


@pytest.mark.parametrize(
    ("operation", "reason"),
    [("FloorDiv", "numbers must be those of the model within"), ("Erfc", "Erfc")],
)
def test_a_file_that_is_wrong_is_not_put_into_place(
    operation, reason, tmp_path, monkeypatch
):
    pytest.importorskip("tf2onnx")
    # Without these, tf2onnx writes a wrong file and does not raise.
    monkeypatch.delitem(onnx_file._OPERATIONS, operation)
    file = tmp_path / "model.onnx"
    file.write_text("the one before")
    with pytest.raises(RuntimeError, match=f"was not put into place: .*{reason}"):
        export_ids_model(windowed(), file, check_texts=["very " * 50])
    assert file.read_text() == "the one before"
    assert [path.name for path in tmp_path.iterdir()] == ["model.onnx"]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("model", {}, "these take ids, as the operations of the tokeniser exist only"),
        ("model.pb", {}, r"`file` must end in one of .*\.onnx.*\.tflite.*model\.pb"),
        ("model.tflite", {}, "fixed `length`, .*Received: length=None"),
        ("model.tflite", {"length": 21}, "`length` must be an integer, 2 to 20, .*=21"),
        ("model.onnx", {"length": 1}, "`length` must be an integer, .*=1"),
        ("model.onnx", {"check_texts": "one"}, "`check_texts` must be a list .*'one'"),
    ],
)
def test_what_cannot_be_written_is_refused(
    name, arguments, message, classifier, tmp_path, monkeypatch
):
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: package)
    with pytest.raises(ValueError, match=message):
        export_ids_model(classifier, tmp_path / name, **arguments)
    assert list(tmp_path.iterdir()) == []


def test_models_that_cannot_go_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: package)
    half = BertEncoder(**SMALL, dtype="bfloat16")
    model = TextClassifier(half, 2, BertPreprocessor(WORDS))
    with pytest.raises(ValueError, match=r"compute in float32\. .* in bfloat16"):
        export_ids_model(model, tmp_path / "model.onnx")
    without = TextClassifier(BertEncoder(**SMALL), 2)
    with pytest.raises(ValueError, match="with a `preprocessor`"):
        export_ids_model(without, tmp_path / "model.onnx")


@pytest.mark.parametrize(
    ("name", "extra"), [("model.onnx", "onnx"), ("model.tflite", "litert")]
)
def test_missing_packages_are_named(name, extra, classifier, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda package: None)
    with pytest.raises(ImportError, match=rf"bert-keras-layers\[tensorflow,{extra}\]"):
        export_ids_model(classifier, tmp_path / name, length=8)

"""Exports of models that run on another backend of Keras."""

import importlib.util
import json

import numpy as np
import pytest

from bert_keras_layers import BertPreprocessor, TextClassifier, export_saved_model
from bert_keras_layers.serving.clean_answers import ServedRequest, clean_answers

has_tensorflow = importlib.util.find_spec("tensorflow") is not None


@pytest.mark.skipif(has_tensorflow, reason="about environments without TensorFlow")
def test_without_tensorflow_the_error_says_what_to_install(small_encoder, tmp_path):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    model = TextClassifier(small_encoder(), 2, BertPreprocessor(words))
    with pytest.raises(ImportError, match=r"pip install 'bert-keras-layers\[tensorfl"):
        export_saved_model(model, tmp_path)


@pytest.mark.tensorflow
def test_a_model_trained_on_jax_is_served_as_it_is(run_python, tmp_path):
    printed = run_python(
        f"""
import contextlib, io
from conftest import SMALL
from bert_keras_layers import *
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "."]
model = TextClassifier(BertEncoder(**SMALL), 2, BertPreprocessor(words))
model.fit(["good film.", "bad film."] * 8, ["yes", "no"] * 8, verbose=0)
said = io.StringIO()
with contextlib.redirect_stdout(said):  # What its process prints, too.
    version = export_saved_model(model, {str(tmp_path)!r}, ["good", ""])
print(version, said.getvalue().split(" MB, loads in ")[1:] != [])
print(model.predict(["bad film", "a good one"], verbose=0).tolist())
try:
    export_saved_model(model, {str(tmp_path)!r}, id_lengths=[99])
except RuntimeError as error:
    print(error)
""",
        KERAS_BACKEND="jax",
        PYTHONPATH="tests",
    )
    line, probabilities, refusal = printed.splitlines()
    version, said = line.split()
    assert said == "True"
    texts = np.array(["bad film", "a good one"], object)
    (outputs,) = clean_answers(
        version, [ServedRequest("serving_default", {"texts": texts})]
    ).outputs
    np.testing.assert_allclose(
        outputs["probabilities"], json.loads(probabilities), rtol=0, atol=1e-5
    )
    # What the twin says comes through, and nothing is left of it.
    assert "twin on TensorFlow: ValueError: `id_lengths` must be" in refusal
    assert [str(path) for path in tmp_path.iterdir()] == [version]

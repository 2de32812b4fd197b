import random
import sys

import numpy as np
import pytest
from c_preamble import C_PREAMBLE
from saved_function import save_function

from bert_keras_layers import BertPreprocessor, TextClassifier, export_saved_model
from bert_keras_layers.serving import clean_process
from bert_keras_layers.serving.clean_answers import ServedRequest, clean_answers

pytestmark = pytest.mark.tensorflow

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    *"abcdefghijklmnopqrstuvwxyz",
    "good",
    "東",
]


def mixed_texts(count):
    """Texts of all planes of Unicode, from empty ones to 10,000 characters."""
    draw = random.Random(0)
    planes = [(32, 127), (0xA0, 0x24F), (0x4E00, 0x4F00), (0x1F600, 0x1F64F), (0, 32)]
    texts = ["", " ", "\x00", "a\x00", "good " * 2000, "東" * 10_000, "[SEP]"]
    while len(texts) < count:
        low, high = draw.choice(planes)
        length = draw.choice([1, 5, 30, 300])
        texts.append("".join(chr(draw.randrange(low, high)) for _ in range(length)))
    return texts


def test_the_c_loader_returns_what_the_live_model_does(small_encoder, tmp_path):
    preprocessor = BertPreprocessor(WORDS, sequence_length=16)
    encoder = small_encoder(vocabulary_size=len(WORDS))
    model = TextClassifier(encoder, 3, preprocessor, labels=["no", "ja", "はい"])
    folder = export_saved_model(model, tmp_path)
    texts = mixed_texts(300)
    (answer,) = clean_answers(
        folder, [ServedRequest("serving_default", {"texts": np.array(texts, object)})]
    ).outputs
    expected = model.predict(texts, verbose=0)
    assert np.ptp(expected, axis=0).max() > 0.01, "else nothing is compared"
    np.testing.assert_allclose(answer["probabilities"], expected, rtol=0, atol=1e-5)
    best = answer["probabilities"].argmax(-1)
    assert answer["label"].tolist() == [model.labels[i].encode() for i in best]


def test_pairs_of_integers_and_several_requests(tmp_path):
    import tensorflow as tf

    def serve(ids, mask):
        return {"kept": ids * tf.cast(mask, tf.int64), "any": mask > 0}

    ids, mask = (
        tf.TensorSpec((None, 8), dtype, name=name)
        for name, dtype in (("ids", "int64"), ("mask", "int32"))
    )
    save_function(tmp_path, serve, ids, mask)
    draw = np.random.default_rng(0)
    requests = [
        ServedRequest(
            "serving_default",
            {
                "mask": draw.integers(0, 2, (rows, 8), "int32"),
                "ids": draw.integers(-(2**62), 2**62, (rows, 8), "int64"),
            },
        )
        for rows in (0, 1, 200)
    ]
    answers = clean_answers(tmp_path, requests)
    for request, outputs in zip(requests, answers.outputs, strict=True):
        ids, mask = request.inputs["ids"], request.inputs["mask"]
        np.testing.assert_array_equal(outputs["kept"], ids * mask)
        np.testing.assert_array_equal(outputs["any"], mask > 0)
    assert answers.load_seconds > 0
    assert len(answers.answer_seconds) == 3


def test_every_type_and_shape_goes_there_and_back(tmp_path):
    import tensorflow as tf

    values = {
        **{
            kind + size: np.array([[0, 1], [2, 100]], kind + size)
            for kind in "iu"
            for size in "1248"
        },
        **{dtype: np.array([-1.5, np.nan, np.inf], dtype) for dtype in ("f4", "f8")},
        "turned": np.arange(6, dtype="f4").reshape(2, 3).T,
        "bool": np.array([True, False]),
        "single": np.array(3.0),
        "empty": np.zeros((0, 3), "f4"),
        "strings": np.array([[b"", b"a\x00"], [b"\xff", b"x" * 10_000]], object),
        "no strings": np.zeros((0, 2), object),
    }
    names = {f"t{i}": value for i, value in enumerate(values.values())}
    specs = [
        tf.TensorSpec(
            value.shape, value.dtype if value.dtype != object else "string", n
        )
        for n, value in names.items()
    ]

    def serve(*tensors):
        return {
            name: tf.identity(one) for name, one in zip(names, tensors, strict=True)
        }

    save_function(tmp_path, serve, *specs)
    (outputs,) = clean_answers(
        tmp_path, [ServedRequest("serving_default", names)]
    ).outputs
    for name, value in names.items():
        assert outputs[name].dtype == value.dtype
        np.testing.assert_array_equal(outputs[name], value)


def test_what_no_session_can_do_is_named(tmp_path, run_python):
    save_function(tmp_path / "1", lambda x: {"y": x + 1}, spec())
    printed = run_python(
        C_PREAMBLE
        + f"""
from bert_keras_layers.serving.c_tensor import CTensor
array = np.ones(2, "float32")
with CSession(library, {str(tmp_path / "1")!r}) as session:
    for action in (
        lambda: session.run({{"nothing:0": array}}, []),
        lambda: session.run({{}}, ["serving_default_x"]),
        lambda: session.run({{}}, ["serving_default_x:7"]),
        lambda: session.run({{"serving_default_x:0": np.array(["a"])}}, []),
        lambda: session.run({{}}, ["StatefulPartitionedCall:0"]),
        lambda: CSession(library, {str(tmp_path / "none")!r}),
    ):
        try:
            action()
        except (RuntimeError, ValueError) as error:
            print(type(error).__name__, error)
print("tensorflow" in sys.modules, "keras" in sys.modules)
"""
    )
    *errors, imported = printed.splitlines()
    for error, expected in zip(
        errors,
        [
            "ValueError A tensor must be named as in a signature",
            "ValueError A tensor must be named as in a signature",
            "ValueError 'serving_default_x' must be asked for an output below 1",
            "ValueError An array must hold numbers, or be an object array",
            "RuntimeError ",
            "RuntimeError Could not find SavedModel",
        ],
        strict=True,
    ):
        assert error.startswith(expected)
    assert imported == "False False"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_given_back(tmp_path, run_python):
    import tensorflow as tf

    texts = tf.TensorSpec((None,), "string", name="x")
    save_function(tmp_path, lambda x: {"y": tf.strings.lower(x)}, texts)
    printed = run_python(
        C_PREAMBLE
        + f"""
import os
def megabytes():  # Not the peak, which a process inherits.
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
array = np.array([b"X" * 1_000_000] * 10, object)
with CSession(library, {str(tmp_path)!r}) as session:
    def run():
        return session.run({{"serving_default_x:0": array}}, ["PartitionedCall:0"])
    for _ in range(5):
        run()
    before = megabytes()
    for _ in range(20):
        (result,) = run()
    print(result[0] == b"x" * 1_000_000, megabytes() - before < 100)
"""
    )
    assert printed.split() == ["True", "True"]


def test_without_the_libraries_one_sentence_says_so(tmp_path, monkeypatch):
    for package in ("tensorflow", "tensorflow_text"):
        (tmp_path / package).mkdir()
        (tmp_path / package / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(RuntimeError, match=r"^The check needs TensorFlow's C library"):
        clean_process.run_clean_process("operations", tmp_path)


def spec():
    import tensorflow as tf

    return tf.TensorSpec((None,), "float32", name="x")

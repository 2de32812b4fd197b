import os
import subprocess
import sys

import numpy as np
import pytest
from saved_function import save_function

from bert_keras_layers.serving import clean_process
from bert_keras_layers.serving.clean_check import ServedCall, check_in_clean_process

pytestmark = pytest.mark.tensorflow


@pytest.fixture
def folder(tmp_path):
    import tensorflow as tf

    one = tf.Variable(1.0)

    def serve(x):
        return {
            "sum": tf.reduce_sum(one * x, -1),
            "text": tf.strings.as_string(x[:, 0]),
        }

    return save_function(
        tmp_path / "1", serve, tf.TensorSpec((None, 2), name="x"), one=one
    )


X = np.array([[1.0, 2.0], [3.0, 4.0]], "float32")
SUM = np.array([3.0, 7.0], "float32")
TEXT = np.array([b"1.000000", b"3.000000"], object)


def call(signature="serving_default", inputs=None, **expected):
    return ServedCall(signature, inputs or {"x": X}, expected, 1e-5)


def test_equal_outputs_pass_and_are_timed(folder):
    timings = check_in_clean_process(folder, [call(sum=SUM + 5e-6, text=TEXT), call()])
    assert 0 < timings.first_answer_seconds < 10
    assert 0 < timings.load_seconds < 10


@pytest.mark.parametrize(
    ("calls", "sentence"),
    [
        (
            [call(), call(sum=SUM + 1e-3)],
            r"^'sum' of 'serving_default' .* within 7.0",
        ),
        ([call(sum=SUM * np.nan)], "Received: a difference of nan"),
        ([call(sum=SUM[:1])], r"of shape \(1,\). Received: shape \(2,\)"),
        ([call(text=TEXT[::-1])], r"b'3.000000' at \(0,\). Received: b'1.000000'"),
        ([call(label=TEXT)], r"must return 'label'. Received: \['sum', 'text'\]"),
    ],
)
def test_a_different_output_is_named(folder, calls, sentence):
    with pytest.raises(RuntimeError, match=sentence):
        check_in_clean_process(folder, calls)


@pytest.mark.parametrize(
    ("wrong", "received"),
    [
        (call("serve"), r"'serve' with \['x'\]"),
        (call(inputs={"ids": X}), r"'serving_default' with \['ids'\]"),
    ],
)
def test_a_request_that_no_signature_takes_is_named(folder, wrong, received):
    with pytest.raises(ValueError, match=rf"\['x'\]}}. Received: {received}"):
        check_in_clean_process(folder, [wrong])


def python(x):
    import tensorflow as tf

    return {"y": tf.numpy_function(np.sin, [x], tf.float32)}


def compiled(x):
    import tensorflow as tf

    return {"y": tf.function(tf.sin, jit_compile=True)(x)}


@pytest.mark.parametrize(
    ("function", "reason"),
    [(python, "No OpKernel was registered"), (compiled, "XLA compilation disabled")],
)
def test_what_a_server_could_not_run_fails(function, reason, tmp_path):
    import tensorflow as tf

    save_function(tmp_path, function, tf.TensorSpec((None, 2), name="x"))
    with pytest.raises(RuntimeError, match=reason):
        check_in_clean_process(tmp_path, [call()])


def flipped(folder):
    data = next(folder.glob("variables/*.data*"))
    content = bytearray(data.read_bytes())
    content[0] ^= 1
    data.write_bytes(content)


def without_index(folder):
    (folder / "variables" / "variables.index").unlink()


@pytest.mark.parametrize(
    ("damage", "reason"),
    [(flipped, "Checksum does not match"), (without_index, "variable")],
)
def test_damaged_variables_fail(damage, reason, folder):
    damage(folder)
    with pytest.raises(RuntimeError, match=reason):
        check_in_clean_process(folder, [call()])


def test_the_process_imports_neither_tensorflow_nor_keras(tmp_path):
    process = subprocess.run(
        [sys.executable, "-P", clean_process.__file__, "operations", tmp_path],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPROFILEIMPORTTIME": "1"},
    )
    imported = {line.split("|")[-1].strip() for line in process.stderr.splitlines()}
    assert "bert_keras_layers.serving.c_library" in imported
    assert not imported & {"tensorflow", "keras", "tensorflow_text"}
    assert sorted(os.listdir(tmp_path)) == ["kernels.pb", "operations.pb"]

import hashlib
import os
import pathlib
import subprocess
import sys

import pytest
from c_preamble import C_PREAMBLE

from bert_keras_layers import lint_saved_model

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(sys.platform == "win32", reason="forks and kills"),
]

TESTS = str(pathlib.Path(__file__).parents[1])

# Forks after the imports, which take seconds, and before TensorFlow starts threads.
# The model and its checks are small, so that kills hit writing and publishing.
EXPORTS = """
import os, random, signal, sys, time
sys.path.insert(0, {tests!r})
import tensorflow as tf
import tensorflow_text
from bert_keras_layers import *
from bert_keras_layers.serving import export
from saved_function import save_function

def write(functions, folder):
    spec = tf.TensorSpec((None,), "float32", name="x")
    ballast = tf.Variable(tf.random.normal((200, 1000)))
    save_function(folder, lambda x: {{"y": x + ballast[0, 0]}}, spec, ballast=ballast)

export._write, export._check = write, lambda *arguments: None
export.ServedFunctions.expected = lambda *arguments: None
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
sizes = dict(hidden_size=4, num_layers=1, num_heads=1, intermediate_size=4)
started, start = os.pipe()

def export_once(kill_after):
    child = os.fork()
    if not child:
        encoder = BertEncoder(vocabulary_size=4, **sizes)
        model = TextClassifier(encoder, 2, BertPreprocessor(words), layers=1)
        os.write(start, b"!")
        export_saved_model(model, {folder!r}, verbose=False)
        os._exit(0)
    os.read(started, 1)
    if kill_after is not None:
        time.sleep(kill_after)
        os.kill(child, signal.SIGKILL)
    return os.WIFEXITED(os.waitpid(child, 0)[1])

assert export_once(None)
print("ready", flush=True)
input()
draw, longest = random.Random(0), 0.5
for _ in range(50):
    # However busy the machine, about one export in five gets through.
    finished = export_once(draw.uniform(0, longest))
    longest *= 0.8 if finished else 1.05
"""


def digests(folder):
    return {
        path.relative_to(folder): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_killed_export_leaves_whole_versions_only(tmp_path, run_python):
    process = subprocess.Popen(
        [sys.executable, "-c", EXPORTS.format(tests=TESTS, folder=str(tmp_path))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert process.stdout.readline() == "ready\n"
    before = digests(tmp_path / "1")
    process.communicate("go\n")
    assert process.returncode == 0

    assert digests(tmp_path / "1") == before
    names = {path.name for path in tmp_path.iterdir()}
    drafts = {name for name in names if name.startswith(".draft-")}
    versions = sorted(names - drafts, key=int)
    assert drafts, "else none was killed in time"
    assert len(versions) > 1, "else all were killed too early"
    assert [lint_saved_model(tmp_path / name) for name in versions] == [[]] * len(
        versions
    )
    printed = run_python(
        C_PREAMBLE
        + f"""
feeds = {{"serving_default_x:0": np.ones(3, "float32")}}
for version in {versions!r}:
    with CSession(library, {str(tmp_path)!r} + "/" + version) as session:
        (result,) = session.run(feeds, ["StatefulPartitionedCall:0"])
        print(result.shape)
"""
    )
    assert printed.splitlines() == ["(3,)"] * len(versions)

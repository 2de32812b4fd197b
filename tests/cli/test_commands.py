import dataclasses
import json
import pathlib

import numpy as np
import pytest
from saved_function import save_function

from bert_keras_layers_cli.runs.text_vectors import TextVectors

pytestmark = pytest.mark.tensorflow

DATA = pathlib.Path(__file__).parents[2] / "demo" / "customer_messages"


def table_of(tmp_path, *rows):
    file = tmp_path / "data.tsv"
    file.write_text("\n".join(["text\tlabel", *rows]), "utf-8")
    return file


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (None, {}, "There is no file"),
        ([], {}, "must have at least one row"),
        (["a\tx", "b\ty"], {"--label-column": "intent"}, "'text' and 'intent'"),
        (["a\tx", "b\tx", "c\tx"], {"--test-share": "0.5"}, "different labels"),
        (["a\tx", "b\ty"] * 5, {"--layers": "99"}, "must be 1 to 7"),
        (["a\tx", "b\ty"] * 5, {"--layers": "0,7"}, "from -7 to 6"),
        (["a\tx", "b\ty"] * 5, {"--layers": "top"}, "Layers must be 'all'"),
        (["a\tx", "b\ty"] * 5, {"--pooling": "median"}, "`mode` must be one of"),
        (["a\tx", "b\ty"] * 5, {"--encoder": "./nowhere"}, "existing folder"),
        (["a\tx", "b\ty"] * 5, {"--test-share": "1"}, "test share must leave"),
        (["a\tx", "b\ty"] * 5, {"--test-share": "0.01"}, "test share must leave"),
        (["a\tx", "b\ty"] * 5, {"--test-share": "-1"}, "test share must leave"),
        (["a\tx", "b\ty"] * 5, {"--output": "data.tsv/x"}, "folder that can be"),
        (["a\tx", "b\ty"] * 5, {"--save": "data.tsv/x.keras"}, "folder that can be"),
        (["a\tx", "b\ty"] * 5, {"--save": "model.h5"}, "must end in .keras"),
        (["a\tx", "b\t2"] * 5, {"--task": "regression"}, "Received: 'x'"),
        (["a\t2", "b\t2"] * 5, {"--task": "regression"}, "two different numbers"),
        (["a\tx", "b\tx"] * 5, {"--task": "tagging"}, "test share must leave"),
    ],
)
def test_bad_input_is_one_sentence_and_an_exit_code(
    rows, options, message, minilm, tmp_path, monkeypatch, bert_keras
):
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "none.tsv" if rows is None else table_of(tmp_path, *rows)
    before = set(tmp_path.iterdir())
    defaults = {"--encoder": minilm, "--output": "out"}
    arguments = [x for pair in {**defaults, **options}.items() for x in pair]
    result = bert_keras("train", data, *arguments)
    assert (result.exit_code, result.stdout) == (1, "")
    (sentence,) = result.stderr.splitlines()
    assert sentence.startswith("Error: ")
    assert message in sentence
    assert set(tmp_path.iterdir()) == before


def test_a_test_file_with_another_label_is_refused_before_training(
    minilm, tmp_path, bert_keras
):
    data = table_of(tmp_path, *["a\tx", "b\ty"] * 3)
    other = tmp_path / "test.tsv"
    other.write_text("text\tlabel\na\tz\n", "utf-8")
    options = ("--encoder", minilm, "--output", tmp_path / "out", "--test", other)
    result = bert_keras("train", data, *options)
    assert result.exit_code == 1
    assert "must be among ['x', 'y']. Received: ['z']" in result.stderr
    assert "Epoch" not in result.stderr


def test_train_passes_on_each_option(monkeypatch, bert_keras):
    from bert_keras_layers_cli.runs import training_run

    line = """a.tsv --encoder b --output c --save d.keras --test e.tsv --test-share 0.3
        --text-column f --label-column g --layers 0,-1 --pooling max --fine-tune
        --epochs 2 --batch-size 3 --learning-rate 0.5 --seed 7"""
    expected = {
        "data": pathlib.Path("a.tsv"), "encoder": "b", "output": pathlib.Path("c"),
        "task": "classification", "save": pathlib.Path("d.keras"),
        "test": pathlib.Path("e.tsv"), "test_share": 0.3, "text_column": "f",
        "label_column": "g", "token_column": None, "tag_column": None,
        "layers": "0,-1", "pooling": "max", "fine_tune": True, "epochs": 2,
        "batch_size": 3, "learning_rate": 0.5, "seed": 7,
    }  # fmt: skip
    received = []

    def run_training(options):
        received.append(dataclasses.asdict(options))
        return {"test_accuracy": 0.5}

    monkeypatch.setattr(training_run, "run_training", run_training)
    result = bert_keras("train", *line.split(), "--json")
    assert json.loads(result.stdout) == {"test_accuracy": 0.5}
    line = """a --encoder b --output c --task tagging --token-column 2
        --tag-column -3"""
    result = bert_keras("train", *line.split())
    assert "test accuracy │ 0.500" in result.stdout
    given, tagging = received
    assert given == expected
    columns = [tagging[f"{name}_column"] for name in ("text", "token", "tag")]
    assert (tagging["task"], columns) == ("tagging", ["text", 2, -3])


def test_export_passes_on_each_option(monkeypatch, bert_keras):
    from bert_keras_layers.serving import export, export_ids
    from bert_keras_layers_cli.data import model_file

    def record(name):
        return lambda *given, **options: received.append((name, *given, options))

    received = []
    monkeypatch.setattr(model_file, "read_model", str)
    monkeypatch.setattr(export, "export_saved_model", record("saved"))
    monkeypatch.setattr(export_ids, "export_ids_model", record("ids"))
    lengths = ("--ids-length", 8, "--ids-length", 9)
    bert_keras("export", "m.keras", "out")
    bert_keras("export", "m.keras", "out", "--precision", "bfloat16", *lengths)
    bert_keras("export", "m.keras", "out.onnx")
    bert_keras("export", "m.keras", "a.tflite", "--format", "litert", *lengths[:2])
    out, onnx, lite = map(pathlib.Path, ("out", "out.onnx", "a.tflite"))
    assert received == [
        ("saved", "m.keras", out, {"id_lengths": None, "precision": "float32"}),
        ("saved", "m.keras", out, {"id_lengths": [8, 9], "precision": "bfloat16"}),
        ("ids", "m.keras", onnx, {"length": None}),
        ("ids", "m.keras", lite, {"length": 8}),
    ]


def test_predict_without_a_model_is_one_sentence(tmp_path, bert_keras):
    result = bert_keras("predict", tmp_path, "text")
    assert (result.exit_code, result.stdout) == (1, "")
    (sentence,) = result.stderr.splitlines()
    assert sentence.startswith("Error: There must be a SavedModel")


def test_lint_prints_sentences_and_an_exit_code(tmp_path, bert_keras):
    import tensorflow as tf

    spec = tf.TensorSpec((None,), name="x")
    save_function(tmp_path / "good" / "1", lambda x: {"y": x + 1}, spec)
    save_function(tmp_path / "bad", lambda x: {"y": x[0]}, spec)
    good, bad = (bert_keras("lint", tmp_path / name) for name in ("good", "bad"))
    assert (good.exit_code, bad.exit_code) == (0, 1)
    assert good.stdout == f"{tmp_path / 'good'}: nothing to complain about.\n"
    (sentence,) = bad.stdout.splitlines()
    assert sentence.startswith("The output 'y' of 'serving_default' is a single value")
    good, bad = (
        bert_keras("lint", tmp_path / name, "--json") for name in ("good", "bad")
    )
    assert (good.exit_code, bad.exit_code) == (0, 1)
    assert (json.loads(good.stdout), json.loads(bad.stdout)) == ([], [sentence])


def test_lint_without_a_whole_model_is_one_sentence(tmp_path, bert_keras):
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "saved_model.pb").write_bytes(b"no proto")
    for folder, words in (
        ("none", "There must be a SavedModel"),
        (".", "The SavedMod"),
    ):
        result = bert_keras("lint", tmp_path / folder)
        assert (result.exit_code, result.stdout) == (1, "")
        (sentence,) = result.stderr.splitlines()
        assert sentence.startswith(f"Error: {words}")


def test_extract_writes_the_vectors_of_each_text_in_order(minilm, tmp_path, bert_keras):
    lines = (DATA / "test.tsv").read_text("utf-8").splitlines()[:8]
    (tmp_path / "table.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    options = ("--encoder", minilm, "--layers", "0,-1", "--label-column", "intent")
    file = tmp_path / "new" / "vectors.npz"
    result = bert_keras(
        "extract", tmp_path / "table.tsv", *options,
        "--output", file, "--batch-size", 1, "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    expected = {"texts": 7, "width": 768, "file": str(file)}
    assert json.loads(result.stdout) == expected
    arrays = np.load(file)
    texts, labels = zip(*(line.split("\t") for line in lines[1:]), strict=True)
    assert arrays["labels"].tolist() == list(labels)
    (one,) = TextVectors(str(minilm), [0, -1], ["mean"]).batches(
        texts, 32, lambda done: None
    )
    assert arrays["features"].dtype == "float32"
    np.testing.assert_allclose(arrays["features"], one, atol=1e-5)


def test_ctrl_c_is_one_line_and_leaves_nothing(
    minilm, tmp_path, monkeypatch, bert_keras
):
    def interrupted(self, texts, batch_size, advance):
        yield np.zeros((1, 384), "float32")
        assert list((tmp_path / "out").iterdir())  # The draft is being written.
        raise KeyboardInterrupt

    monkeypatch.setattr(TextVectors, "batches", interrupted)
    (tmp_path / "texts.txt").write_text("one\ntwo\n")
    result = bert_keras(
        "extract", tmp_path / "texts.txt", "--encoder", minilm,
        "--layers", "-1", "--output", tmp_path / "out" / "vectors.npz",
    )  # fmt: skip
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "Interrupted: nothing is left half-written.\n"
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "There is no file"), (b"no zip", "must be a .keras file")],
)
def test_export_without_a_model_is_one_sentence(content, message, tmp_path, bert_keras):
    file = tmp_path / "model.keras"
    if content is not None:
        file.write_bytes(content)
    for output in ("out", "out.onnx"):
        result = bert_keras("export", file, tmp_path / output)
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr.startswith(f"Error: {message}") or message in result.stderr
        assert not (tmp_path / output).exists()

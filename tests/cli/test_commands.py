import json
import os
import pathlib
import subprocess
import sys

import pytest
from saved_function import save_function

pytestmark = pytest.mark.tensorflow

DATA = pathlib.Path(__file__).parents[2] / "demo" / "customer_messages"


def bert_keras(*arguments):
    program = pathlib.Path(sys.executable).with_name("bert-keras")
    return subprocess.run(
        [program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "200", "TERM": "dumb"},
    )


@pytest.fixture
def small_table(tmp_path):
    lines = (DATA / "train.tsv").read_text("utf-8").splitlines()
    file = tmp_path / "small.tsv"
    file.write_text("\n".join(lines[:60]) + "\n", "utf-8")
    return file


def test_train_then_predict(small_table, minilm, tmp_path):
    output = tmp_path / "saved_models" / "intents"
    trained = bert_keras(
        "train", small_table, "--encoder", minilm, "--output", output,
        "--label-column", "intent", "--layers", "0,-1", "--pooling", "mean,max",
        "--epochs", 2,
    )  # fmt: skip
    assert trained.returncode == 0, trained.stderr
    for expected in ("Epoch 2/2", "test accuracy", "always '", "intents/1"):
        assert expected in trained.stdout
    assert (output / "1" / "saved_model.pb").is_file()

    texts = ["where is my parcel?", "¿dónde está? [/b] [red]"]
    predicted = bert_keras("predict", output, *texts)
    assert predicted.returncode == 0, predicted.stderr
    rows = [line for line in predicted.stdout.splitlines() if "0." in line]
    assert len(rows) == 2
    assert all(text in row for text, row in zip(texts, rows, strict=True))


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
        (
            ["a\tx", "b\ty"] * 5,
            {"--output": "data.tsv/x"},
            "folder that can be written",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_an_exit_code(
    rows, options, message, minilm, tmp_path
):
    data = tmp_path / "none.tsv" if rows is None else table_of(tmp_path, *rows)
    output = tmp_path / "out"
    defaults = {"--encoder": str(minilm), "--output": str(output)}
    arguments = [x for pair in {**defaults, **options}.items() for x in pair]
    arguments = [str(data) + "/x" if x == "data.tsv/x" else x for x in arguments]
    result = bert_keras("train", data, *arguments)
    assert result.returncode == 1
    assert message in result.stderr.splitlines()[-1]
    assert "Traceback" not in result.stderr
    assert not output.exists()


def test_predict_without_a_model_is_one_sentence(tmp_path):
    result = bert_keras("predict", tmp_path, "text")
    assert result.returncode == 1
    assert result.stderr.splitlines()[-1].startswith(
        "Error: There must be a SavedModel"
    )


def lint(*arguments):
    """Calls the command in this process, where TensorFlow is imported already."""
    from typer.testing import CliRunner

    from bert_keras_layers.cli.app import app

    return CliRunner().invoke(app, ["lint", *map(str, arguments)])


def test_lint_prints_sentences_and_an_exit_code(tmp_path):
    import tensorflow as tf

    spec = tf.TensorSpec((None,), name="x")
    save_function(tmp_path / "good" / "1", lambda x: {"y": x + 1}, spec)
    save_function(tmp_path / "bad", lambda x: {"y": x[0]}, spec)
    good, bad = lint(tmp_path / "good"), lint(tmp_path / "bad")
    assert (good.exit_code, bad.exit_code) == (0, 1)
    assert good.stdout == f"{tmp_path / 'good'}: nothing to complain about.\n"
    (sentence,) = bad.stdout.splitlines()
    assert sentence.startswith("The output 'y' of 'serving_default' is a single value")
    good, bad = lint(tmp_path / "good", "--json"), lint(tmp_path / "bad", "--json")
    assert (good.exit_code, bad.exit_code) == (0, 1)
    assert (json.loads(good.stdout), json.loads(bad.stdout)) == ([], [sentence])


def test_lint_without_a_whole_model_is_one_sentence(tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "saved_model.pb").write_bytes(b"no proto")
    for folder, words in (
        ("none", "There must be a SavedModel"),
        (".", "The SavedMod"),
    ):
        result = lint(tmp_path / folder)
        assert (result.exit_code, result.stdout) == (1, "")
        (sentence,) = result.stderr.splitlines()
        assert sentence.startswith(f"Error: {words}")


def test_without_its_extra_the_command_says_what_to_install(run_python):
    printed = run_python(
        """
import json, sys
sys.modules["typer"] = None
from bert_keras_layers.cli import main
try:
    main()
except SystemExit as stop:
    print(json.dumps(str(stop.code)))
"""
    )
    assert "pip install 'bert-keras-layers[cli]'" in json.loads(printed)

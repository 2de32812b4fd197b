"""Every command line in docs/command_line.md and in the help texts runs, in order."""

import json
import os
import pathlib
import re
import shlex

import numpy as np
import pytest

from bert_keras_layers import BertEncoder, BertPreprocessor
from bert_keras_layers_cli.commands import (
    export,
    extract,
    lint,
    predict,
    server_files,
    train,
)

pytestmark = pytest.mark.tensorflow

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "command_line.md").read_text("utf-8")
COMMANDS = (train, predict, extract, export, lint, server_files)
# So many lines of the demo's data are enough to run on.
TRAIN_LINES, TEST_LINES = 49, 9
WIDTH = 32


def lines_of_page():
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        for line in re.findall(r"^\$ ((?:.*\\\n)*.*)", block, re.MULTILINE):
            yield " ".join(line.replace("\\\n", " ").split())


def lines_of_help():
    for command in COMMANDS:
        text = command.EXAMPLES.replace(r"\[", "[").replace("\\\n", " ")
        yield from (" ".join(line.split()) for line in text.splitlines()[1:] if line)


def test_help_and_page_show_the_same_lines():
    assert set(lines_of_help()) <= set(lines_of_page())


@pytest.fixture
def small_published(published_minilm):
    """A small encoder under the hub id: the lines are tested here, not the weights."""
    (snapshot,) = pathlib.Path(os.environ["HF_HUB_CACHE"]).glob("*/snapshots/*")
    preprocessor = BertPreprocessor.from_pretrained(published_minilm)
    size = preprocessor.vocabulary_size
    encoder = BertEncoder(size, WIDTH, num_layers=3, num_heads=2, intermediate_size=64)
    snapshot.unlink()
    encoder.save_pretrained(snapshot, preprocessor)


@pytest.fixture
def folder(tmp_path, monkeypatch, small_published):
    """A folder with the files that the page speaks of."""
    home = tmp_path / "home"
    folder = tmp_path / "folder"
    for path in (home, folder):
        path.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", "/bin/bash"))
    monkeypatch.chdir(folder)
    for name, number in (("train.tsv", TRAIN_LINES), ("test.tsv", TEST_LINES)):
        text = (ROOT / "demo" / "customer_messages" / name).read_text("utf-8")
        lines = text.splitlines(keepends=True)
        (folder / name).write_text("".join(lines[:number]), "utf-8")
    for name, content in re.findall(
        r'```text title="(\S+)"\n(.*?)```', PAGE, re.DOTALL
    ):
        (folder / name).write_text(content, "utf-8")
    return folder


def test_every_line_runs(folder, bert_keras):
    printed = {}
    for line in dict.fromkeys([*lines_of_page(), *lines_of_help()]):
        piped = re.fullmatch(r"cat (\S+) \| (.*)", line)
        stdin = (folder / piped[1]).read_text("utf-8") if piped else None
        program, *arguments = shlex.split(piped[2] if piped else line)
        assert program == "bert-keras"
        result = bert_keras(*arguments, stdin=stdin)
        assert result.exit_code == 0, (line, result.stderr)
        assert "Traceback" not in result.stderr
        if "--json" in arguments:
            for value in result.stdout.splitlines():
                json.loads(value)
        printed[line] = result.stdout

    def output(start):
        return next(text for line, text in printed.items() if line.startswith(start))

    # Each result stands on stdout.
    assert re.search(r"baseline accuracy +. 0\.", output("bert-keras train train.tsv"))
    assert "saved_models/intents/1" in output("bert-keras train train.tsv")
    assert "test mean absolute error" in output("bert-keras train ratings.csv")
    assert "test entity f1" in output("bert-keras train cities.conll")
    assert "Where is my parcel?" in output("bert-keras predict saved_models/intents")
    words = re.findall(
        r"^. (\w+|\.) +.", output("bert-keras predict saved_models/cit"), re.M
    )
    assert words == ["word", "We", "left", "New", "York", "."]
    (answers,) = [text for line, text in printed.items() if line.startswith("cat ")]
    texts = (folder / "messages.txt").read_text("utf-8").splitlines()
    rows = [json.loads(answer) for answer in answers.splitlines()]
    assert [row["text"] for row in rows] == texts
    assert {*rows[0]} == {"text", "label", "score", "probabilities"}
    assert rows[0]["score"] == max(rows[0]["probabilities"])

    assert "latest-gpu" not in output("bert-keras server-files")
    assert "latest-gpu" in output("bert-keras server-files saved_models --gpu")

    # And each file is there.
    names = {path.name for path in folder.iterdir()}
    assert {"intents.keras", "intents.onnx", "intents.tflite"} <= names
    assert not [path for path in folder.rglob(".draft*")]
    assert (folder / "saved_models" / "intents" / "2" / "saved_model.pb").is_file()
    (code,) = re.findall(r"```python title=.*?\n(.*?)```", PAGE, re.DOTALL)
    arrays = {}
    exec(compile(code, "command_line.md", "exec"), arrays)
    assert arrays["features"].shape == (TEST_LINES - 1, 2 * WIDTH)
    assert np.load("messages.npz")["features"].shape == (3, 2 * 4 * WIDTH)
    assert "bert-keras" in (folder.parent / "home" / ".bashrc").read_text()


def test_the_lines_of_the_readme_run(folder, bert_keras):
    table = (folder / "train.tsv").read_text("utf-8").replace("intent", "label", 1)
    (folder / "messages.tsv").write_text(table, "utf-8")
    readme = (ROOT / "README.md").read_text("utf-8")
    lines = re.findall(r"^    (bert-keras .*)", readme, re.MULTILINE)
    for line in lines:
        result = bert_keras(*shlex.split(line)[1:])
        assert result.exit_code == 0, (line, result.stderr)
    assert len(lines) == 2
    assert "Where is my parcel?" in result.stdout

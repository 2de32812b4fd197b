import json
import os
import re

import pytest

from bert_keras_layers import __version__
from bert_keras_layers_cli.console import print_json, progress_bar, results_only

TAGGING = ["train", "a", "--encoder", "x", "--output", "y", "--task", "tagging"]
COMMANDS = ["train", "predict", "extract", "export", "lint", "server-files"]


def test_the_version_is_that_of_the_package(bert_keras):
    result = bert_keras("--version")
    assert (result.exit_code, result.stdout) == (0, f"{__version__}\n")


def test_help_names_the_commands_and_the_exit_codes(bert_keras):
    text = bert_keras("--help").stdout
    assert all(re.search(rf"^. {command} ", text, re.MULTILINE) for command in COMMANDS)
    codes = re.findall(r"^ (\d+) +\S", text, re.MULTILINE)
    assert codes == ["0", "1", "2", "130"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_fits_and_can_be_copied(command, bert_keras):
    result = bert_keras(command, "--help")
    assert result.exit_code == 0
    lines = [line.rstrip() for line in result.stdout.splitlines()]
    assert max(map(len, lines)) <= 80
    start = lines.index(" Examples")
    assert lines[start + 1].startswith(" bert-keras ")
    # A line that was wrapped would go on without a backslash before it.
    for before, line in zip(lines[start:], lines[start + 1 :], strict=False):
        starts = line.startswith((" bert-keras ", " cat ")) or not line
        assert starts or before.endswith("\\"), line


@pytest.mark.parametrize(
    "arguments",
    [
        ["train"],
        ["train", "a.tsv", "--encoder", "x", "--output", "y", "--task", "ranking"],
        ["train", "a.tsv", "--encoder", "x", "--output", "y", "--epochs", "0"],
        ["train", "a.tsv", "--encoder", "x", "--output", "y", "--tag-column", "2"],
        [*TAGGING, "--label-column", "z"],
        ["predict", "model"],
        ["predict", "model", "a text", "--input", "texts.txt"],
        ["extract", "a.txt", "--encoder", "x", "--output", "y", "--text-column", "z"],
        ["export", "a.keras", "a.onnx", "--format", "litert"],
        ["export", "a.keras", "a.onnx", "--precision", "bfloat16"],
        ["export", "a.keras", "a.onnx", "--ids-length", "8", "--ids-length", "9"],
        ["export", "a.keras", "a", "--precision", "float16"],
        ["lint", "a", "--jsn"],
    ],
    ids=" ".join,
)
def test_a_wrong_command_line_is_exit_code_2(arguments, bert_keras, tmp_path):
    result = bert_keras(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Usage: bert-keras" in result.stderr


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("bert-keras ", COMMANDS),
        ("bert-keras ex", ["extract", "export"]),
        ("bert-keras train --ta", ["--task", "--tag-column"]),
        (
            "bert-keras train --task ",
            ["classification", "regression", "tagging"],
        ),
        ("bert-keras export --precision b", ["bfloat16"]),
        ("bert-keras export --format ", ["savedmodel", "onnx", "litert"]),
    ],
)
def test_tab_completes(line, expected, bert_keras, monkeypatch):
    words = line.split(" ")
    monkeypatch.setenv("_BERT_KERAS_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    result = bert_keras()
    assert result.exit_code == 0
    assert result.stdout.split() == expected


def test_the_installed_program_completes(installed_program):
    result = installed_program(
        **os.environ,
        _BERT_KERAS_COMPLETE="complete_bash",
        COMP_WORDS="bert-keras server",
        COMP_CWORD="1",
    )
    assert (result.returncode, result.stdout) == (0, "server-files\n")


@pytest.mark.tensorflow
def test_the_installed_program_prints_results_and_nothing_else(
    installed_program, tmp_path
):
    version = tmp_path / "my models" / "parcels" / "1"
    version.mkdir(parents=True)
    (version / "saved_model.pb").touch()
    environment = {k: v for k, v in os.environ.items() if k != "TF_CPP_MIN_LOG_LEVEL"}
    arguments = ["server-files", str(tmp_path / "my models"), "--json"]
    result = installed_program(*arguments, **environment)
    assert (result.returncode, result.stderr) == (0, "")
    printed = json.loads(result.stdout)
    assert f"-v '{tmp_path}/my models:/models:ro' tensorflow" in printed["command"]
    files = {file.rsplit("/", 1)[1] for file in printed["files"]}
    assert files == {path.name for path in (tmp_path / "my models").glob("*.*")}


def test_without_its_extra_the_command_says_what_to_install(monkeypatch):
    import importlib.util

    from bert_keras_layers_cli.main import main

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"pip install 'bert-keras-layers\[cli\]'"):
        main()


def test_progress_shows_how_many_and_how_fast(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("texts", 3) as advance:
        advance(2)
        advance(1)
    captured = capsys.readouterr()
    plain = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", captured.err)
    assert captured.out == ""
    assert re.search(r"texts .*3/3 [\d.]+/s 0:00:00", plain)


def test_progress_is_for_terminals(capsys):
    with progress_bar("texts", 3) as advance:
        advance(3)
    assert capsys.readouterr() == ("", "")


def test_stdout_is_for_results(capsys):
    with results_only() as out:
        print("Epoch 1/2")
        print_json({"é": [1.5]}, out)
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ('{"é": [1.5]}\n', "Epoch 1/2\n")

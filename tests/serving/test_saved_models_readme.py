"""What the README of `saved_models` shows runs, and names what the code writes."""

import json
import pathlib
import re
import shutil
import urllib.request

import pytest
from serving.stub_server import grpc_server, rest_server

from bert_keras_layers import BatchingParameters, write_server_files
from bert_keras_layers.serving.server_command import server_command

README = pathlib.Path(__file__).parents[2] / "saved_models" / "README.md"
TEXT = README.read_text("utf-8")
COMMANDS = re.findall(r"^docker run (?:.*\\\n)+.*", TEXT, re.MULTILINE)

# Flags of tensorflow_model_server, in main.cc of TF Serving.
FLAGS = {
    "allow_version_labels_for_unavailable_models",
    "batching_parameters_file",
    "enable_batching",
    "model_config_file",
    "model_config_file_poll_wait_seconds",
    "monitoring_config_file",
}


@pytest.fixture
def saved_models(tmp_path):
    for version in "12":
        path = tmp_path / "customer_messages" / version / "saved_model.pb"
        path.parent.mkdir(parents=True)
        path.touch()
    return tmp_path


@pytest.mark.parametrize("gpu", [False, True])
def test_commands_are_those_of_the_command_line(gpu):
    folder = pathlib.Path("/saved_models")
    command = server_command(folder, gpu).replace(
        f"-v {folder}:/models:ro", '-v "$PWD/saved_models:/models:ro"'
    )
    assert COMMANDS[gpu] == command


@pytest.mark.parametrize("command", COMMANDS, ids=["cpu", "gpu"])
def test_commands_mount_every_file_and_use_flags_that_exist(command, saved_models):
    ours, server = re.split(r"tensorflow/serving\S*", command)
    assert '-v "$PWD/saved_models:/models:ro"' in ours
    assert set(re.findall(r"--(\w+)", server)) == FLAGS
    files = [path.name for path in write_server_files(saved_models)]
    assert sorted(re.findall(r"=/models/(\S+)", server)) == sorted(files)
    models = (saved_models / "models.config").read_text()
    assert 'base_path: "/models/customer_messages"' in models


def test_metrics_and_batches_are_those_of_the_files(saved_models):
    *_, monitoring = write_server_files(saved_models)
    (path,) = re.findall(r'path: "(.*)"', monitoring.read_text())
    assert f"`http://localhost:8501{path}`" in TEXT
    assert f"{BatchingParameters().allowed_batch_sizes[-1]} by default" in TEXT


@pytest.mark.tensorflow
def test_requests_of_curl_run(stub_models):
    requests = re.findall(r"curl -d '(.*)' \\\n +http://localhost:8501(\S+)", TEXT)
    keys = []
    with rest_server(stub_models) as url:
        for body, path in requests:
            with urllib.request.urlopen(url + path, body.encode()) as response:
                answer = json.load(response)
            keys += answer
    assert keys == ["predictions", "outputs"]
    assert sorted(answer["outputs"]) == ["label", "probabilities", "score"]


@pytest.mark.tensorflow
def test_the_code_runs(stub_models, exported, tmp_path, monkeypatch):
    for version in "12":
        folder = tmp_path / "saved_models" / "customer_messages" / version
        shutil.copytree(exported, folder)
    monkeypatch.chdir(tmp_path)
    names = {}
    with rest_server(stub_models) as url, grpc_server(stub_models) as address:
        for code in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
            code = code.replace("http://localhost:8501", url)
            code = code.replace("localhost:8500", address)
            exec(compile(code, str(README), "exec"), names)
            assert sorted(names.get("outputs", [])) in (
                [],
                ["label", "probabilities", "score"],
            )
    version = tmp_path / "saved_models" / "customer_messages" / "1"
    (file,) = re.findall(r"`(assets\.extra/[^`]*)`", TEXT)
    assert (version / file).is_file()
    config = (tmp_path / "saved_models" / "models.config").read_text()
    assert 'version_labels { key: "canary" value: 2 }' in config
    assert len(names["outputs"]["label"]) == 1

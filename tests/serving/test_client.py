import json
import pathlib
import socket
import time

import numpy as np
import pytest
from serving.stub_server import http_server, rest_server

from bert_keras_layers import PredictClient
from bert_keras_layers.serving import client as client_file

TEXTS = ["a good film.", "BAD", "", "東京 😡 \x00", '"quoted" \\ \n']


@pytest.fixture
def url(stub_models):
    with rest_server(stub_models) as url:
        yield url


def answering(status, content):
    return http_server(lambda method, path, body: (status, content.encode()))


@pytest.mark.tensorflow
@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_predictions_are_those_of_the_live_model(url, classifier, layout):
    outputs = PredictClient(url, "customer_messages").predict(TEXTS, layout=layout)
    expected = classifier.predict(TEXTS, verbose=0)
    assert sorted(outputs) == ["label", "probabilities", "score"]
    assert outputs["probabilities"].dtype == "float32"
    np.testing.assert_allclose(outputs["probabilities"], expected, atol=1e-5)
    labels = [classifier.labels[i] for i in expected.argmax(-1)]
    assert outputs["label"].tolist() == labels


@pytest.mark.tensorflow
@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_each_kind_of_value_arrives(url, layout):
    ids = np.array([[1, 2, 3], [4, 5, 2**30]])
    inputs = {"ids": ids, "texts": ["é\x00", "b"]}
    outputs = PredictClient(url, "numbers").predict(inputs, "kinds", layout)
    decimals = ids.astype("float32") * np.float32(0.3)
    np.testing.assert_array_equal(outputs["decimals"], decimals, strict=True)
    rare = np.array([[np.nan, np.inf, -np.inf]] * 2, "float32")
    np.testing.assert_array_equal(outputs["rare"], rare, strict=True)
    np.testing.assert_array_equal(outputs["ids"], ids, strict=True)
    assert outputs["texts"].tolist() == ["é\x00", "b"]
    assert outputs["raw_bytes"].tolist() == ["é\x00".encode(), b"b"]


@pytest.mark.tensorflow
@pytest.mark.parametrize("layout", ["columns", "rows"])
def test_a_single_output_has_its_name_and_bytes_arrive(url, layout):
    client = PredictClient(url, "numbers")
    assert client.predict(["abc"], layout=layout)["sizes"].tolist() == [30]
    inputs = {"texts": np.array([b"\xff\x00", b"b"], object)}
    outputs = client.predict(inputs, "echo", layout)
    assert outputs["echo_bytes"].tolist() == [b"\xff\x00", b"b"]


@pytest.mark.tensorflow
def test_a_version_is_chosen_by_number_or_label(url):
    for choice, factor in [({}, 10), ({"version": 1}, 1), ({"label": "stable"}, 2)]:
        outputs = PredictClient(url, "numbers", **choice).predict(["abc"])
        assert outputs["sizes"].tolist() == [3 * factor]


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("choice", "inputs", "signature", "message"),
    [
        ({"model": "none"}, ["a"], "cut", r"HTTP 404, Servable not found.*\(none\)"),
        ({"version": 7}, ["a"], "cut", r"HTTP 404, .* Specific\(numbers, 7\)"),
        ({"label": "new"}, ["a"], "cut", "HTTP 400, Unrecognized .* label: new"),
        ({}, ["a"], "none", 'HTTP 400, Serving signature name: "none" not found'),
        ({}, {"ids": [1]}, "cut", "HTTP 400, input keys must be equal to: texts"),
        ({}, [1.5], "cut", "HTTP 400, JSON Value: 1.5 is not of expected type"),
        ({}, ["a", "b"], "cut", r"must have 2 rows.*\(1,\)"),
    ],
)
def test_what_the_server_refuses_is_one_sentence(
    url, choice, inputs, signature, message
):
    client = PredictClient(url, **{"model": "numbers", **choice})
    with pytest.raises(RuntimeError, match=message):
        client.predict(inputs, signature)


@pytest.mark.parametrize(
    ("status", "content", "message"),
    [
        (200, "<html>", "must answer in JSON. Received: '<html>'"),
        (200, "[1]", r"must answer in JSON. Received: '\[1\]'"),
        (200, "{}", "outputs of 'serving_default' under 'outputs'. Received: {}"),
        (200, '{"outputs": {"a": [[1], [2, 3]]}}', "must answer with the outputs"),
        (200, '{"outputs": {"a": [null]}}', "must answer with the outputs"),
        (200, '{"outputs": {"a": 1}}', r"must have 1 rows.*'a': \(\)"),
        (200, '{"predictions": [{"a": 1}]}', "under 'outputs'"),
        (502, "<h1>Bad gateway</h1>", "HTTP 502, '<h1>Bad gateway</h1>'"),
        (503, '["busy"]', "HTTP 503, '.*busy"),
    ],
)
def test_an_answer_of_another_kind_is_one_sentence(status, content, message):
    with (
        answering(status, content) as url,
        pytest.raises(RuntimeError, match=message),
    ):
        PredictClient(url, "model").predict(["a"])


def test_a_silent_server_times_out():
    def answer(method, path, body):
        time.sleep(0.4)
        return 200, b"{}"

    with http_server(answer) as url:
        client = PredictClient(url, "model", timeout=0.1)
        with pytest.raises(TimeoutError, match=r"model gave no answer within 0\.1 s"):
            client.predict(["a"])


def test_a_server_that_is_not_there_is_out_of_reach():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ConnectionError, match=f"{port}/v1/models/m is out of reach"):
        PredictClient(f"http://127.0.0.1:{port}", "m").predict(["a"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("localhost:8501", "m"), "must be that of a server.* 'localhost:8501'"),
        (("file:///etc", "m"), "must be that of a server"),
        (("http://a", "m/n"), "`model` must be a name .* 'm/n'"),
        (("http://a", ""), "`model` must be a name .* ''"),
        (("http://a", "m", None, "a:b"), "`label` must be a name .* 'a:b'"),
        (("http://a", "m", "1"), "`version` must be a number.* version='1'"),
        (("http://a", "m", 1, "b"), "without `label`.* version=1, label='b'"),
        (("http://a", "m", 1, None, 0), "`timeout` must be above 0 s. Received: 0"),
    ],
)
def test_arguments_are_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        PredictClient(*arguments)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ("a text", "even of a single row.* {'texts': 0} rows"),
        ([], "at least one. Received: {'texts': 0} rows"),
        ({}, "at least one. Received: {} rows"),
        ({"a": [1], "b": [1, 2]}, "many rows as the others.* {'a': 1, 'b': 2} rows"),
        ({"a": np.array(1)}, "{'a': 0} rows"),
        ({"a": iter("ab")}, "{'a': 0} rows"),
        ([object()], "must be texts, bytes and numbers. Received: <object"),
    ],
)
def test_inputs_are_checked(inputs, message):
    with pytest.raises(ValueError, match=message):
        PredictClient("http://a", "m").predict(inputs)


def test_layouts_are_named():
    with pytest.raises(ValueError, match=r"one of \['columns', 'rows'\]. .*'table'"):
        PredictClient("http://a", "m").predict(["a"], layout="table")


def test_names_are_quoted():
    client = PredictClient("https://a/b/", "my model", label="é")
    assert client.url == "https://a/b/v1/models/my%20model/labels/%C3%A9"


def test_the_file_runs_without_keras_tensorflow_and_the_package(run_python):
    content = json.dumps({"outputs": {"label": ["a"], "score": [0.5]}})
    with answering(200, content) as url:
        printed = run_python(
            f"""
import sys
for name in ("keras", "tensorflow", "jax", "torch", "bert_keras_layers", "grpc"):
    sys.modules[name] = None
sys.path.insert(0, {str(pathlib.Path(client_file.__file__).parent)!r})
from client import PredictClient
print(PredictClient({url!r}, "model").predict(["text"])["label"].tolist())
"""
        )
    assert printed == "['a']\n"

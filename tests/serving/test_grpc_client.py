import socket

import numpy as np
import pytest
from serving.stub_server import grpc_server, rest_server

from bert_keras_layers import GrpcPredictClient, PredictClient

pytestmark = pytest.mark.tensorflow

TEXTS = ["a good film.", "BAD", "", "東京 😡 \x00"]


@pytest.fixture
def address(stub_models):
    with grpc_server(stub_models) as address:
        yield address


def test_both_clients_return_the_same(address, stub_models):
    with GrpcPredictClient(address, "customer_messages") as client:
        outputs = client.predict(TEXTS)
    with rest_server(stub_models) as url:
        expected = PredictClient(url, "customer_messages").predict(TEXTS)
    assert sorted(outputs) == ["label", "probabilities", "score"]
    for name, values in outputs.items():
        np.testing.assert_array_equal(values, expected[name], strict=True)


def test_each_kind_of_value_arrives(address):
    ids = np.array([[1, 2, 3], [4, 5, 2**30]], "int32")
    with GrpcPredictClient(address, "numbers") as client:
        outputs = client.predict({"ids": ids, "texts": ["é\x00", "b"]}, "kinds")
        listed = client.predict({"ids": [[1, 2, 3]], "texts": ["a"]}, "kinds")
        raw = client.predict({"texts": [b"\xff\x00", b"b"]}, "echo")
    decimals = ids.astype("float32") * np.float32(0.3)
    np.testing.assert_array_equal(outputs["decimals"], decimals, strict=True)
    rare = np.array([[np.nan, np.inf, -np.inf]] * 2, "float32")
    np.testing.assert_array_equal(outputs["rare"], rare, strict=True)
    np.testing.assert_array_equal(outputs["ids"], ids, strict=True)
    assert outputs["texts"].tolist() == ["é\x00", "b"]
    assert outputs["raw_bytes"].tolist() == ["é\x00".encode(), b"b"]
    assert listed["ids"].tolist() == [[1, 2, 3]]
    assert raw["echo_bytes"].tolist() == [b"\xff\x00", b"b"]


def test_a_version_is_chosen_by_number_or_label(address):
    for choice, factor in [({}, 10), ({"version": 1}, 1), ({"label": "stable"}, 2)]:
        with GrpcPredictClient(address, "numbers", **choice) as client:
            assert client.predict(["abc"])["sizes"].tolist() == [3 * factor]


def test_large_answers_arrive(address):
    texts = ["x" * 1_000_000] * 5
    with GrpcPredictClient(address, "numbers") as client:
        assert len(client.predict(texts, "echo")["echo_bytes"]) == 5


@pytest.mark.parametrize(
    ("choice", "inputs", "signature", "message"),
    [
        ({"model": "none"}, ["a"], "cut", r"NOT_FOUND, Servable not found.*\(none\)"),
        ({"version": 7}, ["a"], "cut", r"NOT_FOUND, .* Specific\(numbers, 7\)"),
        ({"label": "new"}, ["a"], "cut", "INVALID_ARGUMENT, Unrecog.* label: new"),
        ({}, ["a"], "none", 'INVALID_ARGUMENT, Serving signature name: "none"'),
        ({}, {"ids": [1]}, "cut", "input keys must be equal to: texts"),
        ({}, ["a", "b"], "cut", r"must have 2 rows.*\(1,\)"),
    ],
)
def test_what_the_server_refuses_is_one_sentence(
    address, choice, inputs, signature, message
):
    arguments = {"model": "numbers", **choice}
    with (
        GrpcPredictClient(address, **arguments) as client,
        pytest.raises(RuntimeError, match=message),
    ):
        client.predict(inputs, signature)


def test_a_slow_server_times_out(stub_models):
    with grpc_server(stub_models, wait=0.4) as address:
        client = GrpcPredictClient(address, "numbers", timeout=0.1)
        with client, pytest.raises(TimeoutError, match=r"no answer within 0\.1 s"):
            client.predict(["a"])


def test_a_server_that_is_not_there_is_out_of_reach():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    client = GrpcPredictClient(f"127.0.0.1:{port}", "m")
    with client, pytest.raises(ConnectionError, match=f"{port} is out of reach: "):
        client.predict(["a"])


def test_arguments_are_checked():
    with pytest.raises(ValueError, match=r"must be host and port.* 'http://a:8500'"):
        GrpcPredictClient("http://a:8500", "m")
    with pytest.raises(ValueError, match="without `label`"):
        GrpcPredictClient("a:8500", "m", version=1, label="stable")
    with (
        GrpcPredictClient("a:8500", "m") as client,
        pytest.raises(ValueError, match=r"{'texts': 0} rows"),
    ):
        client.predict("a text")


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "grpc", None)
    with pytest.raises(ImportError, match=r"bert-keras-layers\[grpc\]"):
        GrpcPredictClient("a:8500", "m")

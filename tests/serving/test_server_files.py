import pytest

from bert_keras_layers import BatchingParameters, write_server_files

# Fields of the messages that tensorflow-serving-api lacks: their numbers and types in
# session_bundle_config.proto and monitoring_config.proto of TF Serving. The wrong
# field, such as one that would pad ids, does not parse.
INT64, BOOL, STRING, MESSAGE = 3, 8, 9, 11
MESSAGES = {
    "Int64Value": {"value": (1, INT64, "")},
    "BatchingParameters": {
        "max_batch_size": (1, MESSAGE, "Int64Value"),
        "batch_timeout_micros": (2, MESSAGE, "Int64Value"),
        "max_enqueued_batches": (3, MESSAGE, "Int64Value"),
        "num_batch_threads": (4, MESSAGE, "Int64Value"),
        "allowed_batch_sizes": (6, INT64, "repeated"),
    },
    "PrometheusConfig": {"enable": (1, BOOL, ""), "path": (2, STRING, "")},
    "MonitoringConfig": {"prometheus_config": (1, MESSAGE, "PrometheusConfig")},
}


def parsed(path, kind):
    """Parses a file as TF Serving does, as a message of MESSAGES."""
    from google.protobuf import (
        descriptor_pb2,
        descriptor_pool,
        message_factory,
        text_format,
    )

    file = descriptor_pb2.FileDescriptorProto(name="serving.proto", syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for key, (number, type_, note) in fields.items():
            message.field.add(
                name=key,
                number=number,
                type=type_,
                label=3 if note == "repeated" else 1,
                type_name=note if type_ == MESSAGE else None,
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    message = message_factory.GetMessageClass(pool.FindMessageTypeByName(kind))()
    return text_format.Parse(path.read_text("ascii"), message)


@pytest.fixture
def folder(tmp_path):
    """A folder with two models, and much that is none."""
    versions = ("parcels/1", "parcels/2", "parcels/10", "films/3")
    others = ("films/.draft-x1", "films/old", ".trash/1", "notes")
    for name in (*versions, *others):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "saved_model.pb").touch()
    (tmp_path / "films" / "4").mkdir()
    return tmp_path


def models_of(folder, **arguments):
    from google.protobuf import text_format
    from tensorflow_serving.config.model_server_config_pb2 import ModelServerConfig

    models, *_ = write_server_files(folder, **arguments)
    config = text_format.Parse(models.read_text("ascii"), ModelServerConfig())
    return {model.name: model for model in config.model_config_list.config}


@pytest.mark.tensorflow
def test_each_model_serves_its_newest_version(folder):
    models = models_of(folder)
    assert list(models) == ["films", "parcels"]
    for name, model in models.items():
        assert model.base_path == f"/models/{name}"
        assert model.model_platform == "tensorflow"
        assert model.model_version_policy.latest.num_versions == 1
        assert not model.version_labels


@pytest.mark.tensorflow
def test_versions_can_be_pinned_and_labelled(folder):
    versions = {"parcels": {"stable": 2, "canary": 10, "main": 2}, "films": [3]}
    models = models_of(folder, versions=versions, base_path="/srv/models")
    parcels, films = models["parcels"], models["films"]
    assert list(parcels.model_version_policy.specific.versions) == [2, 10]
    assert dict(parcels.version_labels) == versions["parcels"]
    assert list(films.model_version_policy.specific.versions) == [3]
    assert not films.version_labels
    assert films.base_path == "/srv/models/films"


@pytest.mark.tensorflow
def test_batches_and_metrics_are_configured(folder):
    batching = BatchingParameters((1, 4), 2_000, 10, 2)
    _, batches, metrics = write_server_files(folder, batching=batching)
    message = parsed(batches, "BatchingParameters")
    assert message.max_batch_size.value == 4
    assert message.batch_timeout_micros.value == 2_000
    assert message.max_enqueued_batches.value == 10
    assert message.num_batch_threads.value == 2
    assert list(message.allowed_batch_sizes) == [1, 4]
    prometheus = parsed(metrics, "MonitoringConfig").prometheus_config
    assert prometheus.enable
    assert prometheus.path == "/monitoring/prometheus/metrics"


def test_files_replace_older_ones_and_never_differ(folder):
    first = {path.name: path.read_bytes() for path in write_server_files(folder)}
    assert list(first) == [
        "models.config",
        "batching_parameters.txt",
        "monitoring.config",
    ]
    before = sorted(folder.iterdir())
    reader = (folder / "models.config").open("rb")  # A server, in the middle of it.
    write_server_files(folder, versions={"parcels": [1]}, base_path="/elsewhere")
    with reader:
        assert reader.read() == first["models.config"]
    again = {path.name: path.read_bytes() for path in write_server_files(folder)}
    assert again == first
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"versions": {"parcels": [4]}}, r"those in .*: \[1, 2, 10\]. Received: \[4\]"),
        ({"versions": {"parcels": {"stable": 3}}}, r"\[1, 2, 10\]. .*'stable': 3"),
        ({"versions": {"parcels": []}}, r"\[1, 2, 10\]. Received: \[\]"),
        ({"versions": {"films": [4]}}, r"those in .*: \[3\]. Received: \[4\]"),
        ({"versions": {"books": [1]}}, r"'books' must be among .*: \[\]"),
        ({"versions": {"parcels": {"a/b": 1}}}, r"name of a label must be .*'a/b'"),
        ({"base_path": "models"}, "absolute path on the server.* 'models'"),
        ({"base_path": '/a"b'}, "absolute path on the server"),
    ],
)
def test_what_cannot_be_served_is_named(folder, arguments, message):
    with pytest.raises(ValueError, match=message):
        write_server_files(folder, **arguments)
    assert not (folder / "models.config").exists()


def test_a_folder_without_models_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"There must be a model, such as .*NAME"):
        write_server_files(tmp_path)


def test_a_name_that_no_url_can_hold_is_named(folder):
    (folder / "parcels").rename(folder / "my parcels")
    with pytest.raises(ValueError, match=r"name of a model .* 'my parcels'"):
        write_server_files(folder)

import shutil

import pytest

from bert_keras_layers import write_warm_up
from bert_keras_layers.serving import warm_up

pytestmark = pytest.mark.tensorflow

SHAPES = {
    "serving_default": {"texts": (None,)},
    "pairs": {"texts": (None,), "pairs": (None,)},
    "ids_128": {"input_ids": (None, 128), "attention_mask": (None, 128)},
    "ids": {"token_type_ids": (None, None)},
    "three_rows": {"input_ids": (3, 4)},
}


def save_signatures(folder, shapes):
    """Saves a model whose signatures return what they were given."""
    import tensorflow as tf

    module = tf.Module()
    signatures = {}
    for name, inputs in shapes.items():
        specs = [
            tf.TensorSpec(
                shape, tf.int32 if "ids" in key or "mask" in key else tf.string, key
            )
            for key, shape in inputs.items()
        ]

        def serve(*tensors, names=tuple(inputs)):
            return {f"{name}_out": x for name, x in zip(names, tensors, strict=True)}

        signatures[name] = tf.function(serve, input_signature=specs)
    tf.saved_model.save(module, str(folder), signatures=signatures)
    return folder


@pytest.fixture(scope="module")
def saved_model(tmp_path_factory):
    return save_signatures(tmp_path_factory.mktemp("models") / "parcels" / "1", SHAPES)


def read_requests(file):
    """Reads a warm-up file as TF Serving does, with the protos of TF Serving."""
    import tensorflow as tf
    from tensorflow_serving.apis import prediction_log_pb2

    for record in tf.data.TFRecordDataset(str(file)).as_numpy_iterator():
        log = prediction_log_pb2.PredictionLog.FromString(record)
        # The official classes write the same bytes: nothing unknown, nothing lost.
        assert log.SerializeToString(deterministic=True) == record
        yield log.predict_log.request


def replay(folder, requests):
    """Runs requests as TF Serving does: feeds every input, by signature and name."""
    import tensorflow as tf

    served = tf.saved_model.load(str(folder))
    for request in requests:
        run = served.signatures[request.model_spec.signature_name]
        inputs = {
            name: tf.constant(tf.make_ndarray(tensor))
            for name, tensor in request.inputs.items()
        }
        yield request, {name: out.numpy() for name, out in run(**inputs).items()}


def shapes_of(request):
    return {
        name: tuple(dimension.size for dimension in tensor.tensor_shape.dim)
        for name, tensor in request.inputs.items()
    }


def test_there_is_a_request_for_each_signature_and_batch_size(saved_model):
    file = write_warm_up(saved_model, batch_sizes=(2, 300))
    assert file == saved_model / "assets.extra" / "tf_serving_warmup_requests"
    requests = list(read_requests(file))
    assert {request.model_spec.name for request in requests} == {"parcels"}
    received = [(r.model_spec.signature_name, shapes_of(r)) for r in requests]
    assert received == [
        ("ids", {"token_type_ids": (2, warm_up.OPEN_LENGTH)}),
        ("ids", {"token_type_ids": (300, warm_up.OPEN_LENGTH)}),
        ("ids_128", {"attention_mask": (2, 128), "input_ids": (2, 128)}),
        ("ids_128", {"attention_mask": (300, 128), "input_ids": (300, 128)}),
        ("pairs", {"pairs": (2,), "texts": (2,)}),
        ("pairs", {"pairs": (300,), "texts": (300,)}),
        ("serving_default", {"texts": (2,)}),
        ("serving_default", {"texts": (300,)}),
        ("three_rows", {"input_ids": (3, 4)}),
        ("three_rows", {"input_ids": (3, 4)}),
    ]


def test_every_request_runs(saved_model):
    texts = ["ein Text", "ß" * 200]
    file = write_warm_up(saved_model, batch_sizes=[3], texts=texts)
    results = {
        request.model_spec.signature_name: outputs
        for request, outputs in replay(saved_model, read_requests(file))
    }
    cycled = [text.encode() for text in (*texts, texts[0])]
    assert results["pairs"]["texts_out"].tolist() == cycled
    assert results["pairs"]["pairs_out"].tolist() == cycled
    assert results["ids_128"]["input_ids_out"].dtype == "int32"
    assert not results["ids_128"]["input_ids_out"].any()
    assert results["ids_128"]["attention_mask_out"].all()
    assert not results["ids"]["token_type_ids_out"].any()


def test_an_export_runs_its_warm_up(exported, tmp_path):
    version = shutil.copytree(exported, tmp_path / "films" / "1")
    served = list(replay(version, read_requests(write_warm_up(version))))
    rows = [len(outputs["label"]) for _, outputs in served if "label" in outputs]
    assert rows == 3 * list(warm_up.BATCH_SIZES)  # Texts, pairs and ids.
    assert {request.model_spec.name for request, _ in served} == {"films"}


def test_the_file_replaces_an_older_one_and_never_differs(saved_model):
    first = write_warm_up(saved_model).read_bytes()
    assert write_warm_up(saved_model, batch_sizes=[5]).read_bytes() != first
    file = write_warm_up(saved_model)
    assert file.read_bytes() == first
    assert list(file.parent.iterdir()) == [file]


def test_after_an_error_the_file_is_as_it_was(saved_model, monkeypatch):
    file = write_warm_up(saved_model)
    before = file.read_bytes()

    def fail_late(*arguments):
        yield b"half"
        raise RuntimeError("broken")

    monkeypatch.setattr(warm_up, "_records", fail_late)
    with pytest.raises(RuntimeError, match="broken"):
        write_warm_up(saved_model)
    assert file.read_bytes() == before


def test_the_model_can_be_named(saved_model):
    file = write_warm_up(saved_model, model_name="letters")
    assert {r.model_spec.name for r in read_requests(file)} == {"letters"}


def test_what_cannot_be_written_is_named(saved_model, tmp_path):
    with pytest.raises(ValueError, match=r"at least 1. Received: \(1, 0\)"):
        write_warm_up(saved_model, batch_sizes=(1, 0))
    with pytest.raises(ValueError, match=r"at least 1. Received: \[\]"):
        write_warm_up(saved_model, batch_sizes=[])
    with pytest.raises(ValueError, match=r"at least 1. Received: .0.5"):
        write_warm_up(saved_model, batch_sizes=[0.5])
    with pytest.raises(ValueError, match=r"list of at least one text. Received: 'a'"):
        write_warm_up(saved_model, texts="a")
    with pytest.raises(ValueError, match=r"name of a model must be .* 'a/b'"):
        write_warm_up(saved_model, model_name="a/b")
    with pytest.raises(ValueError, match=r"5 signatures in .* and 201 batch sizes"):
        write_warm_up(saved_model, batch_sizes=range(1, 202))
    with pytest.raises(ValueError, match=r"1 to 1000 requests.* 0 signatures"):
        write_warm_up(save_signatures(tmp_path / "model" / "1", {}))
    with pytest.raises(FileNotFoundError, match="must be a SavedModel in"):
        write_warm_up(tmp_path / "model" / "2")
    (tmp_path / "model" / "1" / "saved_model.pb").write_bytes(b"damaged")
    with pytest.raises(ValueError, match="must be whole"):
        write_warm_up(tmp_path / "model" / "1")

import numpy as np
import pytest

from bert_keras_layers import BertPreprocessor

pytestmark = pytest.mark.tensorflow

TEXTS = ["I love Paris", "", "paris\ufffds [SEP] \U000f0000i."]
IDS = [[2, 4, 5, 6, 3, 0, 0, 0, 0], [2, 3] + [0] * 7, [2, 6, 7, 9, 10, 11, 4, 8, 3]]


@pytest.fixture
def preprocessor(small_vocabulary):
    return BertPreprocessor(small_vocabulary)


def assert_same(received, expected):
    assert set(received) == set(expected)
    for name, array in expected.items():
        assert received[name].dtype.name == "int32"
        np.testing.assert_array_equal(received[name], array)


def test_tensors_give_tensors(preprocessor):
    import tensorflow as tf

    received = preprocessor(tf.constant(TEXTS))
    assert all(tf.is_tensor(tensor) for tensor in received.values())
    assert received["input_ids"].numpy().tolist() == IDS
    assert_same(received, preprocessor(TEXTS))
    assert_same(preprocessor(tf.constant(TEXTS), TEXTS), preprocessor(TEXTS, TEXTS))


def test_one_text_loses_the_batch_axis(preprocessor):
    import tensorflow as tf

    assert_same(preprocessor(tf.constant("I love")), preprocessor("I love"))
    received = preprocessor(tf.constant("I love"), tf.constant("paris"))
    assert_same(received, preprocessor("I love", "paris"))


@pytest.mark.parametrize("padding", ["longest", "sequence_length", 4])
@pytest.mark.parametrize("texts", [[], TEXTS[:1], TEXTS])
def test_padding_is_the_same(small_vocabulary, padding, texts):
    import tensorflow as tf

    preprocessor = BertPreprocessor(
        [*small_vocabulary[1:], "[PAD]"], sequence_length=7, padding=padding
    )
    tensor = tf.constant(texts, tf.string)
    assert_same(preprocessor(tensor), preprocessor(texts))
    assert_same(preprocessor(tensor, tensor), preprocessor(texts, texts))


def test_a_fixed_length_is_known_to_the_graph(small_vocabulary):
    import tensorflow as tf

    preprocessor = BertPreprocessor(
        small_vocabulary, sequence_length=7, padding="sequence_length"
    )
    texts = tf.data.Dataset.from_tensor_slices(TEXTS)
    batches = texts.batch(2).map(preprocessor)
    assert {tuple(spec.shape) for spec in batches.element_spec.values()} == {(None, 7)}
    rows = texts.map(preprocessor)
    assert {tuple(spec.shape) for spec in rows.element_spec.values()} == {(7,)}
    expected = preprocessor(TEXTS)["input_ids"]
    np.testing.assert_array_equal([row["input_ids"] for row in rows], expected)


def test_engines_made_while_tracing_outlive_the_trace(preprocessor):
    import tensorflow as tf

    # The first call ever is a symbolic one.
    batches = tf.data.Dataset.from_tensor_slices(TEXTS).batch(3).map(preprocessor)
    assert next(iter(batches))["input_ids"].numpy().tolist() == IDS
    function = tf.function(lambda texts, pairs: preprocessor(texts, pairs))
    received = function(tf.constant(TEXTS), tf.constant(TEXTS))
    assert_same(received, preprocessor(TEXTS, TEXTS))


def test_export_is_small_and_needs_no_python(preprocessor, minilm, tmp_path):
    import tensorflow as tf
    from tensorflow.core.protobuf import saved_model_pb2

    real = BertPreprocessor.from_pretrained(minilm)
    module = tf.Module()
    strings = tf.TensorSpec([None], tf.string)
    module.call = tf.function(lambda texts: real(texts), input_signature=[strings])
    tf.saved_model.save(module, tmp_path)
    loaded = tf.saved_model.load(tmp_path)
    assert_same(loaded.call(tf.constant(TEXTS)), real(TEXTS))

    saved = saved_model_pb2.SavedModel()
    saved.ParseFromString((tmp_path / "saved_model.pb").read_bytes())
    graph = saved.meta_graphs[0].graph_def
    functions = [node for f in graph.library.function for node in f.node_def]
    ops = {node.op for node in [*graph.node, *functions]}
    assert not {op for op in ops if "PyFunc" in op or "Table" in op or "Xla" in op}
    sizes = sorted(node.ByteSize() for node in graph.node if node.op == "Const")
    vocabulary_models = sum(sizes[-2:])
    assert saved.ByteSize() - vocabulary_models < 750_000


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([[b"a"]], r"rank 0 or 1. Received: dtype string and shape \(1, 1\)"),
        ([1], r"tf.string tensor.*Received: dtype int32 and shape \(1,\)"),
    ],
)
def test_other_tensors_are_refused(preprocessor, value, message):
    import tensorflow as tf

    with pytest.raises(ValueError, match=f"`texts` must.*{message}"):
        preprocessor(tf.constant(value))
    with pytest.raises(ValueError, match=f"`pairs` must.*{message}"):
        preprocessor(tf.constant(["a"]), tf.constant(value))


def test_ragged_tensors_are_refused(preprocessor):
    import tensorflow as tf

    with pytest.raises(ValueError, match="Received: a RaggedTensor"):
        preprocessor(tf.ragged.constant([["a"], []]))


def test_pairs_of_another_shape_are_refused(preprocessor):
    import tensorflow as tf

    texts, pairs = tf.constant(["a", "b", "c"]), tf.constant(["d"])
    with pytest.raises(ValueError, match=r"Received: \(1,\) pairs and \(3,\) texts"):
        preprocessor(texts, pairs)
    strings = tf.TensorSpec([None], tf.string)
    function = tf.function(
        lambda texts, pairs: preprocessor(texts, pairs), input_signature=[strings] * 2
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape of `texts`"):
        function(texts, pairs)


def test_no_room_for_pairs_is_refused(small_vocabulary):
    import tensorflow as tf

    preprocessor = BertPreprocessor(small_vocabulary, sequence_length=2)
    with pytest.raises(ValueError, match="at least 3 for pairs"):
        preprocessor(tf.constant(["i"]), tf.constant(["i"]))

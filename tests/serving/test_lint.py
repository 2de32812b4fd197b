import random
import re
import shutil

import numpy as np
import pytest
from saved_function import save_function

from bert_keras_layers import (
    BertPreprocessor,
    TextClassifier,
    export_saved_model,
    lint_saved_model,
)
from bert_keras_layers.files.saved_model_proto import read_saved_model_proto
from bert_keras_layers.serving import lint_operations
from bert_keras_layers.serving.served_operations import served_operations

pytestmark = pytest.mark.tensorflow


def spec(shape=(None,), dtype="float32"):
    import tensorflow as tf

    return tf.TensorSpec(shape, dtype, name="x")


def shaped(x):
    import tensorflow as tf

    return tf.ensure_shape(x, (None,))


def python(x):
    import tensorflow as tf

    return {"y": shaped(tf.numpy_function(np.sin, [x], tf.float32))}


def eager_python(x):
    import tensorflow as tf

    return {"y": shaped(tf.py_function(np.sin, [x], tf.float32))}


def compiled(x):
    import tensorflow as tf

    return {"y": tf.function(tf.sin, jit_compile=True)(x)}


def file_read_in_a_loop(x):
    import tensorflow as tf

    names = tf.strings.as_string(x)
    return {"y": tf.map_fn(tf.io.read_file, names)}


def file_read_in_a_branch(x):
    import tensorflow as tf

    branches = [lambda: x, lambda: x + tf.strings.to_number(tf.io.read_file("file"))]
    return {"y": shaped(tf.switch_case(tf.size(x), branches))}


def file_written(x):
    import tensorflow as tf

    with tf.control_dependencies([tf.io.write_file("file", "text")]):
        return {"y": x + 1}


def table_of_no_asset(x):
    import tensorflow as tf

    table = tf.raw_ops.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    initialized = tf.raw_ops.InitializeTableFromTextFileV2(
        table_handle=table, filename="words.txt", key_index=-2, value_index=-1
    )
    with tf.control_dependencies([initialized]):
        return {"y": x + 1}


def no_kernel(x):
    import tensorflow as tf

    return {"y": tf.raw_ops.CrossReplicaSum(input=x, group_assignment=[[0]])}


def cast_to(dtype):
    def serve(x):
        import tensorflow as tf

        return {"y": tf.cast(x, dtype)}

    return serve


def total(x):
    import tensorflow as tf

    return {"y": tf.reduce_sum(x)}


def same(x):
    return {"y": x + 1}


@pytest.mark.parametrize(
    ("function", "shape", "dtype", "sentence"),
    [
        (python, (None,), "float32", "'PyFunc' .* runs Python code"),
        (eager_python, (None,), "float32", "'EagerPyFunc' .* runs Python code"),
        (compiled, (None,), "float32", "must be compiled by XLA"),
        (file_read_in_a_loop, (None,), "float32", "'ReadFile' .* or writes files"),
        (file_read_in_a_branch, (None,), "float32", "'ReadFile' .* or writes files"),
        (file_written, (None,), "float32", "'WriteFile' .* or writes files"),
        (table_of_no_asset, (None,), "float32", "not among the assets"),
        (no_kernel, (None,), "float32", "'CrossReplicaSum' .* no kernel for the CPU"),
        (cast_to("float16"), (None,), "float32", "'y' .* float16, which JSON"),
        (cast_to("bfloat16"), (None,), "float32", "'y' .* bfloat16, which JSON"),
        (cast_to("complex64"), (None,), "float32", "'y' .* complex64, which JSON"),
        (total, (None,), "float32", "'y' .* is a single value"),
        (cast_to("float32"), (None, None), "int32", "'x' .* rows of open length"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_a_server_trips_over_is_one_sentence(
    function, shape, dtype, sentence, tmp_path
):
    save_function(tmp_path, function, spec(shape, dtype))
    (finding,) = lint_saved_model(tmp_path)
    assert re.search(sentence, finding)
    assert finding.endswith(".")


@pytest.mark.parametrize(
    ("shape", "complaint"),
    [((3,), "always has 3 rows"), (None, "no known rank"), ((), "a single value")],
)
def test_the_batch_must_be_open(shape, complaint, tmp_path):
    save_function(tmp_path, same, spec(shape))
    finding_of_input, finding_of_output = lint_saved_model(tmp_path)
    assert finding_of_input.startswith("The input 'x' of 'serving_default'")
    assert finding_of_output.startswith("The output 'y' of 'serving_default'")
    assert complaint in finding_of_input
    assert complaint in finding_of_output


def test_lengths_may_be_open_where_there_are_no_ids(tmp_path):
    save_function(tmp_path / "floats", same, spec((None, None)))
    save_function(tmp_path / "ids", cast_to("float32"), spec((None, 8), "int32"))
    assert lint_saved_model(tmp_path / "floats") == []
    assert lint_saved_model(tmp_path / "ids") == []


def test_an_export_is_clean_and_so_is_a_table_of_an_asset(small_encoder, tmp_path):
    import tensorflow as tf

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good"]
    model = TextClassifier(small_encoder(), 2, BertPreprocessor(words))
    assert lint_saved_model(export_saved_model(model, tmp_path / "text")) == []

    (tmp_path / "words.txt").write_text("\n".join(words))
    initializer = tf.lookup.TextFileInitializer(
        str(tmp_path / "words.txt"),
        *(tf.string, tf.lookup.TextFileIndex.WHOLE_LINE),
        *(tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER),
    )
    table = tf.lookup.StaticHashTable(initializer, -1)
    folder = save_function(
        tmp_path / "1", lambda x: {"y": table.lookup(x)}, spec(dtype="string"), t=table
    )
    assert lint_saved_model(folder) == []
    (folder / "assets" / "words.txt").unlink()
    assert lint_saved_model(folder) == [
        "There is no assets/words.txt, which the model reads when it is loaded."
    ]


def test_functions_that_no_signature_calls_do_not_count(tmp_path):
    import tensorflow as tf

    uncalled = [tf.function(one) for one in (python, compiled, file_written)]
    for one in uncalled:
        one.get_concrete_function(spec())
    save_function(tmp_path, same, spec(), uncalled=uncalled)
    operations = {
        node.op
        for function in read_saved_model_proto(tmp_path)
        .meta_graphs[0]
        .graph_def.library.function
        for node in function.node_def
    }
    assert {"PyFunc", "WriteFile"} <= operations
    assert lint_saved_model(tmp_path) == []


def test_what_tensorflow_rewrites_needs_no_kernel(tmp_path):
    import tensorflow as tf

    def serve(x):
        return {"y": shaped(tf.raw_ops.AccumulateNV2(inputs=[x, x], shape=[None]))}

    assert lint_saved_model(save_function(tmp_path, serve, spec())) == []


def test_the_saver_of_tensorflow_1_is_no_finding(tmp_path):
    import tensorflow as tf

    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder("float32", (None,))
        y = x + v1.get_variable("one", initializer=1.0)
        session.run(v1.global_variables_initializer())
        v1.saved_model.simple_save(session, str(tmp_path / "1"), {"x": x}, {"y": y})
    assert lint_saved_model(tmp_path) == []


@pytest.mark.parametrize("kept", ["node", "function"])
def test_one_mark_of_compilation_is_enough(kept, tmp_path):
    def unmark(meta_graph):
        library = meta_graph.graph_def.library.function
        nodes = [node for function in library for node in function.node_def]
        for owner in library if kept == "node" else nodes:
            owner.attr.pop("_XlaMustCompile", None)

    rewritten(save_function(tmp_path, compiled, spec()), unmark)
    (finding,) = lint_saved_model(tmp_path)
    assert "must be compiled by XLA" in finding


def rewritten(folder, change):
    """Changes the proto of a SavedModel, whose fingerprint then must go."""
    proto = read_saved_model_proto(folder)
    change(proto.meta_graphs[0])
    (folder / "saved_model.pb").write_bytes(proto.SerializeToString())
    (folder / "fingerprint.pb").unlink()
    return folder


def test_an_operation_counts_as_unknown_although_this_process_has_it(tmp_path):
    from tensorflow.python.framework import op_def_registry

    here_only = "KernelLabel"  # For TensorFlow's own tests.
    assert op_def_registry.get(here_only)
    assert here_only not in served_operations().known

    def rename(meta_graph):
        for function in meta_graph.graph_def.library.function:
            for node in function.node_def:
                if node.op == "AddV2":
                    node.op = here_only

    rewritten(save_function(tmp_path, same, spec()), rename)
    (finding,) = lint_saved_model(tmp_path)
    assert finding.startswith("'KernelLabel' (node 'add' in ")
    assert "neither TensorFlow nor tensorflow-text" in finding


def test_an_export_from_jax_is_named(tmp_path):
    def rename(meta_graph):
        for function in meta_graph.graph_def.library.function:
            for node in function.node_def:
                if node.op == "AddV2":
                    node.op = "XlaCallModule"

    rewritten(save_function(tmp_path, same, spec()), rename)
    (finding,) = lint_saved_model(tmp_path)
    assert "XLA, which a server has switched off: an export from JAX" in finding


def test_every_operation_on_the_list_exists():
    assert set(lint_operations._REASONS) <= served_operations().known


def test_without_the_tag_or_a_signature_there_is_nothing_to_serve(tmp_path):
    def untag(meta_graph):
        meta_graph.meta_info_def.tags[:] = ["train"]

    for name in ("untagged", "mute"):
        save_function(tmp_path / name, same, spec())
    rewritten(tmp_path / "untagged", untag)
    rewritten(tmp_path / "mute", lambda one: one.signature_def.pop("serving_default"))
    (finding,) = lint_saved_model(tmp_path / "untagged")
    assert finding.startswith("There is no tag 'serve', only [['train']]")
    (finding,) = lint_saved_model(tmp_path / "mute")
    assert finding.startswith("There is no signature")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda folder: (folder / "variables.index").unlink(), "no variables/var"),
        (lambda folder: next(folder.glob("*.data*")).unlink(), "cannot be read"),
        (lambda folder: flip(next(folder.glob("*.data*")), 3), "'variable/.*Checksum"),
        (lambda folder: flip(folder / "variables.index", 9), "'variables.index'"),
    ],
    ids=["no index", "no data", "flipped data", "flipped index"],
)
def test_variables_are_there_and_undamaged(damage, sentence, tmp_path):
    save_function(tmp_path, same, spec())
    damage(tmp_path / "variables")
    (finding,) = lint_saved_model(tmp_path)
    assert re.search(sentence, finding)


def flip(file, place, bit=0):
    content = bytearray(file.read_bytes())
    content[place] ^= 1 << bit
    file.write_bytes(content)


def test_damage_of_the_graph_is_noticed(tmp_path):
    save_function(tmp_path, same, spec())
    file = tmp_path / "saved_model.pb"
    whole, draw, noticed = file.read_bytes(), random.Random(0), 0
    for _ in range(1000):
        flip(file, draw.randrange(len(whole)), draw.randrange(8))
        try:
            read_saved_model_proto(tmp_path)
        except ValueError:
            noticed += 1
        file.write_bytes(whole)
    # The others say nothing, such as the number of an argument without attributes.
    assert noticed > 985
    for length in range(0, len(whole), 97):
        file.write_bytes(whole[:length])
        with pytest.raises(ValueError, match=f"SavedModel in {tmp_path} must be whole"):
            lint_saved_model(tmp_path)


def test_of_versions_the_newest_is_linted(tmp_path):
    save_function(tmp_path / "9", same, spec())
    save_function(tmp_path / "10", total, spec())
    (finding,) = lint_saved_model(tmp_path)
    assert "'y'" in finding
    shutil.rmtree(tmp_path / "10")
    assert lint_saved_model(tmp_path) == []
    with pytest.raises(FileNotFoundError, match="There must be a SavedModel in"):
        lint_saved_model(tmp_path / "none")

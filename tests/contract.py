"""What every public layer must do; one call per layer, no copies of it."""

import json

import keras
import numpy as np

ALLCLOSE = {"rtol": 1e-5, "atol": 1e-6}


def check_layer(layer, inputs, tmp_path):
    """Checks config, shapes, saving, export, precision, XLA and gradients.

    Args:
        layer: The layer, not yet called.
        inputs: Arrays in the structure that the layer takes.
        tmp_path: A scratch folder.
    """
    expected = arrays(layer(inputs))
    model = as_model(layer, inputs)
    check_config(layer)
    check_shapes(layer, model, inputs, expected)
    check_saved_file(model, inputs, expected, tmp_path)
    check_half_precision(layer, inputs)
    if keras.backend.backend() == "tensorflow":
        check_export(model, inputs, expected, tmp_path)
    # Last, since it changes the weights.
    check_compiled_training(model, inputs, expected)


def arrays(outputs):
    """Returns the tensors of a structure as a flat list of NumPy arrays."""
    return [
        keras.ops.convert_to_numpy(keras.ops.cast(x, "float32"))
        for x in keras.tree.flatten(outputs)
    ]


def as_model(layer, inputs):
    """Returns a functional model around a layer, batch dimension open."""
    symbolic = keras.tree.pack_sequence_as(
        inputs,
        [
            keras.Input(x.shape[1:], dtype=str(x.dtype), name="_".join(map(str, path)))
            for path, x in keras.tree.flatten_with_path(inputs)
        ],
    )
    return keras.Model(symbolic, keras.tree.flatten(layer(symbolic)))


def check_config(layer):
    """Config survives JSON."""
    config = json.loads(json.dumps(layer.get_config()))
    assert config["name"] == layer.name
    assert type(layer).from_config(config).get_config() == layer.get_config()


def check_shapes(layer, model, inputs, expected):
    """Declared and symbolic shapes are the eager ones, the batch left open."""
    shapes = [tuple(array.shape) for array in expected]
    symbolic = [tuple(tensor.shape) for tensor in model.outputs]
    assert symbolic == [(None, *shape[1:]) for shape in shapes]
    if keras.src.utils.python_utils.is_default(layer.compute_output_shape):
        return
    declared = layer.compute_output_shape(
        keras.tree.map_structure(lambda x: x.shape, inputs)
    )
    assert [tuple(declared)] == shapes


def check_saved_file(model, inputs, expected, tmp_path):
    """A `.keras` file gives the same numbers, under safe mode."""
    model.save(tmp_path / "layer.keras")
    loaded = keras.models.load_model(tmp_path / "layer.keras", safe_mode=True)
    assert_close(loaded(inputs), expected)
    assert [w.path for w in loaded.weights] == [w.path for w in model.weights]


def check_export(model, inputs, expected, tmp_path):
    """A SavedModel gives the same numbers, at another batch size too."""
    import tensorflow as tf

    model.export(tmp_path / "export", verbose=False)
    served = tf.saved_model.load(tmp_path / "export")  # Keep: it owns the variables.
    assert_close(served.serve(inputs), expected)
    first_row = keras.tree.map_structure(lambda x: x[:1], inputs)
    assert_close(served.serve(first_row), [array[:1] for array in expected])


def check_half_precision(layer, inputs):
    """Compute dtype out, float32 variables, finite numbers."""
    for policy in ("mixed_float16", "mixed_bfloat16"):
        half = type(layer).from_config({**layer.get_config(), "dtype": policy})
        outputs = keras.tree.flatten(half(inputs))
        for output in outputs:
            dtype = keras.backend.standardize_dtype(output.dtype)
            assert dtype == half.compute_dtype
        assert all(np.isfinite(array).all() for array in arrays(outputs))
        assert all(w.dtype == "float32" for w in half.weights)


def check_compiled_training(model, inputs, expected):
    """Under XLA: the same numbers, and every trainable weight learns."""
    jit_compile = keras.backend.backend() != "torch"
    model.compile(keras.optimizers.SGD(1.0), "mse", jit_compile=jit_compile)
    assert_close(model.predict_on_batch(inputs), expected)
    if model.trainable_weights:
        rng = np.random.default_rng(0)
        before = [keras.ops.convert_to_numpy(w) for w in model.trainable_weights]
        targets = [rng.normal(size=array.shape) for array in expected]
        model.train_on_batch(inputs, targets)
        for weight, old in zip(model.trainable_weights, before, strict=True):
            new = keras.ops.convert_to_numpy(weight)
            assert np.isfinite(new).all(), weight.path
            assert (new != old).any(), f"{weight.path} got no gradient"


def assert_close(received, expected):
    """Compares structures of tensors in flat order."""
    for one, other in zip(arrays(received), expected, strict=True):
        np.testing.assert_allclose(one, other, **ALLCLOSE)

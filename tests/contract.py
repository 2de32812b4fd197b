"""What every public layer must do; one call per layer, no copies of it."""

import json
import warnings

import keras
import numpy as np

ALLCLOSE = {"rtol": 1e-5, "atol": 1e-6}


def check_layer(layer, inputs, tmp_path, mask=None):
    """Checks config, shapes, masks, saving, export, precision, XLA and gradients.

    Args:
        layer: The layer, not yet called.
        inputs: Arrays in the structure that the layer takes.
        tmp_path: A scratch folder.
        mask: Array for the `mask` argument of the layer, or None for no mask.
    """
    expected = arrays(called(layer, inputs, mask))
    model = as_model(layer, inputs, mask)
    feed = inputs if mask is None else [inputs, mask]
    check_config(layer)
    check_paths(layer)
    check_shapes(layer, model, inputs, expected)
    check_masks(layer, inputs, mask, expected)
    check_saved_file(model, feed, expected, tmp_path)
    check_half_precision(layer, inputs, mask)
    check_with_keras(layer, inputs)
    if keras.backend.backend() == "tensorflow":
        check_export(model, feed, expected, tmp_path)
    # Last, since it changes the weights.
    check_compiled_training(model, feed, expected)


def called(layer, inputs, mask=None):
    """Calls a layer as users do: without the argument if there is no mask."""
    return layer(inputs) if mask is None else layer(inputs, mask=mask)


def arrays(outputs):
    """Returns the tensors of a structure as a flat list of NumPy arrays."""
    return [
        keras.ops.convert_to_numpy(keras.ops.cast(x, "float32"))
        for x in keras.tree.flatten(outputs)
    ]


def as_model(layer, inputs, mask=None):
    """Returns a functional model around a layer, batch dimension open.

    Its inputs are those of the layer, or a list of those and the mask.
    """

    def symbolic(array, name):
        return keras.Input(array.shape[1:], dtype=str(array.dtype), name=name)

    given = keras.tree.pack_sequence_as(
        inputs,
        [
            symbolic(array, "_".join(map(str, path)))
            for path, array in keras.tree.flatten_with_path(inputs)
        ],
    )
    masked = None if mask is None else symbolic(mask, "mask")
    outputs = keras.tree.flatten(called(layer, given, masked))
    return keras.Model(given if mask is None else [given, masked], outputs)


def check_config(layer):
    """Config survives JSON."""
    config = json.loads(json.dumps(layer.get_config()))
    assert config["name"] == layer.name
    assert type(layer).from_config(config).get_config() == layer.get_config()


def check_paths(layer):
    """Each weight has a path of its own, or torch takes several for one."""
    paths = [weight.path for weight in layer.weights]
    assert len(set(paths)) == len(paths), paths


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
    if isinstance(declared, dict):  # In the order of `keras.tree`.
        declared = [declared[name] for name in sorted(declared)]
    declared = declared if isinstance(declared[0], tuple) else [declared]
    assert [tuple(shape) for shape in declared] == shapes


def check_masks(layer, inputs, mask, expected):
    """The layer gives no mask, or one (or None) per output, which fits it."""
    masks = layer.compute_mask(inputs, mask)
    if masks is not None:
        for one, output in zip(keras.tree.flatten(masks), expected, strict=True):
            assert one is None or tuple(one.shape) == output.shape[: one.ndim]


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


def check_half_precision(layer, inputs, mask):
    """Compute dtype out, float32 variables, finite numbers."""
    for policy in ("mixed_float16", "mixed_bfloat16"):
        half = type(layer).from_config({**layer.get_config(), "dtype": policy})
        outputs = keras.tree.flatten(called(half, inputs, mask))
        for output in outputs:
            dtype = keras.backend.standardize_dtype(output.dtype)
            assert dtype == half.compute_dtype
        assert all(np.isfinite(array).all() for array in arrays(outputs))
        assert all(w.dtype == "float32" for w in half.weights)


def check_with_keras(layer, inputs):
    """What Keras checks of its own layers, if this Keras brings its test case."""
    try:
        from keras.src.testing import TestCase
    except ImportError:
        return
    if isinstance(inputs, dict):
        return  # Taken there as one argument per name.
    if isinstance(inputs, list):
        inputs = tuple(inputs)  # tf.data would make one tensor of a list.
    outputs = layer(inputs)
    with warnings.catch_warnings():
        # It fits all layers, and on a generator; Keras warns of both.
        warnings.filterwarnings("ignore", ".*not have any trainable weights")
        warnings.filterwarnings("ignore", ".*provided as a generator")
        TestCase().run_layer_test(
            type(layer),
            layer.get_config(),
            input_data=keras.tree.map_structure(keras.ops.convert_to_tensor, inputs),
            expected_output_shape=keras.tree.map_structure(
                lambda x: tuple(x.shape), outputs
            ),
            supports_masking=True,
        )


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


def check_padding(layer, inputs, mask):
    """Kept tokens give the same numbers however they are padded, batched, rounded.

    Args:
        layer: The layer, with one output.
        inputs: Arrays `(batch, tokens, width)` in the structure that it takes.
        mask: Booleans `(batch, tokens)`.
    """
    rng = np.random.default_rng(0)

    def kept(inputs, mask, layer=layer):
        """Returns one vector per text, or else those of all kept tokens."""
        (output,) = arrays(layer(inputs, mask=mask))
        return output if output.ndim == 2 else output[mask]

    def longer(x):
        tail = rng.normal(size=(len(x), 2, x.shape[2])).astype(x.dtype)
        return np.concatenate([x, tail], axis=1)

    def shuffled(x):
        x = x.copy()
        x[~mask] = rng.permutation(x[~mask])
        return x

    def spoiled(x):
        return np.where(mask[..., None], x, np.nan).astype(x.dtype)

    expected = kept(inputs, mask)
    for changed, changed_mask in [
        (longer, np.pad(mask, [(0, 0), (0, 2)])),
        (shuffled, mask),
        (spoiled, mask),
    ]:
        received = kept(keras.tree.map_structure(changed, inputs), changed_mask)
        np.testing.assert_allclose(received, expected, **ALLCLOSE)

    rows = [slice(i, i + 1) for i in range(len(mask))]
    alone = [
        kept(keras.tree.map_structure(lambda x, row=row: x[row], inputs), mask[row])
        for row in rows
    ]
    np.testing.assert_allclose(np.concatenate(alone), expected, **ALLCLOSE)

    half = type(layer).from_config({**layer.get_config(), "dtype": "mixed_float16"})
    half(inputs)
    half.set_weights(layer.get_weights())
    received = kept(inputs, mask, half)
    np.testing.assert_allclose(received, expected, rtol=1e-2, atol=1e-2)

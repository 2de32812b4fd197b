"""What all encoders share, native or around a model of another library."""

import pathlib

import keras
import numpy as np
import pytest
from conftest import SMALL
from contract import arrays
from encoders.hugging_face_files import CONFIG

from bert_keras_layers import BertEncoder, HubEncoder, TransformersEncoder

FIXTURES = pathlib.Path(__file__).parents[1] / "fixtures"
IDS = np.array([[2, 7, 9, 4, 3], [2, 8, 3, 0, 0]], "int32")
KEPT = IDS > 0
INPUTS = {
    "input_ids": IDS,
    "attention_mask": KEPT.astype("int32"),
    "token_type_ids": np.array([[0, 0, 1, 1, 1], [0, 0, 0, 0, 0]], "int32"),
}
LABELS = np.array([0, 1])
HUBS = [
    "hub_encoder",
    "hub_encoder_v2",
    "hub_electra",
    "hub_albert",
    "hub_albert_list",
    "hub_mobilebert",
]


def native():
    encoder = BertEncoder(**SMALL)
    encoder.build()
    return encoder


def wrapped():
    from transformers import AutoConfig

    return TransformersEncoder(AutoConfig.for_model(**CONFIG))


def hub(name="hub_encoder"):
    return HubEncoder.from_pretrained(FIXTURES / name)


def hub_list():
    return hub("hub_encoder_v2")


TENSORFLOW_ONLY = [
    pytest.param(make, marks=pytest.mark.tensorflow)
    for make in (wrapped, hub, hub_list)
]
every_encoder = pytest.mark.parametrize("make", [native, *TENSORFLOW_ONLY])


def classifier(encoder):
    """A model on the pooler output, so that no weight is left out."""
    inputs = encoder.inputs()
    outputs = keras.layers.Dense(2, activation="softmax")(
        encoder(inputs)["pooler_output"]
    )
    return keras.Model(inputs, outputs)


def take_one_step(model, optimizer):
    """Trains on two texts once, without the time that compiling takes."""
    eagerly = keras.backend.backend() != "jax"
    model.compile(optimizer, "sparse_categorical_crossentropy", run_eagerly=eagerly)
    model.train_on_batch(INPUTS, LABELS)


def copies(part):
    return [keras.ops.convert_to_numpy(weight).copy() for weight in part.weights]


def changed(part, before):
    """Whether every weight of a part has changed; all or nothing."""
    answers = {
        bool((new != old).any()) for new, old in zip(copies(part), before, strict=True)
    }
    assert len(answers) == 1, f"some weights of {part.name} changed, others did not"
    return answers.pop()


def parts_of(encoder):
    return {
        "embeddings": encoder.embeddings,
        **{f"block_{i}": block for i, block in enumerate(encoder.blocks)},
        "pooler": encoder.pooler,
    }


@every_encoder
def test_states_come_under_one_index_with_the_mask(make):
    encoder = make()
    outputs = encoder(INPUTS)
    shape = (2, 5, encoder.hidden_size)
    states = outputs["hidden_states"]
    assert [tuple(x.shape) for x in states] == [shape] * (encoder.num_layers + 1)
    last = keras.ops.convert_to_numpy(outputs["last_hidden_state"])
    np.testing.assert_array_equal(arrays(states)[-1], last)
    for state in (*states, outputs["last_hidden_state"]):
        mask = keras.src.backend.get_keras_mask(state)
        np.testing.assert_array_equal(mask, KEPT)
    symbolic = encoder(encoder.inputs())
    assert keras.tree.map_structure(
        lambda x: (len(x.shape), x.shape[-1]), symbolic
    ) == (keras.tree.map_structure(lambda x: (len(x.shape), x.shape[-1]), outputs))


@every_encoder
def test_cutting_blocks_changes_no_state_below(make):
    encoder = make()
    expected = arrays(encoder(INPUTS)["hidden_states"])
    for num_layers in range(encoder.num_layers + 1):
        shorter = encoder.truncate(num_layers)
        received = arrays(shorter(INPUTS)["hidden_states"])
        assert len(received) == num_layers + 1
        for one, other in zip(received, expected, strict=False):
            np.testing.assert_allclose(one[KEPT], other[KEPT], atol=2e-6)
        kept = len(encoder.embeddings.weights)
        kept += sum(len(block.weights) for block in encoder.blocks[:num_layers])
        assert [id(w) for w in shorter.weights] == [
            id(w) for w in encoder.weights[:kept]
        ]


@every_encoder
def test_training_reaches_every_weight_and_lowers_the_loss(make):
    encoder = make()
    before = {name: copies(part) for name, part in parts_of(encoder).items()}
    model = classifier(encoder)
    model.compile(keras.optimizers.Adam(3e-3), "sparse_categorical_crossentropy")
    untrained = model.evaluate(INPUTS, LABELS, verbose=0)
    model.fit(INPUTS, LABELS, epochs=40, verbose=0)
    assert model.evaluate(INPUTS, LABELS, verbose=0) < untrained
    assert all(changed(part, before[name]) for name, part in parts_of(encoder).items())
    assert model.count_params() == sum(int(np.prod(w.shape)) for w in model.weights)


@every_encoder
def test_a_frozen_encoder_is_not_trained(make):
    encoder = make()
    encoder.trainable = False
    before = copies(encoder)
    take_one_step(classifier(encoder), keras.optimizers.Adam(0.1))
    assert not changed(encoder, before)
    assert encoder.trainable_weights == []


@every_encoder
@pytest.mark.parametrize("trainable", [True, False], ids=["unfreezing", "freezing"])
def test_what_was_cut_from_an_encoder_follows_it(make, trainable):
    encoder = make()
    encoder.trainable = not trainable
    shorter = encoder.truncate(1)
    inputs = shorter.inputs()
    state = shorter(inputs)["last_hidden_state"][:, 0]
    model = keras.Model(inputs, keras.layers.Dense(2, activation="softmax")(state))
    encoder.trainable = trainable
    before = copies(shorter.blocks[0])
    take_one_step(model, keras.optimizers.Adam(0.01))
    assert changed(shorter.blocks[0], before) is trainable
    assert shorter.get_config()["trainable"] is trainable


@every_encoder
@pytest.mark.parametrize(("embeddings", "blocks"), [(True, 1), (False, 2)])
def test_freeze_trains_exactly_the_others(make, embeddings, blocks):
    encoder = make()
    encoder.freeze(embeddings=embeddings, blocks=blocks)
    before = {name: copies(part) for name, part in parts_of(encoder).items()}
    take_one_step(classifier(encoder), keras.optimizers.Adam(0.01))
    frozen = {"embeddings"} if embeddings else set()
    frozen |= {f"block_{i}" for i in range(blocks)}
    for name, part in parts_of(encoder).items():
        assert changed(part, before[name]) == (name not in frozen), name
    encoder.freeze(embeddings=False, blocks=0)
    assert len(encoder.trainable_weights) == len(encoder.weights)


@pytest.mark.parametrize(
    "make", [native, pytest.param(wrapped, marks=pytest.mark.tensorflow)]
)
def test_a_file_keeps_what_is_frozen(make, tmp_path):
    encoder = make()
    encoder.freeze(blocks=2)
    model = classifier(encoder)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras", safe_mode=True)
    assert [w.trainable for w in loaded.weights] == [w.trainable for w in model.weights]


@every_encoder
def test_freezing_more_blocks_than_there_are_is_refused(make):
    encoder = make()
    with pytest.raises(ValueError, match=r"`blocks` must be between 0 and .*blocks=4"):
        encoder.freeze(blocks=4)


@every_encoder
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"input_ids": IDS + 1000}, r"`input_ids` must be 0 to \d+ .*Received: 1009"),
        ({"input_ids": IDS - 5}, r"`input_ids` must be 0 to \d+ .*Received: -5"),
        ({"token_type_ids": IDS * 0 + 7}, r"`token_type_ids` must be 0 to 1.*: 7"),
        ({"input_ids": IDS / 1}, "`input_ids` must hold integers.*float"),
        ({"input_ids": IDS[0]}, r"must have the shape \(batch, tokens\).*\(5,\)"),
        ({"position": IDS}, r"Received also: \['position'\]"),
    ],
)
def test_bad_input_is_named_before_any_compute(make, changes, message):
    with pytest.raises(ValueError, match=message):
        make()({**INPUTS, **changes})


@every_encoder
def test_a_text_longer_than_the_positions_is_refused(make):
    encoder = make()
    ids = np.ones((1, encoder.max_positions + 1), "int32")
    message = rf"has {encoder.max_positions} positions"
    with pytest.raises(ValueError, match=message):
        encoder({"input_ids": ids})
    with pytest.raises(ValueError, match=message):
        encoder({"input_ids": keras.Input((ids.shape[1],), dtype="int32")})


@every_encoder
def test_any_integers_will_do(make):
    encoder = make()
    wide = {name: x.astype("int64") for name, x in INPUTS.items()}
    wide["attention_mask"] = wide["attention_mask"] == 1
    for one, other in zip(arrays(encoder(wide)), arrays(encoder(INPUTS)), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "optimizer",
    [
        "Adadelta",
        "Adafactor",
        "Adagrad",
        "Adam",
        "Adamax",
        "AdamW",
        "Ftrl",
        "Lamb",
        "Lion",
        "Muon",
        "Nadam",
        "RMSprop",
        "SGD",
    ],
)
def test_every_optimizer_of_keras_trains_a_saved_model(optimizer):
    encoder = hub()
    before = copies(encoder)
    options = {"momentum": 0.9} if optimizer == "SGD" else {}
    take_one_step(
        classifier(encoder),
        getattr(keras.optimizers, optimizer)(learning_rate=0.01, **options),
    )
    assert changed(encoder, before)


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", HUBS)
def test_gradients_are_those_of_the_saved_model_itself(name):
    import tensorflow as tf

    encoder = hub(name)
    model = encoder._foreign().model
    names = ("input_word_ids", "input_mask", "input_type_ids")
    given = dict(zip(names, INPUTS.values(), strict=True))
    with tf.GradientTape() as tape:
        if name in ("hub_encoder_v2", "hub_albert_list"):
            pooled, _ = model([*INPUTS.values()], training=False, mask=None)
        else:
            pooled = model(given, training=False, mask=None)["pooled_output"]
        loss = tf.reduce_sum(pooled**3)
    variables = [weight.value for weight in encoder.trainable_weights]
    expected = tape.gradient(loss, variables)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(encoder(INPUTS)["pooler_output"] ** 3)
    received = tape.gradient(loss, variables)
    assert len(variables) == len(model.trainable_variables)
    largest = max(float(tf.reduce_max(tf.abs(x))) for x in expected if x is not None)
    for one, other in zip(received, expected, strict=True):
        one, other = (tf.convert_to_tensor(x).numpy() for x in (one, other))
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5 * largest)


@pytest.mark.tensorflow
@pytest.mark.parametrize("kind", ["wrapped", "hub"])
def test_replicas_train_one_set_of_weights(kind, run_python):
    printed = run_python(
        f"""
import sys
sys.path.insert(0, {str(pathlib.Path(__file__).parents[1])!r})
import keras, numpy as np, tensorflow as tf
from encoders.test_every_encoder import INPUTS, {kind}, classifier
cpu = tf.config.list_physical_devices("CPU")[0]
virtual = [tf.config.LogicalDeviceConfiguration()] * 2
tf.config.set_logical_device_configuration(cpu, virtual)
with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
    encoder = {kind}()
    model = classifier(encoder)
    model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy")
before = [np.array(w) for w in encoder.weights]
model.fit(INPUTS, np.array([0, 1]), batch_size=2, verbose=0)
print([bool((np.array(w) != old).any()) for w, old in zip(encoder.weights, before)])
"""
    )
    assert "False" not in printed.splitlines()[-1]
    assert "True" in printed.splitlines()[-1]

import keras
import numpy as np
import pytest
from contract import ALLCLOSE, arrays, check_layer

from bert_keras_layers import AttentionPooling, LayerwiseHead

RNG = np.random.default_rng(0)
STATES = [RNG.normal(size=(2, 3, 4)).astype("float32") for _ in range(6)]
MASK = np.array([[1, 1, 0], [1, 0, 0]], "int32")
MEANS = [np.stack([x[0, :2].mean(0), x[1, 0]]) for x in STATES]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"layers": [4, -6], "activation": "softmax", "pooling": ["cls", "max"]},
        {"layers": 2, "pooling": AttentionPooling(2), "dropout": 0.0},
    ],
    ids=["plain", "modes", "layer"],
)
def test_contract(options, tmp_path):
    check_layer(LayerwiseHead(3, name="head", **options), STATES, tmp_path, MASK)


def test_contract_without_a_mask(tmp_path):
    check_layer(LayerwiseHead(3, layers=2, name="head"), STATES, tmp_path)


def test_scores_are_those_of_each_layer_and_their_weighted_average():
    head = LayerwiseHead(2, "sigmoid", layers=[0, 3, -1])
    head.build([state.shape for state in STATES])
    head.layer_logits.assign([0.5, -1.0, 2.0])
    received = {
        name: keras.ops.convert_to_numpy(output)
        for name, output in head(STATES, mask=MASK).items()
    }
    logits = []
    for index, classifier in zip([0, 3, 5], head.classifiers, strict=True):
        kernel, bias = classifier.get_weights()
        logits.append(MEANS[index] @ kernel + bias)
    weights = np.exp([0.5, -1.0, 2.0]) / np.exp([0.5, -1.0, 2.0]).sum()
    logits = {
        "combined": np.tensordot(weights, logits, 1),
        **dict(zip(["layer_0", "layer_3", "layer_5"], logits, strict=True)),
    }
    assert list(received) == head.output_names == list(logits)
    for name, logit in logits.items():
        expected = 1 / (1 + np.exp(-logit))
        np.testing.assert_allclose(received[name], expected, **ALLCLOSE)


def test_an_untrained_average_is_the_mean():
    outputs = LayerwiseHead(2, layers=[1, 2])(STATES)
    mean = (outputs["layer_1"] + outputs["layer_2"]) / 2
    np.testing.assert_allclose(*arrays([outputs["combined"], mean]), **ALLCLOSE)


def test_each_state_has_a_pooling_of_its_own_and_the_one_given_stays_unbuilt():
    pooling = AttentionPooling()
    head = LayerwiseHead(2, layers=2, pooling=pooling)
    head(STATES)
    assert not pooling.built
    one, other = (pool.weights[0] for pool in head.poolings)
    assert one is not other
    assert len(head.weights) == 1 + 2 * 3


def model_of(encoder, **options):
    head = LayerwiseHead(2, "softmax", layers=[1, -1], dropout=0.0, **options)
    inputs = encoder.inputs()
    return head, keras.Model(inputs, head(encoder(inputs)["hidden_states"]))


def ids_of(model):
    ids = np.array([[2, 5, 6, 3], [2, 7, 3, 0], [2, 8, 8, 3]], "int32")
    kept = (ids > 0).astype("int32")
    return {"input_ids": ids, "attention_mask": kept, "token_type_ids": 0 * ids}


def test_the_loss_is_the_weighted_sum_of_a_loss_per_output(small_encoder):
    head, model = model_of(small_encoder(pooler=False))
    model.compile(
        "sgd",
        loss=dict.fromkeys(head.output_names, "sparse_categorical_crossentropy"),
        loss_weights={"combined": 1.0, "layer_1": 0.5, "layer_3": 0.25},
        metrics={name: ["accuracy"] for name in head.output_names},
    )
    labels = np.array([0, 1, 1])
    targets = dict.fromkeys(head.output_names, labels)
    ids = ids_of(model)
    probabilities = model.predict_on_batch(ids)
    results = model.evaluate(ids, targets, verbose=0, return_dict=True)
    losses = {}
    for name, rows in probabilities.items():
        losses[name] = -np.log(rows[np.arange(3), labels]).mean()
        accuracy = (rows.argmax(-1) == labels).mean()
        np.testing.assert_allclose(results[f"{name}_loss"], losses[name], rtol=1e-5)
        np.testing.assert_allclose(results[f"{name}_accuracy"], accuracy, rtol=1e-5)
    total = losses["combined"] + 0.5 * losses["layer_1"] + 0.25 * losses["layer_3"]
    np.testing.assert_allclose(results["loss"], total, rtol=1e-5)


def test_the_loss_of_one_layer_trains_what_lies_below_it(small_encoder):
    encoder = small_encoder(pooler=False)
    head, model = model_of(encoder)
    weights = dict.fromkeys(head.output_names, 0.0) | {"layer_1": 1.0}
    loss = dict.fromkeys(head.output_names, "sparse_categorical_crossentropy")
    model.compile(keras.optimizers.SGD(1.0), loss, loss_weights=weights)
    before = [part.get_weights() for part in (*encoder.blocks, *head.classifiers)]
    model.fit(
        ids_of(model), dict.fromkeys(head.output_names, np.array([0, 1, 1])), verbose=0
    )
    after = [part.get_weights() for part in (*encoder.blocks, *head.classifiers)]
    changed = [
        any((x != y).any() for x, y in zip(old, new, strict=True))
        for old, new in zip(before, after, strict=True)
    ]
    assert changed == [True, False, False, True, False]


def test_half_precision_averages_in_float32():
    head = LayerwiseHead(50, dtype="mixed_float16")
    head.build([state.shape for state in STATES])
    biases = RNG.normal(size=(6, 50)).astype("float16")
    for classifier, bias in zip(head.classifiers, biases, strict=True):
        classifier.set_weights([np.zeros((4, 50)), bias])
    expected = biases.astype("float32").mean(0).astype("float16")
    combined = keras.ops.convert_to_numpy(head(STATES)["combined"])
    np.testing.assert_array_equal(combined, [expected] * 2)


def test_the_mask_stops_here():
    assert LayerwiseHead(2).compute_mask(STATES, MASK) is None


def test_a_layer_that_comes_twice_is_named():
    with pytest.raises(ValueError, match=r"each layer once.*\[5, 5\] of 6"):
        LayerwiseHead(2, layers=[5, -1])(STATES)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"units": 0}, "must be positive integers. Received: units=0"),
        ({"units": 2, "dropout": 1.0}, "below 1. Received: 1.0"),
        ({"units": 2, "pooling": "median"}, "`mode` must be one of"),
        ({"units": 2, "layers": "4"}, "an integer, or a sequence"),
    ],
)
def test_a_wrong_argument_is_named(options, message):
    with pytest.raises(ValueError, match=message):
        LayerwiseHead(**options)

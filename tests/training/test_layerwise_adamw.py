import keras
import numpy as np
import pytest
from contract import arrays
from encoders.test_every_encoder import (
    INPUTS,
    LABELS,
    classifier,
    every_encoder,
    take_one_step,
)

from bert_keras_layers import (
    LayerwiseAdamW,
    TextClassifier,
    WarmupLinearDecay,
    layer_rates,
)

BETA_1, BETA_2, EPSILON, DECAY = 0.9, 0.999, 1e-7, 0.1
JIT = keras.backend.backend() != "torch"


class Numpy:
    """AdamW after Loshchilov and Hutter, one weight."""

    def __init__(self, value, factor, decayed):
        self.value, self.factor, self.decayed = value, factor, decayed
        self.m = self.v = np.zeros_like(value)
        self.t = 0

    def step(self, gradient, rate):
        self.t += 1
        rate *= self.factor
        self.m = BETA_1 * self.m + (1 - BETA_1) * gradient
        self.v = BETA_2 * self.v + (1 - BETA_2) * gradient**2
        m = self.m / (1 - BETA_1**self.t)
        v = self.v / (1 - BETA_2**self.t)
        decay = DECAY * rate * self.value if self.decayed else 0
        # Keras adds epsilon before the correction of v.
        root = np.sqrt(v) + EPSILON / np.sqrt(1 - BETA_2**self.t)
        self.value = self.value - decay - rate * m / root


SHAPES = {"kernel": (3, 2), "bias": (2, 1), "gamma": (2,)}


def weights():
    """A kernel, a bias by heads and a gain in each of three parts."""
    rng = np.random.default_rng(0)
    made = []
    for part in ("low", "high", "head"):
        with keras.name_scope(part):
            for name, shape in SHAPES.items():
                value = rng.normal(size=shape).astype("float32")
                made.append(keras.Variable(value, name=name))
    return made


@pytest.mark.parametrize("schedule", [False, True])
def test_steps_are_what_numpy_computes(schedule):
    rates = {"low": 0.1, "high": 0.5, "high/bias": 2.0}
    factors = [0.1, 0.1, 0.1, 0.5, 2.0, 0.5, 1.0, 1.0, 1.0]
    rate = WarmupLinearDecay(0.3, 10, 2) if schedule else 0.3
    variables = weights()
    expected = [
        Numpy(value, factor, decayed=value.shape == (3, 2))
        for value, factor in zip(arrays(variables), factors, strict=True)
    ]
    optimizer = LayerwiseAdamW(rate, rates, weight_decay=DECAY)
    rng = np.random.default_rng(1)
    for step in range(4):
        gradients = [rng.normal(size=v.shape).astype("float32") for v in variables]
        now = float(rate(step)) if schedule else rate
        optimizer.apply(
            [keras.ops.convert_to_tensor(gradient) for gradient in gradients],
            variables,
        )
        for one, gradient in zip(expected, gradients, strict=True):
            one.step(gradient, now)
    for variable, one in zip(variables, expected, strict=True):
        (received,) = arrays([variable])
        np.testing.assert_allclose(
            received, one.value, rtol=1e-5, atol=1e-5, err_msg=variable.path
        )


def test_without_rates_it_is_adamw_with_its_exclusions():
    ours, theirs = weights(), weights()
    adamw = keras.optimizers.AdamW(0.1, weight_decay=0.2)
    adamw.exclude_from_weight_decay(var_names=["bias", "gamma"])
    for optimizer, variables in [
        (LayerwiseAdamW(0.1, weight_decay=0.2), ours),
        (adamw, theirs),
    ]:
        for _ in range(3):
            gradients = [keras.ops.ones(v.shape) for v in variables]
            optimizer.apply(gradients, variables)
    for one, other in zip(arrays(ours), arrays(theirs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_more_can_be_excluded_from_weight_decay():
    variables = weights()
    optimizer = LayerwiseAdamW(0.1, weight_decay=0.5)
    optimizer.exclude_from_weight_decay(var_list=variables[:1])
    before = arrays(variables)
    optimizer.apply([keras.ops.zeros(v.shape) for v in variables], variables)
    same = [
        bool((one == other).all())
        for one, other in zip(arrays(variables), before, strict=True)
    ]
    assert same == [True] * 3 + [False, True, True] * 2


@every_encoder
def test_a_part_at_rate_0_stays_and_the_others_learn(make):
    encoder = make()
    rates = layer_rates(encoder)
    low = [path for path in rates if path.endswith(("embeddings", "block_0"))]
    rates |= dict.fromkeys(low, 0.0)
    model = classifier(encoder)
    before = arrays(model.weights)
    take_one_step(model, LayerwiseAdamW(0.01, rates))
    for weight, old in zip(model.weights, before, strict=True):
        (new,) = arrays([weight])
        still = weight.path.startswith(tuple(f"{path}/" for path in low))
        assert (new == old).all() == still, weight.path


def test_a_file_goes_on_where_training_stopped(small_encoder, tmp_path):
    still = {"dropout": 0.0, "attention_dropout": 0.0}
    encoder = small_encoder(name="bert", num_layers=1, **still)
    model = TextClassifier(encoder, 2, layers=1, dropout=0.0)
    schedule = WarmupLinearDecay(0.01, 6, 2)
    optimizer = LayerwiseAdamW(schedule, layer_rates(model.encoder, 0.5))
    model.compile(optimizer, "sparse_categorical_crossentropy", jit_compile=JIT)
    model.fit(INPUTS, LABELS, epochs=2, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras", safe_mode=True)
    assert isinstance(loaded.optimizer, LayerwiseAdamW)
    assert loaded.optimizer.get_config() == model.optimizer.get_config()
    for one, other in zip(
        arrays(loaded.optimizer.variables), arrays(optimizer.variables), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    for one in (model, loaded):
        one.fit(INPUTS, LABELS, epochs=2, verbose=0)
    for one, other in zip(arrays(loaded.weights), arrays(model.weights), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_it_trains_in_mixed_float16(small_encoder):
    model = TextClassifier(small_encoder(dtype="mixed_float16"), 2)
    before = arrays(model.trainable_weights)
    optimizer = LayerwiseAdamW(0.01, layer_rates(model.encoder))
    scaled = keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=8.0)
    model.compile(scaled, "sparse_categorical_crossentropy")
    model.fit(INPUTS, LABELS, verbose=0)
    for weight, old in zip(model.trainable_weights, before, strict=True):
        if "block" in weight.path:
            assert (arrays([weight])[0] != old).any(), weight.path


def test_rates_of_another_model_are_refused():
    with pytest.raises(ValueError, match=r"such as \['low/kernel'.*Rec.*'bert/block"):
        LayerwiseAdamW(0.1, {"bert/block_0": 0.5, "lo": 0.1}).build(weights())


def test_a_negative_rate_is_refused():
    with pytest.raises(ValueError, match=r"`rates` must be 0 or more.*-1"):
        LayerwiseAdamW(0.1, {"low": -1})

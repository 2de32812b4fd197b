import keras
import numpy as np
import pytest
from contract import arrays
from encoders.test_every_encoder import (
    INPUTS,
    LABELS,
    changed,
    copies,
    hub,
    native,
    parts_of,
)

from bert_keras_layers import (
    GradualUnfreezing,
    LayerwiseAdamW,
    TextClassifier,
    WarmupLinearDecay,
    layer_rates,
)
from bert_keras_layers.training.fresh_optimizer import fresh_optimizer

# Only JAX: what is tested is what is traced, and XLA on TensorFlow takes long.
JIT = keras.backend.backend() == "jax"


class Watch(keras.callbacks.Callback):
    """Notes after each epoch which parts have moved, and the learning rates."""

    def __init__(self, encoder):
        super().__init__()
        self.encoder, self.moved, self.rates = encoder, [], []

    def on_epoch_begin(self, epoch, logs=None):
        self.before = {n: copies(part) for n, part in parts_of(self.encoder).items()}

    def on_epoch_end(self, epoch, logs=None):
        parts = parts_of(self.encoder).items()
        self.moved.append({n for n, part in parts if changed(part, self.before[n])})
        self.rates.append(float(self.model.optimizer.learning_rate))


def fitted(encoder, optimizer=None, parts=None, epochs=None, **options):
    inputs = encoder.inputs()
    outputs = keras.layers.Dense(2, activation="softmax")(
        encoder(inputs)["pooler_output"]
    )
    model = keras.Model(inputs, outputs)
    model.compile(
        optimizer or keras.optimizers.AdamW(0.01),
        "sparse_categorical_crossentropy",
        jit_compile=JIT,
    )
    watch = Watch(encoder)
    unfreezing = GradualUnfreezing(encoder, parts)
    model.fit(
        INPUTS,
        LABELS,
        epochs=epochs or encoder.num_layers + 2,
        callbacks=[unfreezing, watch],
        verbose=0,
        **options,
    )
    return model, watch


@pytest.mark.parametrize(
    "make", [native, pytest.param(hub, marks=pytest.mark.tensorflow)]
)
def test_each_epoch_really_trains_one_part_more(make):
    encoder = make()
    _, watch = fitted(encoder)
    blocks = [f"block_{i}" for i in reversed(range(encoder.num_layers))]
    order = ["pooler", *blocks, "embeddings"]
    assert watch.moved == [set(order[: epoch + 1]) for epoch in range(len(order))]


def test_given_numbers_and_the_last_one_stays(small_encoder):
    encoder = small_encoder()
    model, watch = fitted(encoder, parts=[0, 0, 2], epochs=4)
    two = {"pooler", "block_2", "block_1"}
    assert watch.moved == [{"pooler"}, {"pooler"}, two, two]
    assert not encoder.blocks[0].trainable
    assert len(model.optimizer.variables) == 2 + 2 * len(model.trainable_weights)


@pytest.mark.tensorflow  # JAX compiles each stage anew, which takes long.
def test_the_optimizer_stays_where_nothing_is_unfrozen(small_encoder):
    model, _ = fitted(small_encoder(), parts=[1, 1, 2, 2], epochs=4)
    # Of the last two epochs, one batch each.
    assert int(model.optimizer.iterations) == 2


@pytest.mark.tensorflow  # JAX compiles each stage anew, which takes long.
def test_training_can_be_taken_up_at_a_later_epoch(small_encoder):
    _, watch = fitted(small_encoder(), parts=[0, 1, 3], initial_epoch=1, epochs=2)
    assert watch.moved == [{"pooler", "block_2"}]


def test_a_schedule_goes_on_over_the_stages_and_in_a_file(small_encoder, tmp_path):
    schedule = WarmupLinearDecay(0.01, 8, 2)
    model, watch = fitted(small_encoder(), keras.optimizers.AdamW(schedule))
    expected = [float(schedule(step)) for step in range(1, 6)]
    np.testing.assert_allclose(watch.rates, expected, rtol=1e-6)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras", safe_mode=True)
    rate = float(loaded.optimizer.learning_rate)
    np.testing.assert_allclose(rate, expected[-1], rtol=1e-6)
    for one, other in zip(
        arrays(loaded.optimizer.variables),
        arrays(model.optimizer.variables),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.tensorflow  # JAX compiles each stage anew, which takes long.
def test_the_first_step_of_what_joins_is_as_long_as_any_first_step(small_encoder):
    encoder = small_encoder(dropout=0.0, attention_dropout=0.0)
    encoder.build()
    kernel = encoder.blocks[2].intermediate.kernel
    lengths = []

    class Lengths(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            self.before = arrays([kernel])[0]

        def on_epoch_end(self, epoch, logs=None):
            lengths.append(np.abs(arrays([kernel])[0] - self.before).max())

    model = TextClassifier(encoder, 2, layers=1)
    model.compile(keras.optimizers.Adam(1e-3), "sparse_categorical_crossentropy")
    model.fit(
        INPUTS,
        LABELS,
        epochs=31,
        callbacks=[GradualUnfreezing(model.encoder, [0] * 30 + [1]), Lengths()],
        verbose=0,
    )
    assert max(lengths[:30]) == 0
    np.testing.assert_allclose(lengths[30], 1e-3, rtol=0.01)


@pytest.mark.tensorflow  # JAX compiles each stage anew, which takes long.
def test_rates_and_exclusions_stay(small_encoder):
    encoder = small_encoder()
    rates = layer_rates(encoder)
    model, watch = fitted(encoder, LayerwiseAdamW(0.01, rates))
    assert isinstance(model.optimizer, LayerwiseAdamW)
    assert dict(model.optimizer.rates) == rates
    assert len(watch.moved[-1]) == 5

    adamw = keras.optimizers.AdamW(0.1, weight_decay=0.5)
    adamw.exclude_from_weight_decay(var_names=["bias"])
    scaled = fresh_optimizer(keras.optimizers.LossScaleOptimizer(adamw, 8.0))
    bias = keras.Variable(np.ones(2, "float32"), name="bias")
    kernel = keras.Variable(np.ones(2, "float32"), name="kernel")
    assert scaled.initial_scale == 8
    for optimizer in (scaled.inner_optimizer, fresh_optimizer(adamw)):
        before = arrays([bias, kernel])
        optimizer.apply([keras.ops.zeros(2)] * 2, [bias, kernel])
        assert [
            bool((one == other).all())
            for one, other in zip(arrays([bias, kernel]), before, strict=True)
        ] == [True, False]


def test_rates_of_an_encoder_whose_head_alone_is_trained(small_encoder, tmp_path):
    model = TextClassifier(small_encoder(), 2)
    rates = layer_rates(model.encoder)
    model.compile(
        LayerwiseAdamW(0.01, rates), "sparse_categorical_crossentropy", jit_compile=JIT
    )
    unfreezing = GradualUnfreezing(model.encoder, [0])
    model.fit(INPUTS, LABELS, callbacks=[unfreezing], verbose=0)
    model.save(tmp_path / "head.keras")
    loaded = keras.models.load_model(tmp_path / "head.keras")
    assert dict(loaded.optimizer.rates) == rates


def test_a_text_classifier_is_unfrozen(small_encoder):
    model = TextClassifier(small_encoder(), 2, layers=2)
    unfreezing = GradualUnfreezing(model.encoder, [0, 4])
    model.fit(INPUTS, LABELS, epochs=2, callbacks=[unfreezing], verbose=0)
    assert len(model.trainable_weights) == len(model.weights)


@pytest.mark.tensorflow
def test_blocks_that_share_weights_are_unfrozen_at_once():
    encoder = hub("hub_albert")
    _, watch = fitted(encoder, parts=[0, encoder.num_layers], epochs=2)
    assert "block_0" not in watch.moved[0]
    assert "block_0" in watch.moved[1]
    with pytest.raises(ValueError, match="share one set of weights"):
        fitted(encoder, parts=[1], epochs=1)


@pytest.mark.parametrize("parts", [[], [0, 5], [-1]])
def test_parts_out_of_range_are_named(parts, small_encoder):
    with pytest.raises(ValueError, match=r"`parts` must be numbers from 0 to 4, .*Rec"):
        GradualUnfreezing(small_encoder(), parts)

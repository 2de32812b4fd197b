import keras
import numpy as np
import pytest
from contract import arrays

from bert_keras_layers import WarmupLinearDecay


def test_the_rate_is_a_broken_line():
    schedule = WarmupLinearDecay(2e-5, 100, 10, end_learning_rate=1e-6)
    steps = np.arange(120)
    expected = np.interp(steps, [0, 10, 100], [0, 2e-5, 1e-6])
    received = np.ravel(arrays([schedule(step) for step in steps]))
    np.testing.assert_allclose(received, expected, rtol=1e-5, atol=1e-12)


def test_without_warm_up_the_first_step_has_the_full_rate():
    assert float(WarmupLinearDecay(0.5, 10)(0)) == 0.5


def test_without_warm_up_it_is_the_linear_decay_of_keras():
    ours = WarmupLinearDecay(0.5, 10, end_learning_rate=0.1)
    theirs = keras.optimizers.schedules.PolynomialDecay(0.5, 10, 0.1)
    for step in range(12):
        np.testing.assert_allclose(float(ours(step)), float(theirs(step)), rtol=1e-6)


@pytest.mark.one_backend
def test_the_cosine_of_the_docstring_peaks_after_warm_up():
    schedule = keras.optimizers.schedules.CosineDecay(
        0.0, 100 - 10, warmup_target=5e-5, warmup_steps=10
    )
    rates = [float(schedule(step)) for step in range(101)]
    assert np.argmax(rates) == 10
    np.testing.assert_allclose([rates[10], rates[100]], [5e-5, 0], atol=1e-9)


def test_config_round_trip():
    schedule = WarmupLinearDecay(0.5, 10, 2, 0.1)
    restored = keras.optimizers.schedules.deserialize(
        keras.optimizers.schedules.serialize(schedule)
    )
    assert restored.get_config() == schedule.get_config()


@pytest.mark.parametrize("warmup_steps", [-1, 10, 11])
def test_more_warm_up_than_steps_is_refused(warmup_steps):
    with pytest.raises(ValueError, match=f"warmup_steps={warmup_steps}, total_steps=1"):
        WarmupLinearDecay(0.5, 10, warmup_steps)

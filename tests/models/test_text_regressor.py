import keras
import numpy as np
import pytest

from bert_keras_layers import BertPreprocessor, TextRegressor

pytestmark = pytest.mark.one_backend

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film", "very", "a", "."]
TEXTS = ["good", "a very good film .", "bad", "a bad film", "very very bad", "good ."]
RATINGS = [1.0, 1.5, -1.0, -0.5, -1.5, 1.0]


@pytest.fixture
def regressor(small_encoder):
    """A function that makes a small regressor."""

    def make(**options):
        return TextRegressor(small_encoder(), BertPreprocessor(WORDS), **options)

    return make


@pytest.mark.parametrize("x", [TEXTS, (TEXTS, TEXTS[::-1])], ids=["texts", "pairs"])
def test_fit_learns_numbers(x, regressor):
    model = regressor(dropout=0.0, layers=[1])  # One block to compile.
    model.optimizer.learning_rate = 1e-2
    losses = model.fit(x, RATINGS, epochs=40, verbose=0).history["loss"]
    assert losses[-1] < losses[0] / 4
    values = model.predict(x, verbose=0)
    errors = values[:, 0] - RATINGS
    results = model.evaluate(x, RATINGS, verbose=0)
    np.testing.assert_allclose(
        results, [(errors**2).mean(), abs(errors).mean()], rtol=1e-4
    )


def test_the_output_is_linear_in_the_pooled_states(regressor):
    model = regressor(layers=[1, -1], pooling=["max", "cls"], num_outputs=2)
    ids = model.preprocessor(TEXTS)
    states = keras.ops.convert_to_numpy(
        keras.ops.concatenate(
            [model.encoder(ids)["hidden_states"][i] for i in (1, 3)], axis=-1
        )
    )
    highest = np.where(ids["attention_mask"][..., None] == 1, states, -np.inf).max(1)
    kernel, bias = model.head.get_weights()
    expected = np.concatenate([highest, states[:, 0]], -1) @ kernel + bias
    np.testing.assert_allclose(model.predict(TEXTS, verbose=0), expected, atol=1e-5)


def test_a_keras_file_is_complete(regressor, tmp_path):
    model = regressor(layers=[1], num_outputs=2, hidden_units=[5])
    model.fit(TEXTS, np.array([RATINGS, RATINGS]).T, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras", safe_mode=True)
    expected = model.predict(TEXTS, verbose=0)
    np.testing.assert_allclose(loaded.predict(TEXTS, verbose=0), expected, atol=1e-6)
    assert loaded.num_outputs == 2


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([1.0, None, 3.0], "finite numbers. Received: .nan. at index 1"),
        ([1.0, 2.0, np.inf], "finite numbers. Received: .inf. at index 2"),
        (["good", "bad", "bad"], "must be numbers"),
        (np.ones((3, 2)), r"shape \(texts, 1\)\. Received: shape \(3, 2\)"),
    ],
)
def test_wrong_targets_are_named(targets, message, regressor):
    with pytest.raises(ValueError, match=message):
        regressor().fit(TEXTS[:3], targets, verbose=0)


@pytest.mark.parametrize("num_outputs", [0, 1.5])
def test_a_wrong_number_of_outputs_is_named(num_outputs, regressor):
    with pytest.raises(ValueError, match=f"Received: num_outputs={num_outputs}"):
        regressor(num_outputs=num_outputs)

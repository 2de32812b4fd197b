import keras
import numpy as np
import pytest

from bert_keras_layers import BertPreprocessor, TextClassifier

pytestmark = pytest.mark.tensorflow

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad"]
TEXTS, NAMES = ["good", "bad", "bad bad", "good"], ["yes", "no", "no", "yes"]


class Traced(TextClassifier):
    """Counts how often its training step is traced."""

    times = 0

    def train_step(self, *arguments):
        self.times += 1
        return super().train_step(*arguments)


@pytest.fixture
def model(small_encoder):
    return Traced(small_encoder(), 2, BertPreprocessor(WORDS), layers=[0])


@pytest.mark.parametrize("metrics", [None, ["accuracy"]])
def test_the_step_is_traced_once(metrics, model):
    loss = "sparse_categorical_crossentropy"
    model.compile("adam", loss, metrics=metrics, weighted_metrics=metrics)
    model.fit(TEXTS, NAMES, epochs=2, sample_weight=np.ones(4), verbose=0)
    assert model.times == 1


def test_metrics_count_the_batches_of_the_epoch_alone(small_encoder):
    encoder = small_encoder(dropout=0.0, attention_dropout=0.0)
    preprocessor = BertPreprocessor(WORDS)
    model = TextClassifier(encoder, 2, preprocessor, layers=[0], dropout=0.0)
    model.compile(
        keras.optimizers.SGD(0.0),
        "sparse_categorical_crossentropy",
        metrics=["sparse_categorical_crossentropy"],
    )
    (history,) = zip(*model.fit(TEXTS, NAMES, verbose=0).history.values(), strict=True)
    np.testing.assert_allclose(history, model.evaluate(TEXTS, NAMES, verbose=0))


def test_callbacks_before_it_may_freeze_and_unfreeze(model):
    class Unfreeze(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            model.encoder.trainable = True

    model.encoder.trainable = False
    before = model.encoder.get_weights()[0]
    model.fit(TEXTS, NAMES, callbacks=Unfreeze(), verbose=0)
    assert (model.encoder.get_weights()[0] != before).any()


def test_a_callback_list_of_keras_is_called_too(model):
    callbacks = keras.callbacks.CallbackList(model=model, add_history=True)
    (history,) = callbacks.callbacks
    model.fit(TEXTS, NAMES, epochs=2, callbacks=callbacks, verbose=0)
    assert history.epoch == [0, 1]


def test_keras_creates_what_a_strategy_distributes(small_encoder):
    import tensorflow as tf

    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        preprocessor = BertPreprocessor(WORDS)
        model = TextClassifier(small_encoder(), 2, preprocessor, layers=[0])
    history = model.fit(TEXTS, NAMES, epochs=2, verbose=0)
    assert np.isfinite(history.history["loss"]).all()

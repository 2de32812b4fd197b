"""What Keras would create in its first training step, created before it."""

from typing import Any

import keras

from bert_keras_layers.models.text_batches import TextBatches


class StateBeforeTracing(keras.callbacks.Callback):
    """Creates the variables of the optimizer and of the metrics before a first step.

    TensorFlow traces a step twice if it creates variables, and tracing a BERT takes
    longer than its first steps. This must be the last callback, since those before
    it may still freeze and unfreeze.

    Args:
        batches: What the model is trained on.
    """

    def __init__(self, batches: TextBatches) -> None:
        super().__init__()
        self._batches = batches

    def on_train_batch_begin(
        self, batch: int, logs: dict[str, Any] | None = None
    ) -> None:
        """Creates them, unless the optimizer has its own: under a strategy, say."""
        model: Any = self.model
        if model.optimizer.built:
            return
        model.optimizer.build(model.trainable_variables)
        ids, targets, *weights = keras.tree.map_structure(
            lambda array: keras.ops.convert_to_tensor(array[:1]), self._batches[0]
        )
        model.compute_metrics(ids, targets, model(ids, training=False), *weights)
        model.reset_metrics()


def with_state_before_tracing(
    callbacks: Any, model: keras.Model, batches: TextBatches
) -> Any:
    """Returns the callbacks of `fit`, with that one last where steps are traced."""
    if keras.backend.backend() != "tensorflow" or model.run_eagerly:
        return callbacks
    return [*keras.tree.flatten(callbacks or ()), StateBeforeTracing(batches)]

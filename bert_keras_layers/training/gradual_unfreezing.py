"""GradualUnfreezing: trains the head first, then ever lower parts of the encoder."""

from collections.abc import Sequence
from typing import Any

import keras

from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.training.fresh_optimizer import fresh_optimizer


class GradualUnfreezing(keras.callbacks.Callback):
    """Callback that unfreezes an encoder from the top, some parts per epoch.

    What is not unfrozen yet is not differentiated either, so that the first epochs are
    faster. Where an epoch trains other parts than the one before, the training step is
    compiled anew and `model.optimizer` is replaced: its settings stay and its schedule
    goes on, its averages begin anew, for weights that join late would otherwise
    take far too large steps. After `fit`, the encoder stays as the last epoch had it.

    Args:
        encoder: The encoder of the model, such as `model.encoder`.
        parts: How many parts of the encoder to train in each epoch, from the top: the
            blocks, then the embeddings; the last number stays. By default one more
            each epoch: 0, 1, 2, ..., `num_layers + 1`. What is not a block or the
            embeddings, such as the pooler, is always trained.

    Raises:
        ValueError: If a number is below 0 or above `num_layers + 1`, or, at the
            start, the blocks share one set of weights and only some are to be trained.

    Example:
    >>> from bert_keras_layers import BertEncoder, GradualUnfreezing, TextClassifier
    >>> encoder = BertEncoder(
    ...     vocabulary_size=7, hidden_size=8, num_layers=3, num_heads=2,
    ...     intermediate_size=16)
    >>> model = TextClassifier(encoder, 2)
    >>> unfreezing = GradualUnfreezing(model.encoder, parts=[0, 2, 4])

    Reference:
        [Howard and Ruder, 2018](https://arxiv.org/abs/1801.06146).
    """

    def __init__(self, encoder: Encoder, parts: Sequence[int] | None = None) -> None:
        super().__init__()
        most = encoder.num_layers + 1
        self.encoder = encoder
        self.parts = list(range(most + 1) if parts is None else parts)
        if not self.parts or not all(0 <= number <= most for number in self.parts):
            raise ValueError(
                f"`parts` must be numbers from 0 to {most}, all blocks and the "
                f"embeddings. Received: parts={parts}"
            )
        self._trained: int | None = None

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Forgets what an earlier `fit` has unfrozen."""
        self._trained = None

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Unfreezes what this epoch is to train."""
        number = self.parts[min(epoch, len(self.parts) - 1)]
        if number == self._trained:
            return
        self._trained = number
        frozen_blocks = max(self.encoder.num_layers - number, 0)
        self.encoder.freeze(
            embeddings=number <= self.encoder.num_layers, blocks=frozen_blocks
        )
        model: Any = self.model
        optimizer = fresh_optimizer(model.optimizer)
        optimizer.build(model.trainable_variables)
        model.optimizer = optimizer
        # What `model.save` writes.
        model._compile_config.config["optimizer"] = optimizer
        model.make_train_function(force=True)

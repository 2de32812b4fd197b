"""TextRegressor: text or token ids -> numbers."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import keras
import numpy as np

from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.heads.dense_head import DenseHead
from bert_keras_layers.layers.pooling_choice import Pooling
from bert_keras_layers.models.feature_model import FeatureModel, Layers
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class TextRegressor(FeatureModel):
    """Predicts numbers from texts or pairs: ratings, prices, similarities.

    As `TextClassifier`, with a linear output. The model comes compiled with the
    mean squared error, the mean absolute error as a metric, and AdamW at learning
    rate 5e-5, or 1e-3 if the encoder is frozen. Targets of about unit size train
    best: divide them by their standard deviation if they are large.

    Args:
        encoder: `BertEncoder.from_pretrained(...)`, or another one of the library.
        preprocessor: As in `TextClassifier`, like all that follow.
        layers: Hidden states to concatenate, or a layer that joins them.
        pooling: A mode of `GlobalPooling` or several, or a pooling layer.
        hidden_units: Sizes of dense layers before the output.
        dropout: Share to drop before each dense layer when training, in `[0, 1)`.
        num_outputs: Numbers per text, at least 1.
        **kwargs: Arguments of `keras.Model`, such as `name`.

    Call arguments:
        inputs: Dict of ids as made by the preprocessor, `(batch, tokens)` each.

    Output shape:
        `(batch, num_outputs)`, float32.

    Raises:
        ValueError: If an argument is out of range or targets do not fit it.

    Example:
    >>> from bert_keras_layers import BertEncoder, BertPreprocessor, TextRegressor
    >>> words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film"]
    >>> encoder = BertEncoder(
    ...     vocabulary_size=7, hidden_size=8, num_layers=3, num_heads=2,
    ...     intermediate_size=16)
    >>> model = TextRegressor(encoder, BertPreprocessor(words), layers=2)
    >>> pairs = (["good film", "bad film"], ["good", "good"])
    >>> history = model.fit(pairs, [1.0, 0.2], verbose=0)
    >>> model.predict((["a good film"], ["film"]), verbose=0).shape
    (1, 1)
    """

    def __init__(
        self,
        encoder: Encoder,
        preprocessor: BertPreprocessor | None = None,
        layers: Layers = 4,
        pooling: Pooling = "mean",
        hidden_units: Sequence[int] = (),
        dropout: float = 0.1,
        num_outputs: int = 1,
        **kwargs: Any,
    ) -> None:
        if not isinstance(num_outputs, Integral) or num_outputs < 1:
            raise ValueError(
                "`num_outputs` must be a positive integer. "
                f"Received: num_outputs={num_outputs}"
            )
        head = DenseHead(
            int(num_outputs),
            hidden_units=hidden_units,
            dropout=dropout,
            dtype="float32",  # Half precision is too coarse for a loss.
            name="head",
        )
        super().__init__(encoder, preprocessor, layers, pooling, head, **kwargs)
        self.compile_defaults("mean_squared_error", ["mean_absolute_error"])

    def encode_targets(self, targets: Any, learn: bool = False) -> np.ndarray:
        """Returns targets as float32 `(texts, num_outputs)`.

        Args:
            targets: Numbers of that shape, or `(texts,)` if there is one output.
            learn: Not used.

        Raises:
            ValueError: If they have another shape or are not finite numbers.
        """
        try:
            numbers = np.asarray(targets, "float32")
        except (TypeError, ValueError):
            raise ValueError(
                "`y` must be numbers. Received: a sequence with something else in it"
            ) from None
        if numbers.ndim == 1 and self.num_outputs == 1:
            numbers = numbers[:, None]
        if numbers.ndim != 2 or numbers.shape[1] != self.num_outputs:
            raise ValueError(
                f"`y` must have the shape (texts, {self.num_outputs}). "
                f"Received: shape {numbers.shape}"
            )
        wrong = np.flatnonzero(~np.isfinite(numbers).all(-1))
        if wrong.size:
            raise ValueError(
                "`y` must be finite numbers. "
                f"Received: {numbers[wrong[0]].tolist()} at index {wrong[0]}"
            )
        return numbers

    @property
    def num_outputs(self) -> int:
        """Numbers per text."""
        return self.head.units

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "hidden_units": self.head.hidden_units,
            "dropout": self.head.dropout,
            "num_outputs": self.num_outputs,
        }

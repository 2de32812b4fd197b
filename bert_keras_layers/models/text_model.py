"""Text model: a `keras.Model` on token ids whose methods also take text."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import keras
import numpy as np

from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.models.compiled_step import current_step
from bert_keras_layers.models.model_of_parts import ModelOfParts
from bert_keras_layers.models.state_before_tracing import with_state_before_tracing
from bert_keras_layers.models.text_batches import TextBatches
from bert_keras_layers.models.text_inputs import TextInputs, text_inputs
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor
from bert_keras_layers.preprocessing.token_rows import TokenRows


class TextModel(ModelOfParts):
    """Base of models on token ids: texts are tokenised on the way in.

    `fit`, `evaluate` and `predict` are those of `keras.Model`. Where `x` is a
    sequence of texts, or a tuple of two such sequences for pairs, it goes through
    `preprocessor`, and each batch is padded to its own longest text.

    A subclass sets `encoder` and `preprocessor`, and overrides `encode_targets` to
    check targets or to turn names into numbers.
    """

    encoder: Encoder
    preprocessor: BertPreprocessor | None
    parts: ClassVar = {"encoder": "encoder", "preprocessor": "preprocessor"}
    kind_of_batches: type[TextBatches] = TextBatches

    def encode_targets(self, targets: Any, learn: bool = False) -> np.ndarray:
        """Returns the targets of texts as an array of what the loss takes.

        Args:
            targets: As given to `fit` or `evaluate`.
            learn: Whether these are the ones to train on, not others.
        """
        return np.asarray(targets)

    def encode_class_weight(self, weight: dict[Any, float]) -> dict[int, float]:
        """Returns weights by class number."""
        return weight

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: str | int = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        class_weight: dict[Any, float] | None = None,
        sample_weight: Any = None,
        **kwargs: Any,
    ) -> keras.callbacks.History:
        """Trains as `keras.Model.fit` does, on texts too.

        Args:
            x: Texts, a tuple of two sequences of texts, or what Keras takes.
            y: Targets; see `encode_targets` for those of texts.
            batch_size: Texts per batch, default 32.
            epochs: As in Keras, like all that follow.
            verbose: As in Keras.
            callbacks: As in Keras.
            validation_split: Share of the last texts to validate on, in `[0, 1)`.
            validation_data: Tuple `(x, y)` or `(x, y, sample_weight)`, or a dataset.
            shuffle: Whether to draw a new order of the texts before each epoch.
            class_weight: As in Keras, by class number or name.
            sample_weight: Array `(texts,)`.
            **kwargs: Further arguments of `keras.Model.fit`.
        """
        inputs = self._text_inputs(x)
        if inputs is not None:
            batches = self._batches(
                inputs,
                y,
                sample_weight,
                batch_size=batch_size,
                order="shuffled" if shuffle else "given",
                learn=True,
            )
            if validation_split and validation_data is None:
                batches, held_out_batches = batches.split(validation_split)
                validation_data = held_out_batches.for_backend()
            callbacks = with_state_before_tracing(callbacks, self, batches)
            x, y, sample_weight = batches.for_backend(), None, None
            validation_split = 0.0
        if isinstance(validation_data, tuple | list):
            held_out = self._text_inputs(validation_data[0])
            if held_out is not None:
                size = kwargs.pop("validation_batch_size", None) or batch_size
                targets, weight = (*validation_data[1:], None)[:2]
                validation_data = self._batches(
                    held_out, targets, weight, batch_size=size
                ).for_backend()
        if class_weight:
            class_weight = self.encode_class_weight(class_weight)
        return super().fit(
            x,
            y,
            batch_size=None if inputs is not None else batch_size,
            epochs=epochs,
            verbose=verbose,
            callbacks=callbacks,
            validation_split=validation_split,
            validation_data=validation_data,
            shuffle=shuffle and inputs is None,
            class_weight=class_weight,
            sample_weight=sample_weight,
            **kwargs,
        )

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: str | int = "auto",
        sample_weight: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Evaluates as `keras.Model.evaluate` does, on texts too; see `fit`."""
        inputs = self._text_inputs(x)
        if inputs is not None:
            batches = self._batches(inputs, y, sample_weight, batch_size=batch_size)
            x, y, sample_weight, batch_size = batches.for_backend(), None, None, None
        return super().evaluate(
            x,
            y,
            batch_size=batch_size,
            verbose=verbose,
            sample_weight=sample_weight,
            **kwargs,
        )

    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: str | int = "auto",
        **kwargs: Any,
    ) -> Any:
        """Predicts as `keras.Model.predict` does, on texts too.

        Texts are sorted by length first, so that little padding is computed, and
        go through a compiled step that is kept for the next call, which makes a
        short call several times faster. `**kwargs` are for other inputs only.

        Where there is an output per token, texts give a list with one array
        `(tokens, ...)` each, special tokens included and padding left out.
        """
        inputs = self._text_inputs(x)
        if inputs is None:
            return super().predict(x, batch_size, verbose, **kwargs)
        if kwargs:
            raise TypeError(
                "`predict` on texts takes `batch_size` and `verbose`. "
                f"Received also: {sorted(kwargs)}"
            )
        rows = self._encode(inputs)
        batches = self._batched(rows, (), batch_size, "longest_first")
        step = current_step(self)
        shows = int(bool(verbose) and len(batches) > 1)
        progress = keras.utils.Progbar(len(batches), verbose=shows)
        shape = self.output_shape[1:]
        per_token = None in shape
        predicted: Any = (
            [None] * len(rows)
            if per_token
            else np.zeros((len(rows), *shape), "float32")
        )
        for index in range(len(batches)):
            (ids,) = batches[index]
            outputs, chosen = step(ids), batches.chosen(index)
            if per_token:
                for text, kept in zip(
                    chosen, self._unpadded(outputs, ids), strict=True
                ):
                    predicted[text] = np.array(kept, "float32")  # No view of them all.
            else:
                predicted[chosen] = outputs
            progress.update(index + 1)
        return predicted

    def _text_inputs(self, x: Any) -> TextInputs | None:
        if isinstance(x, Mapping):  # A graph would not look at the ids.
            self.encoder.check_inputs(x)
        return text_inputs(x)

    def _encode(self, inputs: TextInputs) -> TokenRows:
        return self._require_preprocessor().encode(*inputs)

    def _targets(self, inputs: TextInputs, targets: Any, learn: bool) -> np.ndarray:
        return self.encode_targets(targets, learn)

    def _unpadded(
        self, outputs: np.ndarray, ids: Mapping[str, np.ndarray]
    ) -> list[np.ndarray]:
        """Returns what is to be kept of the outputs per token of each text."""
        lengths = ids["attention_mask"].sum(axis=1)
        return [row[:length] for row, length in zip(outputs, lengths, strict=True)]

    def _require_preprocessor(self) -> BertPreprocessor:
        if self.preprocessor is None:
            raise ValueError(
                "A model without a `preprocessor` takes token ids, not texts: "
                "construct it with one. Received: texts"
            )
        return self.preprocessor

    def _batches(
        self,
        inputs: TextInputs,
        targets: Any,
        sample_weight: Any = None,
        batch_size: int | None = None,
        order: str = "longest_first",
        learn: bool = False,
    ) -> TextBatches:
        rows = self._encode(inputs)
        if not len(rows):
            raise ValueError("There must be at least one text. Received: none")
        arrays = [self._targets(inputs, targets, learn)]
        if sample_weight is not None:
            arrays.append(np.asarray(sample_weight, "float32"))
        return self._batched(rows, arrays, batch_size, order)

    def _batched(
        self,
        rows: TokenRows,
        arrays: Sequence[np.ndarray],
        batch_size: int | None,
        order: str,
    ) -> TextBatches:
        size = 32 if batch_size is None else batch_size
        # XLA compiles anew for every length: keep to a few.
        multiple = 32 if self.jit_compile else 1
        preprocessor = self._require_preprocessor()
        return self.kind_of_batches(preprocessor, rows, arrays, size, order, multiple)

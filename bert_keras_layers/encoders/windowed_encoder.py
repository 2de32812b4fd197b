"""WindowedEncoder: texts longer than an encoder's positions, in overlapping windows."""

from collections.abc import Mapping
from typing import Any, Self

import keras

from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.encoders.windows import Windows
from bert_keras_layers.types import Tensor


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class WindowedEncoder(Encoder):
    """Gives every token of a long text its hidden states, computed in windows.

    Each window is `[CLS]`, a stretch of the text and `[SEP]`, as a text of its own;
    where windows overlap, a token has the states of the window in which it is farther
    from the edges. So any pooling, word layer, head or model works on long texts as
    it does on short ones. A text that fits one window has just the states that
    `encoder` gives it.

    A batch is computed in as many windows as its longest text needs.

    Args:
        encoder: Any of the library, without `intermediates`. Its weights are shared.
        window_length: Tokens of a window, `[CLS]` and `[SEP]` included, 3 to
            `encoder.max_positions`, which is the default.
        stride: Tokens from the start of a window to that of the next, 1 to
            `window_length - 2`; by default half of that. (Hugging Face's tokenizers
            call by this name what windows have in common.)
        max_positions: Longest text, in tokens.
        **kwargs: Arguments of `keras.layers.Layer`; `dtype` is that of `encoder`.

    Call arguments:
        inputs: As for `encoder`, `(batch, tokens)`, of single texts, padded at the
            end.
        training: Whether dropout is on.

    Output shape:
        As of `encoder`, `(batch, tokens, width)` per state. The state of the first
        token, `[CLS]`, and `pooler_output` are means over the windows of a text.

    Raises:
        ValueError: If an argument is out of range or the encoder has `intermediates`.

    Example:
    >>> import numpy as np
    >>> from bert_keras_layers import BertEncoder, WindowedEncoder
    >>> encoder = BertEncoder(
    ...     vocabulary_size=100, hidden_size=8, num_layers=2, num_heads=2,
    ...     intermediate_size=16, max_positions=16)
    >>> long = WindowedEncoder(encoder, stride=8, max_positions=1000)
    >>> outputs = long({"input_ids": np.ones((2, 300), "int32")})
    >>> tuple(outputs["last_hidden_state"].shape)
    (2, 300, 8)

    Reference:
        Windows and the choice between them: `run_squad.py` of
        [BERT](https://github.com/google-research/bert), `doc_stride`.
    """

    def __init__(
        self,
        encoder: Encoder,
        window_length: int | None = None,
        stride: int | None = None,
        max_positions: int = 4096,
        **kwargs: Any,
    ) -> None:
        if not isinstance(encoder, Encoder) or getattr(encoder, "intermediates", None):
            raise ValueError(
                "`encoder` must be an encoder of the library without `intermediates`. "
                f"Received: {encoder!r}"
            )
        if window_length is None:
            window_length = encoder.max_positions
        _check("window_length", window_length, 3, encoder.max_positions)
        if stride is None:
            stride = max(1, (window_length - 2) // 2)
        _check("stride", stride, 1, window_length - 2)
        _check("max_positions", max_positions, window_length)
        kwargs = {
            "trainable": encoder.trains,
            "dtype": encoder.dtype_policy,
            **kwargs,
        }
        sizes = encoder.sizes._replace(max_positions=max_positions)
        super().__init__(sizes, encoder.has_pooler, **kwargs)
        encoder.build()  # Here, so that its weights have one name, in files too.
        self.encoder = encoder
        self.window_length = window_length
        self.stride = stride

    @property
    def takes_pairs(self) -> bool:
        """False: a window holds one stretch of one text."""
        return False

    def build(self, input_shape: Any = None) -> None:
        self.embeddings = self.encoder.embeddings
        self.blocks = self.encoder.blocks
        self.pooler = self.encoder.pooler

    def encode(
        self, inputs: Mapping[str, Tensor], training: bool
    ) -> tuple[list[Tensor], Tensor, dict[str, list[Tensor]]]:
        tokens = inputs["input_ids"].shape[1]
        if tokens is not None and tokens <= self.window_length:
            return self.encoder.encode(inputs, training)
        windows = Windows(inputs, self.window_length, self.stride)
        states, pooled, inside = self.encoder.encode(windows.inputs, training)
        if pooled is not None:
            pooled = windows.mean(pooled)
        return [windows.merge(x) for x in states], pooled, inside

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "encoder": keras.saving.serialize_keras_object(self.encoder),
            "window_length": self.window_length,
            "stride": self.stride,
            "max_positions": self.max_positions,
        }

    @classmethod
    def _from_arguments(cls, arguments: dict[str, Any]) -> Self:
        encoder = arguments["encoder"]
        inner = {**encoder["config"], "dtype": arguments["dtype"]}
        encoder = keras.saving.deserialize_keras_object({**encoder, "config": inner})
        return cls(**{**arguments, "encoder": encoder})

    def _shortened(self, num_layers: int) -> Self:
        return type(self)(
            self.encoder.truncate(num_layers),
            self.window_length,
            self.stride,
            self.max_positions,
            name=self.name,
            trainable=self.trainable,
        )


def _check(name: str, value: int, lowest: int, highest: int | None = None) -> None:
    if type(value) is not int or not lowest <= value <= (highest or value):
        limit = f"at least {lowest}" if highest is None else f"{lowest} to {highest}"
        raise ValueError(
            f"`{name}` must be an integer, {limit}. Received: {name}={value!r}"
        )

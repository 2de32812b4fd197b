"""Windows: long rows of tokens -> overlapping short ones, and their states back."""

from collections.abc import Mapping

from keras import ops

from bert_keras_layers.types import Tensor


class Windows:
    """The windows of a batch, and for each token the window that it belongs to.

    Window w holds the first token of its text (`[CLS]`), the tokens from place
    `w * stride + 1` on, and the last token (`[SEP]`). Where windows overlap, a token
    belongs to the one in which it is farther from the edges.

    Args:
        inputs: As an encoder takes them, `(batch, tokens)`; padding comes last.
        length: Tokens of a window; shorter rows make one window of their length.
        stride: Tokens from the start of a window to that of the next, at most
            `length - 2`.
    """

    def __init__(self, inputs: Mapping[str, Tensor], length: int, stride: int) -> None:
        ids = inputs["input_ids"]
        self.batch, self.tokens = ops.shape(ids)
        # In a graph the number of tokens may be a tensor.
        shorter = min if isinstance(self.tokens, int) else ops.minimum
        self.length = shorter(length, self.tokens)
        self.stride = stride
        self.number = 1 + self._windows_after_first(self.tokens)
        keep = ops.ones_like(ids)
        if "attention_mask" in inputs:
            keep = ops.cast(inputs["attention_mask"], ids.dtype)
        places = _numbers(self.tokens)
        end = ops.max(ops.where(keep != 0, places, -1), axis=1)
        self._end = end[:, None]  # (batch, 1), the place of the last token.
        self._last = ops.maximum(0, self._windows_after_first(self._end + 1))
        self._used = _numbers(self.number) <= self._last  # (batch, windows)
        self.inputs = self._split({**inputs, "attention_mask": keep})

    def merge(self, states: Tensor) -> Tensor:
        """`(batch * windows, length, width)` -> `(batch, tokens, width)`.

        The first token of a text gets the mean of its states in all windows.
        """
        width = states.shape[-1]
        place = _numbers(self.tokens)[None, 1:]  # (1, tokens - 1)
        overlap = self.length - 2 - self.stride
        window = (2 * (place - 1) - overlap) // (2 * self.stride)
        window = ops.maximum(0, ops.minimum(window, self._last))
        # In the padding this would go on beyond the window.
        inside = ops.minimum(place - window * self.stride, self.length - 1)
        row = _numbers(self.batch)[:, None] * self.number + window
        flat = ops.reshape(states, (-1, width))
        rest = ops.take(flat, row * self.length + inside, axis=0)
        first = self.mean(states[:, 0])[:, None]  # (batch, 1, width)
        return ops.concatenate([first, rest], axis=1)

    def mean(self, vectors: Tensor) -> Tensor:
        """`(batch * windows, width)` -> `(batch, width)`, of each text's."""
        shape = (self.batch, self.number, vectors.shape[-1])
        stacked = ops.cast(ops.reshape(vectors, shape), "float32")
        used = ops.cast(self._used, "float32")[..., None]
        mean = ops.sum(stacked * used, axis=1) / ops.sum(used, axis=1)
        return ops.cast(mean, vectors.dtype)

    def _windows_after_first(self, tokens: Tensor) -> Tensor:
        """Returns how many more a text of so many tokens needs; may be negative."""
        return -((self.length - tokens) // self.stride)  # Rounded up.

    def _split(self, inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """`(batch, tokens)` -> `(batch * windows, length)`."""
        inside = _numbers(self.length)
        place = _numbers(self.number)[:, None] * self.stride + inside
        end = self._end[..., None]  # (batch, 1, 1)
        place = ops.where(inside == self.length - 1, ops.maximum(place, end), place)
        is_token = place <= end
        place = ops.where(inside == 0, 0, ops.minimum(place, self.tokens - 1))
        row = _numbers(self.batch)[:, None, None] * self.tokens
        split = {
            name: ops.take(ops.reshape(x, (-1,)), row + place, axis=0)
            for name, x in inputs.items()
        }
        mask = split["attention_mask"]
        split["attention_mask"] = mask * ops.cast(is_token, mask.dtype)
        shape = (self.batch * self.number, self.length)
        return {name: ops.reshape(x, shape) for name, x in split.items()}


def _numbers(stop: Tensor) -> Tensor:
    return ops.arange(stop, dtype="int32")

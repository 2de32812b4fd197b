"""Token layout: which rows of a flat (rows, width) matrix belong to one text."""

from keras import ops

from bert_keras_layers.types import Tensor


class PaddedLayout:
    """A batch of texts, padded to one length: row `b * tokens + t` is token t of b.

    Projections, LayerNorm and dropout work on the flat matrix and need not know
    where a text ends. Only attention does, and asks the layout.

    Args:
        batch: Texts in the batch.
        tokens: Tokens of each text, padding included.
        attention_mask: `(batch, tokens)`, zero marks padding; None: no padding.
        dtype: Floating dtype of the attention scores.
    """

    def __init__(
        self, batch: Tensor, tokens: Tensor, attention_mask: Tensor, dtype: str
    ) -> None:
        self.batch = batch
        self.tokens = tokens
        self.additive_mask = None
        if attention_mask is not None:
            keep = ops.cast(attention_mask, "bool")[:, None, None, :]
            # Not infinite: a text without a kept token must stay finite.
            lowest = -30_000.0 if dtype == "float16" else -1e9
            self.additive_mask = ops.cast(ops.where(keep, 0.0, lowest), dtype)

    def flatten(self, states: Tensor) -> Tensor:
        """`(batch, tokens, width)` -> `(batch * tokens, width)`."""
        return ops.reshape(states, (-1, states.shape[-1]))

    def unflatten(self, flat: Tensor) -> Tensor:
        """`(batch * tokens, width)` -> `(batch, tokens, width)`."""
        return ops.reshape(flat, (self.batch, self.tokens, flat.shape[-1]))

    def split_heads(self, flat: Tensor, parts: int, num_heads: int) -> Tensor:
        """`(rows, parts * width)` -> `(parts, batch, heads, tokens, size)`."""
        size = flat.shape[-1] // (parts * num_heads)
        shape = (self.batch, self.tokens, parts, num_heads, size)
        return ops.transpose(ops.reshape(flat, shape), (2, 0, 3, 1, 4))

    def merge_heads(self, heads: Tensor) -> Tensor:
        """`(batch, heads, tokens, size)` -> `(rows, heads * size)`."""
        width = heads.shape[1] * heads.shape[3]
        return ops.reshape(ops.transpose(heads, (0, 2, 1, 3)), (-1, width))

    def mask_scores(self, scores: Tensor) -> Tensor:
        """Adds the mask to `(batch, heads, queries, keys)`."""
        return scores if self.additive_mask is None else scores + self.additive_mask

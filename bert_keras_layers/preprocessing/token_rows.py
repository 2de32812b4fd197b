"""Token rows: ids of texts of different lengths, end to end in flat arrays."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

IntArray = np.ndarray[Any, np.dtype[np.int32]]


@dataclasses.dataclass(frozen=True, eq=False)
class TokenRows:
    """Token ids of texts, unpadded: row after row in two flat arrays.

    Rows can be picked and reordered (by length, say) before they are padded.

    Args:
        input_ids: int32 `(tokens of all rows,)`.
        token_type_ids: int32 `(tokens of all rows,)`; 1 in the second text of
            a pair and its `[SEP]`, else 0.
        lengths: int32 `(rows,)`, the tokens of each row, special ones included.
        word_ids: int32 `(tokens of all rows,)` where known: the number of the
            token's word in its row; -1 for special tokens.

    Example:
    >>> import numpy as np
    >>> from bert_keras_layers.preprocessing.token_rows import TokenRows
    >>> ids = np.array([2, 7, 3, 2, 3], "int32")
    >>> rows = TokenRows(ids, np.zeros_like(ids), np.array([3, 2], "int32"))
    >>> rows.take([1, 0]).input_ids
    array([2, 3, 2, 7, 3], dtype=int32)
    >>> rows.padded(pad_id=0, width=4)["input_ids"]
    array([[2, 7, 3, 0],
           [2, 3, 0, 0]], dtype=int32)
    """

    input_ids: IntArray
    token_type_ids: IntArray
    lengths: IntArray
    word_ids: IntArray | None = None

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def longest(self) -> int:
        """The width that holds every row, and as many words as any row has."""
        longest = int(self.lengths.max(initial=0))
        if self.word_ids is None:
            return longest
        return max(longest, int(self.word_ids.max(initial=-1)) + 1)

    def take(self, rows: Sequence[int] | np.ndarray[Any, Any]) -> "TokenRows":
        """Returns the given rows, in the given order."""
        picked = np.asarray(rows, "int64")
        lengths = self.lengths[picked]
        starts = (np.cumsum(self.lengths) - self.lengths)[picked]
        # Position of each token: the start of its row in the old arrays, plus its
        # place in the row.
        shift = starts - (np.cumsum(lengths) - lengths)
        where = np.repeat(shift, lengths) + np.arange(lengths.sum())
        return TokenRows(
            self.input_ids[where],
            self.token_type_ids[where],
            lengths,
            None if self.word_ids is None else self.word_ids[where],
        )

    def padded(self, pad_id: int, width: int) -> dict[str, IntArray]:
        """Returns `input_ids`, `attention_mask`, `token_type_ids`, `(rows, width)`.

        And `word_ids` where known, -1 in the padding.
        """
        mask = np.arange(width) < self.lengths[:, np.newaxis]  # (rows, width)
        input_ids = np.full(mask.shape, pad_id, "int32")
        input_ids[mask] = self.input_ids
        token_type_ids = np.zeros(mask.shape, "int32")
        token_type_ids[mask] = self.token_type_ids
        batch = {
            "input_ids": input_ids,
            "attention_mask": mask.astype("int32"),
            "token_type_ids": token_type_ids,
        }
        if self.word_ids is not None:
            batch["word_ids"] = np.full(mask.shape, -1, "int32")
            batch["word_ids"][mask] = self.word_ids
        return batch

"""Batching parameters: how a server joins the requests of many users."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

from bert_keras_layers.serving.warm_up import BATCH_SIZES


@dataclass(frozen=True)
class BatchingParameters:
    """How TF Serving joins requests into batches, for all models of a server.

    `pad_variable_length_inputs` cannot be set: it pads ids with the first id, `[CLS]`,
    and masks with the first mask, which is one. Serve texts, or ids of fixed length.

    Args:
        allowed_batch_sizes: Sizes in ascending order; a batch is filled up with rows
            that are thrown away to the next of them. A request of more rows than the
            last, the `max_batch_size`, is refused.
        batch_timeout_micros: How long the first request of a batch waits for others,
            in microseconds; 0 for not at all.
        max_enqueued_batches: How many batches may wait; then requests are refused,
            which tells a load balancer to look elsewhere.
        num_batch_threads: How many batches run at the same time.

    Raises:
        ValueError: If the sizes do not ascend, or a number is too small.

    Example:
    >>> from bert_keras_layers import BatchingParameters
    >>> print(BatchingParameters([1, 16], num_batch_threads=2).text(), end="")
    max_batch_size { value: 16 }
    batch_timeout_micros { value: 5000 }
    max_enqueued_batches { value: 100 }
    num_batch_threads { value: 2 }
    allowed_batch_sizes: 1
    allowed_batch_sizes: 16
    """

    allowed_batch_sizes: Sequence[int] = BATCH_SIZES
    batch_timeout_micros: int = 5_000
    max_enqueued_batches: int = 100
    num_batch_threads: int = 4

    def __post_init__(self) -> None:
        sizes = list(self.allowed_batch_sizes)
        whole = all(isinstance(size, int) for size in sizes)
        if not sizes or not whole or sizes[0] < 1 or sizes != sorted(set(sizes)):
            raise ValueError(
                "`allowed_batch_sizes` must be whole numbers that ascend from at least "
                "1. "
                f"Received: {self.allowed_batch_sizes!r}"
            )
        for field in fields(self)[1:]:
            least = 0 if field.name == "batch_timeout_micros" else 1
            value = getattr(self, field.name)
            if not isinstance(value, int) or value < least:
                raise ValueError(
                    f"`{field.name}` must be a whole number of at least {least}. "
                    f"Received: {value!r}"
                )

    def text(self) -> str:
        """Returns the message `BatchingParameters` of TF Serving as text."""
        values = {
            "max_batch_size": self.allowed_batch_sizes[-1],
            "batch_timeout_micros": self.batch_timeout_micros,
            "max_enqueued_batches": self.max_enqueued_batches,
            "num_batch_threads": self.num_batch_threads,
        }
        lines = [f"{name} {{ value: {value} }}" for name, value in values.items()]
        lines += [f"allowed_batch_sizes: {size}" for size in self.allowed_batch_sizes]
        return "\n".join(lines) + "\n"

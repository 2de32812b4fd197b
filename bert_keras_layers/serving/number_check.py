"""Number check: are numbers those of the live model, within a tolerance?"""

import numpy as np


def difference_of_numbers(
    received: np.ndarray, expected: np.ndarray, tolerance: float
) -> str | None:
    """Returns what is wrong with numbers, to end a sentence with, or None.

    Args:
        received: Numbers of any shape.
        expected: Numbers of the same shape.
        tolerance: Largest difference, as a share of the largest number expected, or
            of 1 if that is larger.

    Example:
    >>> import numpy as np
    >>> from bert_keras_layers.serving.number_check import difference_of_numbers
    >>> difference_of_numbers(np.array([1.0]), np.array([3.0]), tolerance=0.5)
    'within 1.5. Received: a difference of 2.0'
    """
    limit = tolerance * max(1.0, float(np.max(np.abs(expected), initial=0)))
    largest = float(np.max(np.abs(received - expected), initial=0))
    # Written so that a NaN fails too.
    if largest <= limit:
        return None
    return f"within {limit}. Received: a difference of {largest}"

"""Interleaved timing: every contender once a round, medians over the rounds."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def median_seconds(
    contenders: Mapping[str, Callable[[], Any]], rounds: int
) -> dict[str, float]:
    """Returns the median time of a call of each contender, after two warm-up calls.

    Args:
        contenders: Functions without arguments, under their names.
        rounds: How often each is called; in turns, so that a slow moment of the
            machine meets all of them.
    """
    for call in contenders.values():
        call()
        call()
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            start = time.perf_counter()
            call()
            seconds[name].append(time.perf_counter() - start)
    return {name: float(np.median(times)) for name, times in seconds.items()}

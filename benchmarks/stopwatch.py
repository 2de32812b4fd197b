"""Interleaved timing: every contender in turn, medians over the rounds."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def median_seconds(
    contenders: Mapping[str, Callable[[], Any]], rounds: int, calls: int = 1
) -> dict[str, float]:
    """Returns the median time of a call of each contender, after two warm-up calls.

    Args:
        contenders: Functions without arguments, under their names.
        rounds: How often each has its turn, so that a slow moment of the machine
            meets all of them.
        calls: Calls in a turn. If several, one more before does not count: it finds
            the caches as the contender before has left them, which for a call of a
            few milliseconds is a good part of its time.
    """
    for call in contenders.values():
        call()
        call()
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            if calls > 1:
                call()
            for _ in range(calls):
                start = time.perf_counter()
                call()
                seconds[name].append(time.perf_counter() - start)
    return {name: float(np.median(times)) for name, times in seconds.items()}

"""Texts of different lengths for property tests: hidden states and their masks."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def ragged_texts(draw, num_states=None):
    """Draws hidden states `(batch, tokens, 3)` and boolean masks `(batch, tokens)`.

    Masks have holes and padding on both sides, and rows where nothing is kept.

    Args:
        num_states: None for one array of hidden states, or the length of a list.
    """
    # Few shapes: JAX compiles for each.
    texts, tokens = draw(st.sampled_from([(3, 4), (2, 1)]))
    row = st.lists(st.booleans(), min_size=tokens, max_size=tokens)
    mask = np.array(draw(st.lists(row, min_size=texts, max_size=texts)))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    states = [
        rng.normal(size=(*mask.shape, 3)).astype("float32")
        for _ in range(num_states or 1)
    ]
    return (states if num_states else states[0]), mask

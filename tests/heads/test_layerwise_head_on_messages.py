"""What heads on frozen real hidden states know of the intents of messages."""

import importlib.util
import pathlib

import pytest

SCRIPT = pathlib.Path(__file__).parents[2] / "demo" / "layerwise_head.py"


@pytest.mark.tensorflow  # Where the README measures it; JAX takes a minute.
def test_all_layers_know_at_least_as_much_as_the_best_one():
    spec = importlib.util.spec_from_file_location("layerwise_head_demo", SCRIPT)
    demo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(demo)
    runs, _ = demo.accuracies(*demo.pooled_states())
    assert len(runs) == 5
    heads = demo.table(runs)
    combined, _ = heads.pop(demo.COMBINED)
    assert list(heads) == [f"layer_{index}" for index in range(7)]
    best, error = max(heads.values())
    assert combined >= best - error, (combined, heads)

import collections

import numpy as np
import pytest

from bert_keras_layers.cli.table_file import LabelledTexts
from bert_keras_layers.cli.training import _split, parse_layers


def test_each_label_is_split_in_the_same_share():
    labels = ["a"] * 20 + ["b"] * 10 + ["rare"]
    table = LabelledTexts([f"text {i}" for i in range(31)], labels)
    for seed in range(20):
        np.random.seed(seed)
        train, test = _split(table, 0.2)
        assert collections.Counter(test.labels) == {"a": 4, "b": 2}
        assert collections.Counter(train.labels) == {"a": 16, "b": 8, "rare": 1}
        assert sorted([*train.texts, *test.texts]) == sorted(table.texts)
        pairs = {*zip(*train, strict=True), *zip(*test, strict=True)}
        assert pairs == set(zip(*table, strict=True))


@pytest.mark.parametrize(
    ("text", "layers"),
    [("all", None), ("4", 4), ("-1", [-1]), ("0,-1", [0, -1]), ("0,", [0])],
)
def test_layers_on_a_command_line(text, layers):
    assert parse_layers(text) == layers

import pytest

from bert_keras_layers import choose_layers


@pytest.mark.parametrize(
    ("layers", "expected"),
    [
        (None, [0, 1, 2, 3, 4]),
        (1, [4]),
        (4, [1, 2, 3, 4]),
        (5, [0, 1, 2, 3, 4]),
        ([0], [0]),
        ([3, 0, -1], [3, 0, 4]),
        ((-5,), [0]),
        ([2, 2], [2, 2]),
    ],
)
def test_one_rule_for_all_ways_to_choose(layers, expected):
    assert choose_layers(layers, 5) == expected


@pytest.mark.parametrize("layers", ["2", [1.0], 2.5, [[1]]])
def test_what_is_no_integer_is_named(layers):
    with pytest.raises(ValueError, match="must be None, an integer, or a sequence of"):
        choose_layers(layers, 5)


@pytest.mark.parametrize("layers", [0, -1, 6])
def test_a_number_of_layers_out_of_range_is_named(layers):
    with pytest.raises(ValueError, match=rf"must be 1 to 5.*layers={layers}"):
        choose_layers(layers, 5)


@pytest.mark.parametrize("layers", [[5], [-6], [0, 9], []])
def test_a_layer_out_of_range_is_named(layers):
    with pytest.raises(ValueError, match=r"from -5 to 4 \(0 is the embedding output\)"):
        choose_layers(layers, 5)

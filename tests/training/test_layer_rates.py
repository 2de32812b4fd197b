import keras
import pytest
from encoders.test_every_encoder import every_encoder, hub

from bert_keras_layers import TextClassifier, layer_rates


@every_encoder
def test_each_part_learns_slower_than_the_one_above(make):
    encoder = make()
    rates = layer_rates(encoder, decay=0.5)
    parts = [encoder.pooler, *reversed(encoder.blocks), encoder.embeddings]
    expected = [1.0, *(0.5**depth for depth in range(encoder.num_layers + 1))]
    assert list(rates.values()) == expected
    for path, part in zip(rates, parts, strict=True):
        inside = {w.path for w in encoder.weights if w.path.startswith(f"{path}/")}
        assert inside == {w.path for w in part.weights}


@pytest.mark.tensorflow
def test_shared_blocks_learn_as_the_highest():
    encoder = hub("hub_albert")
    rates = layer_rates(encoder, decay=0.5)
    assert sorted(rates.values()) == [0.5**encoder.num_layers, 1.0, 1.0]


def test_the_highest_block_in_use_learns_at_the_full_rate(small_encoder):
    model = TextClassifier(small_encoder(name="bert"), 2, layers=[1, 2])
    assert layer_rates(model.encoder, decay=0.5) == {
        "bert/block_1": 1.0,
        "bert/block_0": 0.5,
        "bert/embeddings": 0.25,
    }


@pytest.mark.parametrize("decay", [0, -0.1, 1.5])
def test_a_decay_out_of_range_is_named(decay, small_encoder):
    with pytest.raises(ValueError, match=f"`decay` must be .*decay={decay}"):
        layer_rates(small_encoder(), decay)


def test_rates_make_json(small_encoder):
    rates = layer_rates(small_encoder())
    assert (
        keras.saving.deserialize_keras_object(
            keras.saving.serialize_keras_object(rates)
        )
        == rates
    )

import keras
import numpy as np
import pytest
from conftest import SMALL
from contract import arrays, assert_close, check_layer
from encoders.test_every_encoder import INPUTS, LABELS, hub, wrapped

from bert_keras_layers import BertEncoder, TextClassifier

PROJECTIONS = [
    "query_key_value",
    "attention_output",
    "intermediate",
    "output_projection",
]
STILL = {"dropout": 0.0, "attention_dropout": 0.0, "name": "bert"}


def states(encoder):
    return encoder(INPUTS)["hidden_states"]


def trained(small_encoder, **lora):
    """An encoder with LoRA in a model, and the model after some steps."""
    encoder = small_encoder(**STILL)
    encoder.enable_lora(**{"rank": 2, **lora})
    model = TextClassifier(encoder, 2, dropout=0.0)
    model.compile(keras.optimizers.Adam(0.05), "sparse_categorical_crossentropy")
    model.fit(INPUTS, LABELS, epochs=3, verbose=0)
    return encoder, model


def names(variables):
    return {variable.path.rsplit("/", 1)[-1] for variable in variables}


def test_contract(small_encoder, tmp_path, monkeypatch):
    # The contract trains every weight that says it is trainable.
    encoder = small_encoder(name="encoder")
    encoder.enable_lora(2)
    for block in encoder.blocks:  # With B = 0 no gradient reaches A.
        factor = block.query_key_value.lora_kernel_b
        factor.assign(np.random.default_rng(0).normal(size=factor.shape))
    import contract

    # A layer remade from its config starts at B = 0.
    monkeypatch.setattr(contract, "check_with_keras", lambda *_: None)
    check_layer(encoder, INPUTS, tmp_path)


def test_enabling_it_changes_no_number(small_encoder):
    encoder = small_encoder(**STILL)
    before = arrays(encoder(INPUTS))
    encoder.enable_lora(2, projections=PROJECTIONS)
    assert_close(encoder(INPUTS), before)


@pytest.mark.parametrize("projections", [PROJECTIONS[:1], PROJECTIONS])
def test_only_the_factors_of_the_projections_are_trained(projections, small_encoder):
    encoder, _ = trained(small_encoder, projections=projections)
    assert names(encoder.trainable_weights) == {"lora_kernel_a", "lora_kernel_b"}
    assert len(encoder.trainable_weights) == 2 * len(projections) * 3
    for block in encoder.blocks:
        for name in PROJECTIONS:
            layer = getattr(block, name)
            assert layer.lora_enabled == (name in projections)
            if layer.lora_enabled:
                assert (arrays([layer.lora_kernel_b])[0] != 0).any()


def test_nothing_else_moves(small_encoder):
    encoder = small_encoder(**STILL)
    encoder.enable_lora(2, projections=PROJECTIONS)
    before = {
        w.path: array
        for w, array in zip(encoder.weights, arrays(encoder.weights), strict=True)
    }
    model = TextClassifier(encoder, 2)
    model.compile(keras.optimizers.AdamW(0.05), "sparse_categorical_crossentropy")
    model.fit(INPUTS, LABELS, epochs=2, verbose=0)
    for weight in model.encoder.weights:
        moved = (arrays([weight])[0] != before[weight.path]).any()
        assert moved == ("lora_kernel" in weight.path), weight.path


def test_the_factors_are_scaled_by_alpha_over_rank(small_encoder):
    encoder, _ = trained(small_encoder, rank=2, alpha=6)
    layer = encoder.blocks[0].query_key_value
    kernel, a, b, merged = arrays(
        [layer._kernel, layer.lora_kernel_a, layer.lora_kernel_b, layer.kernel]
    )
    np.testing.assert_allclose(merged, kernel + 3 * a @ b, rtol=1e-5, atol=1e-6)


def test_a_file_keeps_the_factors_and_training_goes_on(small_encoder, tmp_path):
    _, model = trained(small_encoder, alpha=3, projections=PROJECTIONS[:2])
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras", safe_mode=True)
    assert loaded.encoder.get_config() == model.encoder.get_config()
    assert names(loaded.encoder.trainable_weights) == {"lora_kernel_a", "lora_kernel_b"}
    for one, other in zip(loaded.weights, model.weights, strict=True):
        assert one.trainable == other.trainable
        np.testing.assert_array_equal(*arrays([one, other]))
    for one in (model, loaded):
        one.fit(INPUTS, LABELS, epochs=3, verbose=0)
    for one, other in zip(arrays(loaded.weights), arrays(model.weights), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_weights_from_before_can_be_loaded_and_trained(small_encoder, tmp_path):
    def model_of(encoder):
        inputs = encoder.inputs()
        return keras.Model(inputs, encoder(inputs)["last_hidden_state"])

    plain = model_of(small_encoder(**STILL))
    plain.save_weights(tmp_path / "plain.weights.h5")
    encoder, _ = trained(small_encoder)
    model = model_of(encoder)
    model.load_weights(tmp_path / "plain.weights.h5")
    assert_close(model(INPUTS), arrays(plain(INPUTS)))
    layer = encoder.blocks[0].query_key_value
    assert (arrays([layer.lora_kernel_a])[0] != 0).any()
    model.save_weights(tmp_path / "lora.weights.h5")
    with pytest.raises(ValueError, match="LoraDense name=query_key_value"):
        plain.load_weights(tmp_path / "lora.weights.h5")


def test_merging_changes_no_number_and_leaves_a_plain_encoder(small_encoder, tmp_path):
    encoder, model = trained(small_encoder, projections=PROJECTIONS, alpha=5)
    expected = arrays(states(encoder))
    predicted = model.predict_on_batch(INPUTS)
    with pytest.raises(ValueError, match=r"call `merge_lora\(\)` before"):
        encoder.save_pretrained(tmp_path / "early")
    encoder.merge_lora()
    plain = small_encoder(**STILL)
    plain.build()
    assert len(encoder.trainable_weights) == len(encoder.weights) == len(plain.weights)
    assert [w.path for w in encoder.weights] == [w.path for w in plain.weights]
    assert encoder.get_config()["lora"] is None
    for received in (states(encoder), states(_reloaded(encoder, tmp_path))):
        for one, other in zip(arrays(received), expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    # Also in what was compiled before.
    np.testing.assert_allclose(
        *arrays([model.predict_on_batch(INPUTS), predicted]), rtol=1e-4, atol=1e-5
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(INPUTS, LABELS, verbose=0)


def _reloaded(encoder, tmp_path):
    encoder.save_pretrained(tmp_path / "merged")
    return BertEncoder.from_pretrained(tmp_path / "merged")


def test_freezing_decides_on_the_factors_only(small_encoder):
    encoder = small_encoder()
    encoder.enable_lora(2)
    encoder.freeze(blocks=2)
    factors = encoder.blocks[2].query_key_value
    trainable = {w.path for w in encoder.blocks[2].trainable_weights}
    assert trainable == {factors.lora_kernel_a.path, factors.lora_kernel_b.path}
    assert encoder.blocks[1].trainable_weights == []
    encoder.trainable = False
    assert encoder.trainable_weights == []
    encoder.trainable = True
    assert names(encoder.blocks[0].trainable_weights) == {
        "lora_kernel_a",
        "lora_kernel_b",
    }


def test_a_frozen_encoder_with_factors_is_loaded_frozen(small_encoder):
    encoder = small_encoder()
    encoder.enable_lora(2)
    encoder.trainable = False
    loaded = BertEncoder.from_config(encoder.get_config())
    assert loaded.trainable_weights == []
    assert loaded.blocks[0].lora == encoder.blocks[0].lora


def test_a_shorter_encoder_shares_the_factors(small_encoder):
    encoder = small_encoder()
    encoder.enable_lora(2)
    shorter = encoder.truncate(2)
    assert shorter.get_config()["lora"] == encoder.get_config()["lora"]
    assert [id(w) for w in shorter.trainable_weights] == [
        id(w) for w in encoder.trainable_weights[:4]
    ]
    assert len(shorter.weights) == 5 + 2 * 14


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rank": 0}, "`rank` must be an integer, at least 1.*rank=0"),
        ({"rank": 2.5}, r"`rank` must be an integer.*rank=2\.5"),
        ({"projections": ["query"]}, r"names among \['query_key_value'.*\['query'\]"),
        ({"projections": []}, r"`projections` must be names.*=\[\]"),
    ],
)
def test_arguments_out_of_range_are_named(arguments, message, small_encoder):
    with pytest.raises(ValueError, match=message):
        small_encoder().enable_lora(**arguments)


def test_it_is_enabled_once_and_merged_once(small_encoder):
    encoder = small_encoder()
    with pytest.raises(ValueError, match=r"must be LoRA factors.*without any"):
        encoder.merge_lora()
    encoder.enable_lora(2)
    with pytest.raises(ValueError, match=r"enabled once.*3 blocks, with LoRA"):
        encoder.enable_lora(2)
    with pytest.raises(ValueError, match=r"with blocks.*an encoder of 0 blocks$"):
        BertEncoder(**{**SMALL, "num_layers": 0}).enable_lora()


@pytest.mark.tensorflow
@pytest.mark.parametrize("make", [wrapped, hub])
def test_a_wrapped_encoder_names_the_native_one(make):
    with pytest.raises(NotImplementedError, match=r"to_native\(\)\.enable_lora.*Enc"):
        make().enable_lora(4)

"""The table of what each source can and cannot do is what it does."""

import pathlib

import keras
import pytest
from conftest import SMALL
from encoders.test_every_encoder import (
    INPUTS,
    changed,
    copies,
    hub,
    take_one_step,
)
from encoders.test_transformers_encoder import config_of

from bert_keras_layers import BertEncoder, HubEncoder, TransformersEncoder

pytestmark = pytest.mark.tensorflow
PAGE = pathlib.Path(__file__).parents[2] / "docs" / "sources.md"


def transformers(family):
    return lambda **kwargs: TransformersEncoder(config_of(family), **kwargs)


def saved_model(name):
    def make(**kwargs):
        model = hub(name)._foreign().model
        return HubEncoder(model, **kwargs)

    return make


SOURCES = {
    "`BertEncoder`": lambda **kwargs: BertEncoder(**SMALL, **kwargs),
    "`TransformersEncoder`: BERT": transformers("bert"),
    "`TransformersEncoder`: RoBERTa": transformers("roberta"),
    "`TransformersEncoder`: ELECTRA": transformers("electra"),
    "`TransformersEncoder`: DistilBERT": transformers("distilbert"),
    "`TransformersEncoder`: ALBERT": transformers("albert"),
    "`HubEncoder`: BERT, v1 to v4": saved_model("hub_encoder_v2"),
    "`HubEncoder`: ELECTRA, narrow embeddings": saved_model("hub_electra"),
    "`HubEncoder`: ALBERT": saved_model("hub_albert"),
    "`HubEncoder`: MobileBERT": saved_model("hub_mobilebert"),
}


def all_states(encoder, make, tmp_path):
    return len(encoder(INPUTS)["hidden_states"]) == encoder.num_layers + 1


def pooler_output(encoder, make, tmp_path):
    return "pooler_output" in encoder(INPUTS)


def trains(encoder, make, tmp_path):
    before = copies(encoder.blocks[0])
    take_one_step(on_last_state(encoder), keras.optimizers.Adam(0.01))
    return changed(encoder.blocks[0], before)


def freezes_single_blocks(encoder, make, tmp_path):
    encoder.freeze(blocks=1)
    encoder.freeze()
    return True


def mixed_precision(_, make, tmp_path):
    encoder = make(dtype="mixed_bfloat16")
    return encoder(INPUTS)["last_hidden_state"].dtype.name == "bfloat16"


def keras_file(encoder, make, tmp_path):
    on_last_state(encoder).save(tmp_path / "model.keras")
    keras.models.load_model(tmp_path / "model.keras", safe_mode=True)
    return True


def export(encoder, make, tmp_path):
    on_last_state(encoder).export(tmp_path / "export", verbose=False)
    return True


def to_native(encoder, make, tmp_path):
    (encoder.to_native if hasattr(encoder, "to_native") else encoder.build)()
    return True


def other_backends(encoder, make, tmp_path):
    return not hasattr(encoder, "to_native")


COLUMNS = {
    "all states": all_states,
    "pooler": pooler_output,
    "trains": trains,
    "freezes single blocks": freezes_single_blocks,
    "half precision": mixed_precision,
    "`.keras`": keras_file,
    "export": export,
    "native weights": to_native,
    "JAX, torch": other_backends,
}


def on_last_state(encoder):
    encoder = encoder.truncate(1)  # Of one block, and without the pooler.
    inputs = encoder.inputs()
    state = encoder(inputs)["last_hidden_state"][:, 0]
    return keras.Model(inputs, keras.layers.Dense(2, activation="softmax")(state))


def answer(question, *given):
    try:
        return "yes" if question(*given) else "no"
    except ValueError:  # Refused with a sentence, tested where it is raised.
        return "no"


def table(tmp_path):
    lines = [f"| | {' | '.join(COLUMNS)} |", f"| --- |{' --- |' * len(COLUMNS)}"]
    for number, (source, make) in enumerate(SOURCES.items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        encoder = make()
        encoder.build()
        answers = [
            answer(question, encoder, make, folder) for question in COLUMNS.values()
        ]
        lines.append(f"| {source} | {' | '.join(answers)} |")
    return "\n".join(lines)


def test_the_table_of_sources_is_true(tmp_path):
    assert table(tmp_path) in PAGE.read_text(encoding="utf-8")

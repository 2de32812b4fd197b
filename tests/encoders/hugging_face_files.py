"""Hugging Face folders with random weights, and TFBertModel as the reference."""

import json

import numpy as np
from safetensors.numpy import load_file, save_file

CONFIG = {
    "model_type": "bert",
    "vocab_size": 30,
    "hidden_size": 8,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "intermediate_size": 16,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "attention_probs_dropout_prob": 0.1,
    "max_position_embeddings": 20,
    "type_vocab_size": 2,
    "layer_norm_eps": 1e-12,
}


def random_weights(config):
    """Returns arrays under the names of transformers' `BertModel`."""
    width, inner = config["hidden_size"], config["intermediate_size"]
    embeddings = {"word": "vocab_size", "position": "max_position_embeddings"}
    embeddings["token_type"] = "type_vocab_size"
    shapes = {
        f"embeddings.{name}_embeddings.weight": (config[rows], width)
        for name, rows in embeddings.items()
    }
    linears = {"pooler.dense": (width, width)}
    norms = ["embeddings.LayerNorm"]
    for i in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{i}"
        for part in ("query", "key", "value"):
            linears[f"{layer}.attention.self.{part}"] = (width, width)
        linears[f"{layer}.attention.output.dense"] = (width, width)
        linears[f"{layer}.intermediate.dense"] = (inner, width)
        linears[f"{layer}.output.dense"] = (width, inner)
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    for name, shape in linears.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    for name in norms:
        shapes |= {f"{name}.weight": (width,), f"{name}.bias": (width,)}
    rng = np.random.default_rng(0)
    return {
        name: rng.normal(scale=0.5, size=shape).astype("float32")
        for name, shape in shapes.items()
    }


def write_folder(folder, config=CONFIG, weights=None):
    """Writes `config.json` and `model.safetensors`; returns the folder."""
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file(weights or random_weights(config), folder / "model.safetensors")
    return folder


def tf_bert(folder):
    """Returns a TFBertModel with the weights of a folder, by transformers' loader."""
    from transformers import BertConfig, TFBertModel
    from transformers.modeling_tf_pytorch_utils import (
        load_pytorch_state_dict_in_tf2_model,
    )

    # `from_pretrained` cannot read torch-format safetensors any more.
    model = TFBertModel(BertConfig.from_pretrained(folder))
    model.build_in_name_scope()
    _, report = load_pytorch_state_dict_in_tf2_model(
        model,
        load_file(folder / "model.safetensors"),
        tf_inputs=False,
        allow_missing_keys=True,
        output_loading_info=True,
    )
    assert not report["missing_keys"]
    assert not report["mismatched_keys"]
    return model

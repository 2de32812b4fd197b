"""TF1 checkpoints: `bert_config.json` and `bert_model.ckpt` of google-research/bert."""

import os
import pathlib
from typing import Any

import numpy as np

from bert_keras_layers.encoders.hugging_face import architecture_of, read_config
from bert_keras_layers.encoders.tensorflow_names import translate_weights

_OPTIMIZER_SLOTS = ("/adam_m", "/adam_v")


def open_tf1_checkpoint(
    folder: str | os.PathLike[str],
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Returns the arguments of `BertEncoder` and the weights of a checkpoint.

    Args:
        folder: With `bert_config.json` and one `*.ckpt.index`, as published.

    Raises:
        FileNotFoundError: If one of the files is not there.
        ValueError: If there are several checkpoints, or it is no plain BERT.
        ImportError: If TensorFlow, which reads the format, is not installed.
    """
    folder = pathlib.Path(folder).expanduser()
    config_file = folder / "bert_config.json"
    config = {"model_type": "bert", **read_config(config_file)}
    # The code that these checkpoints belong to computes the tanh form of GELU.
    if config.get("hidden_act") == "gelu":
        config["hidden_act"] = "gelu_new"
    indices = sorted(folder.glob("*.index"))
    if not indices:
        raise FileNotFoundError(
            f"A TF1 checkpoint folder must have a bert_model.ckpt.index. "
            f"Received: {folder}"
        )
    if len(indices) > 1:
        raise ValueError(
            "A TF1 checkpoint folder must have one checkpoint. "
            f"Received: {[index.name for index in indices]} in {folder}"
        )
    weights = translate_weights(_stored(indices[0].with_suffix("")))
    return architecture_of(config, config_file, weights), weights


def _stored(prefix: pathlib.Path) -> list[tuple[str, np.ndarray]]:
    import tensorflow as tf

    reader = tf.train.load_checkpoint(str(prefix))
    return [
        (name, reader.get_tensor(name))
        for name in sorted(reader.get_variable_to_shape_map())
        if not name.endswith(_OPTIMIZER_SLOTS)
    ]

"""Contenders: one BERT with the same random weights in three libraries."""

from collections.abc import Callable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from bert_keras_layers import BertEncoder

Call = Callable[[dict[str, np.ndarray]], Any]

BERT_BASE = {
    "hidden_size": 768,
    "num_layers": 12,
    "num_heads": 12,
    "intermediate_size": 3072,
}
MINILM = {
    "hidden_size": 384,
    "num_layers": 6,
    "num_heads": 12,
    "intermediate_size": 1536,
}


def random_ids(batch: int, tokens: int) -> dict[str, np.ndarray]:
    """Returns a batch of random ids without padding."""
    ids = np.random.default_rng(0).integers(1000, 30000, (batch, tokens))
    return {
        "input_ids": ids.astype("int32"),
        "attention_mask": np.ones_like(ids, "int32"),
        "token_type_ids": np.zeros_like(ids, "int32"),
    }


def all_state_functions(sizes: dict[str, int]) -> dict[str, Call]:
    """Returns, per library, a `tf.function` from ids to a list of all L+1 states."""
    encoder = BertEncoder(**sizes)
    encoder.build()
    reference = _tf_bert(encoder)
    backbone = _keras_hub_bert(encoder)

    @tf.function(reduce_retracing=True)
    def ours(ids: Any) -> Any:
        return encoder(ids)["hidden_states"]

    @tf.function(reduce_retracing=True)
    def transformers(ids: Any) -> Any:
        return reference(ids, output_hidden_states=True).hidden_states

    @tf.function(reduce_retracing=True)
    def keras_hub(ids: Any) -> Any:
        return backbone(
            {
                "token_ids": ids["input_ids"],
                "padding_mask": ids["attention_mask"],
                "segment_ids": ids["token_type_ids"],
            }
        )

    return {"ours": ours, "TFBertModel": transformers, "keras-hub": keras_hub}


def _tf_bert(encoder: BertEncoder) -> Any:
    from transformers import BertConfig, TFBertModel

    sizes = encoder.get_config()
    model = TFBertModel(
        BertConfig(
            hidden_size=sizes["hidden_size"],
            num_hidden_layers=sizes["num_layers"],
            num_attention_heads=sizes["num_heads"],
            intermediate_size=sizes["intermediate_size"],
        )
    )
    model.build_in_name_scope()
    bert = model.bert
    embeddings = encoder.embeddings
    bert.embeddings.weight.assign(embeddings.word.embeddings.value)
    bert.embeddings.position_embeddings.assign(embeddings.position.embeddings.value)
    bert.embeddings.token_type_embeddings.assign(embeddings.token_type.embeddings.value)
    for block, layer in zip(encoder.blocks, bert.encoder.layer, strict=True):
        attention = layer.attention.self_attention
        kernels = tf.split(block.query_key_value.kernel.value, 3, axis=-1)
        parts = (attention.query, attention.key, attention.value)
        for part, kernel in zip(parts, kernels, strict=True):
            part.kernel.assign(kernel)
        layer.attention.dense_output.dense.kernel.assign(
            block.attention_output.kernel.value
        )
        layer.intermediate.dense.kernel.assign(block.intermediate.kernel.value)
        layer.bert_output.dense.kernel.assign(block.output_projection.kernel.value)
    return model


def _keras_hub_bert(encoder: BertEncoder) -> keras.Model:
    """Returns a keras-hub backbone that gives every state, as a model of its graph.

    Its GELU is the tanh form, so its numbers differ in the third digit.
    """
    import keras_hub

    sizes = encoder.get_config()
    backbone = keras_hub.models.BertBackbone(
        vocabulary_size=sizes["vocabulary_size"],
        num_layers=sizes["num_layers"],
        num_heads=sizes["num_heads"],
        hidden_dim=sizes["hidden_size"],
        intermediate_dim=sizes["intermediate_size"],
        max_sequence_length=sizes["max_positions"],
        dropout=0.1,
    )
    width, heads = sizes["hidden_size"], sizes["num_heads"]
    split = (width, heads, width // heads)
    tables = encoder.embeddings
    token_and_position = (
        backbone.get_layer("token_embedding").embeddings,
        backbone.get_layer("position_embedding").position_embeddings,
        backbone.get_layer("segment_embedding").embeddings,
    )
    for target, table in zip(
        token_and_position,
        (tables.word, tables.position, tables.token_type),
        strict=True,
    ):
        target.assign(table.embeddings)
    outputs = [backbone.get_layer("embeddings_dropout").output]
    for i, block in enumerate(encoder.blocks):
        layer = backbone.get_layer(f"transformer_layer_{i}")
        attention = layer._self_attention_layer
        kernels = np.split(np.asarray(block.query_key_value.kernel), 3, axis=-1)
        parts = (attention.query_dense, attention.key_dense, attention.value_dense)
        for part, kernel in zip(parts, kernels, strict=True):
            part.kernel.assign(kernel.reshape(split))
        attention.output_dense.kernel.assign(
            np.asarray(block.attention_output.kernel).reshape(
                heads, width // heads, width
            )
        )
        layer._feedforward_intermediate_dense.kernel.assign(block.intermediate.kernel)
        layer._feedforward_output_dense.kernel.assign(block.output_projection.kernel)
        outputs.append(layer.output)
    return keras.Model(backbone.input, outputs)

"""Hub models: what is inside the BERT encoders of TF-Hub and Kaggle."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from bert_keras_layers.encoders.encoder_sizes import EncoderSizes
from bert_keras_layers.encoders.foreign_encoder import Variables
from bert_keras_layers.types import Tensor

_TABLES = {
    "vocabulary_size": re.compile(r"word_embeddings?/embeddings"),
    "max_positions": re.compile(r"position_embeddings?/embeddings"),
    "type_vocabulary_size": re.compile(r"type_embeddings?/embeddings"),
}
_SHARED_BLOCK_CALL = re.compile(r"transformer(_\d+)?/(Stateful)?PartitionedCall(_\d+)?")


class HubModel:
    """A loaded BERT, ALBERT, ELECTRA or MobileBERT encoder of the Model Garden.

    Its SavedModel returns the states that its API version returns, and hides the
    embedding output. But it also holds its layers, and those can be called one
    after the other, which gives every state, whatever the version.

    Args:
        model: A loaded SavedModel, of the dict API (v3, v4) or the list API (v1, v2).
        num_layers: Blocks to compute; None for all, and then with the pooler.

    Raises:
        ValueError: If it is no such encoder.
    """

    dtype = "float32"

    def __init__(self, model: Any, num_layers: int | None = None) -> None:
        self.model = model
        self._network = model
        layers = list(_numbered(model, "layer_with_weights"))
        if len(layers) == 1:  # The encoder, in a model that only names its outputs.
            self._network = layers[0]
            layers = list(_numbered(self._network, "layer_with_weights"))
        blocks = [layer for layer in layers if _is_block(layer)]
        names = [v.name for layer in layers for v in layer.variables]
        if not blocks or not all(
            any(map(pattern.search, names)) for pattern in _TABLES.values()
        ):
            raise ValueError(
                "The SavedModel must be a BERT encoder of the TensorFlow Model Garden "
                "that holds its layers; if it is a BERT without them, "
                "`BertEncoder.from_hub` may still read its weights. "
                f"Received: one with {len(layers)} layers, {len(blocks)} of them blocks"
            )
        first, last = layers.index(blocks[0]), layers.index(blocks[-1])
        self._embedding_layers = layers[:first]
        self._pooler = layers[last + 1] if len(layers) > last + 1 else None
        self._is_mobile = len(self._embedding_layers) == 1
        shared = len(blocks) == 1 and "transformer/self" in blocks[0].variables[0].name
        every_block = blocks * _shared_calls(self._network) if shared else blocks
        self._blocks = every_block[:num_layers]
        self._dropout = _dropout_of(self._network)
        self.has_pooler = num_layers is None
        self.sizes = EncoderSizes(
            num_layers=len(self._blocks),
            hidden_size=_hidden_size(model),
            **{key: _rows(layers, pattern) for key, pattern in _TABLES.items()},
        )

    def encode(
        self, inputs: Mapping[str, Tensor], training: bool
    ) -> tuple[list[Tensor], Tensor]:
        """Returns the hidden states and the pooler output, or None for it."""
        import tensorflow as tf

        ids = inputs["input_ids"]
        mask = inputs.get("attention_mask", tf.ones_like(ids))
        types = inputs.get("token_type_ids", tf.zeros_like(ids))
        embed = self._embed_mobile if self._is_mobile else self._embed
        states = [embed(ids, types, training)]
        mask = tf.repeat(mask[:, None, :], tf.shape(ids)[1], axis=1)
        for block in self._blocks:
            states.append(self._next(block, states[-1], mask, training))
        if not self.has_pooler:
            return states, None
        first = states[-1][:, 0]
        return states, self._pooler(first) if self._pooler else first

    def variables(self) -> tuple[Variables, list[Variables], Variables]:
        """Returns the variables of embeddings, blocks and pooler with their names."""
        embeddings = [
            pair for layer in self._embedding_layers for pair in _named(layer)
        ]
        named = {id(block): _named(block) for block in self._blocks}
        blocks = [named[id(block)] for block in self._blocks]
        pooler = _named(self._pooler) if self.has_pooler and self._pooler else []
        return embeddings, blocks, pooler

    def shortened(self, num_layers: int) -> "HubModel":
        """Returns a model of the first blocks, without pooler, same variables."""
        return HubModel(self.model, num_layers)

    def _embed(self, ids: Tensor, types: Tensor, training: bool) -> Tensor:
        word, position, token_type, norm, *projection = self._embedding_layers
        embedded = word(ids)
        embedded = norm(embedded + position(embedded) + token_type(types))
        embedded = self._dropout(embedded, training)
        return projection[0](embedded) if projection else embedded

    def _embed_mobile(self, ids: Tensor, types: Tensor, training: bool) -> Tensor:
        return self._embedding_layers[0](ids, types, training=training)

    def _next(self, block: Any, state: Tensor, mask: Tensor, training: bool) -> Tensor:
        import tensorflow as tf

        if self._is_mobile:
            return block(state, mask, return_attention_scores=True, training=training)[
                0
            ]
        # A list, or the restored function does not know its own signature.
        return block([state, tf.cast(mask, state.dtype)], training=training)


def _numbered(network: Any, prefix: str) -> Iterator[Any]:
    """Yields the layers that Keras saved as `prefix-0`, `prefix-1` and so on."""
    number = 0
    while hasattr(network, f"{prefix}-{number}"):
        yield getattr(network, f"{prefix}-{number}")
        number += 1


def _dropout_of(network: Any) -> Callable[[Tensor, bool], Tensor]:
    """Returns the dropout of the embeddings: no weights, but a training flag."""
    for layer in _numbered(network, "layer"):
        if callable(layer) and not layer.variables:
            function = layer.__call__.concrete_functions[0]
            arguments, _ = function.structured_input_signature
            if arguments[1:] in ((True,), (False,)):
                return layer
    return lambda embedded, training: embedded


def _is_block(layer: Any) -> bool:
    return any("attention/query/" in v.name for v in layer.variables)


def _named(layer: Any) -> Variables:
    return [(variable.name, variable) for variable in layer.variables]


def _rows(layers: list[Any], pattern: re.Pattern[str]) -> int:
    return next(
        int(v.shape[0])
        for layer in layers
        for v in layer.variables
        if pattern.search(v.name)
    )


def _hidden_size(model: Any) -> int:
    outputs = model.__call__.concrete_functions[0].structured_outputs
    state = outputs["sequence_output"] if isinstance(outputs, dict) else outputs[1]
    return int(state.shape[-1])


def _shared_calls(network: Any) -> int:
    """Returns how often the one block of an ALBERT is called, read off its graph."""
    graph = network.__call__.concrete_functions[0].graph.as_graph_def()
    library = {f.signature.name: f for f in graph.library.function}
    called = [
        library[node.attr["f"].func.name]
        for node in graph.node
        if "PartitionedCall" in node.op
    ]
    return sum(
        bool(_SHARED_BLOCK_CALL.fullmatch(node.name))
        for function in called
        for node in function.node_def
    )

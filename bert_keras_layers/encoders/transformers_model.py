"""Transformers models: what is inside the TensorFlow encoders of transformers."""

import copy
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

from bert_keras_layers.encoders.encoder_sizes import EncoderSizes
from bert_keras_layers.encoders.foreign_encoder import Variables
from bert_keras_layers.types import Tensor

_BLOCK_LISTS = {"layer", "albert_layer_groups"}


class TransformersModel:
    """A built TensorFlow encoder of transformers: called, taken apart, shortened.

    Args:
        main: Its main layer, such as the `bert` of a `TFBertModel`.
        config: Its configuration.

    Raises:
        ValueError: If its blocks are not where BERT and its kin have them.
    """

    def __init__(self, main: Any, config: Any) -> None:
        self.main = main
        self.config = config
        self._parameters = set(inspect.signature(main.call).parameters)
        self._stack: Any = _stack(main)
        if config.is_encoder_decoder or not _BLOCK_LISTS & set(dir(self._stack)):
            raise ValueError(
                "The model must be an encoder with its blocks in `encoder.layer` or "
                "`transformer.layer`, such as TFBertModel, or be an ALBERT. "
                f"Received: {type(main).__name__}"
            )
        self.has_pooler = getattr(main, "pooler", None) is not None
        self.dtype = str(main.dtype_policy.name)
        self.sizes = EncoderSizes(
            num_layers=config.num_hidden_layers,
            hidden_size=config.hidden_size,
            vocabulary_size=config.vocab_size,
            # RoBERTa counts positions from the padding id on.
            max_positions=config.max_position_embeddings
            - (getattr(main.embeddings, "padding_idx", -1) + 1),
            type_vocabulary_size=getattr(config, "type_vocab_size", 0) or None
            if "token_type_ids" in self._parameters
            else None,
        )

    def encode(
        self, inputs: Mapping[str, Tensor], training: bool
    ) -> tuple[Sequence[Tensor], Tensor]:
        """Returns the hidden states and the pooler output, or None for it."""
        outputs = self.main(
            **{name: x for name, x in inputs.items() if name in self._parameters},
            output_hidden_states=True,
            return_dict=True,
            training=training,
        )
        return outputs.hidden_states, outputs.get("pooler_output")

    def variables(self) -> tuple[Variables, list[Variables], Variables]:
        """Returns the variables of embeddings, blocks and pooler with their names."""
        named = {id(layer): self._named(layer.weights) for layer in self._layers()}
        blocks = [named[id(layer)] for layer in self._blocks()]
        pooler = self._named(self.main.pooler.weights) if self.has_pooler else []
        other = {id(v) for part in (pooler, *named.values()) for _, v in part}
        embeddings = [v for v in self.main.weights if id(v) not in other]
        return self._named(embeddings), blocks, pooler

    def shortened(self, num_layers: int) -> "TransformersModel":
        """Returns a model of the first blocks, without pooler, same variables."""
        import tf_keras

        groups = getattr(self.config, "num_hidden_groups", 1)
        if groups > 1 and num_layers < self.sizes.num_layers:
            raise ValueError(
                "An ALBERT with several groups of blocks cannot be shortened. "
                f"Received: num_hidden_groups={groups}"
            )
        config = copy.deepcopy(self.config)
        config.num_hidden_layers = num_layers
        with tf_keras_policy(self.dtype):
            main = type(self.main)(config, name=self.main.name)
        main.pooler = None
        stack, pooler = self._stack, getattr(self.main, "pooler", None)
        shorter_stack = _stack(main)
        for whole, shorter in ((self.main, main), (stack, shorter_stack)):
            for name, part in vars(whole).items():
                is_layer = isinstance(part, tf_keras.layers.Layer)
                if is_layer and part is not stack and part is not pooler:
                    setattr(shorter, name, part)
        if hasattr(stack, "layer"):
            shorter_stack.layer = list(stack.layer)[:num_layers]
        else:
            shorter_stack.albert_layer_groups = list(stack.albert_layer_groups)
        # Or the first call would make new variables in built layers.
        main.built = shorter_stack.built = True
        return TransformersModel(main, config)

    def _layers(self) -> list[Any]:
        """Returns the layers that blocks are computed with, each once."""
        if hasattr(self._stack, "layer"):
            return list(self._stack.layer)
        return list(self._stack.albert_layer_groups)

    def _blocks(self) -> list[Any]:
        layers, count = self._layers(), self.config.num_hidden_layers
        return [layers[i * len(layers) // count] for i in range(count)]

    def _named(self, variables: Sequence[Any]) -> Variables:
        # Before the main layer's name stands that of the model, often numbered.
        scope = f"{self.main.name}/"
        named = [(v.name.split(scope, 1)[-1], v) for v in variables]
        # Sorted: tf_keras orders them by when a layer was attached.
        return sorted(named, key=itemgetter(0))


@contextmanager
def tf_keras_policy(name: str) -> Iterator[None]:
    """Makes `name` the dtype policy of new tf_keras layers."""
    from tf_keras import mixed_precision

    before = mixed_precision.global_policy()
    mixed_precision.set_global_policy(name)
    try:
        yield
    finally:
        mixed_precision.set_global_policy(before)


def _stack(main: Any) -> Any:
    return getattr(main, "encoder", None) or getattr(main, "transformer", None)

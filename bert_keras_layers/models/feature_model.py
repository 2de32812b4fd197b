"""Feature model: the chosen hidden states of texts, joined, pooled, and a head."""

from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import keras
from keras import ops

from bert_keras_layers.encoders.encoder import Encoder
from bert_keras_layers.layers.hidden_states_layer import HiddenStatesLayer
from bert_keras_layers.layers.layer_choice import choose_layers
from bert_keras_layers.layers.layer_concat import LayerConcat
from bert_keras_layers.layers.layer_stack import LayerStack
from bert_keras_layers.layers.pooling_choice import Pooling, pooling_layer
from bert_keras_layers.models.fitted_preprocessor import fitted_preprocessor
from bert_keras_layers.models.text_model import TextModel
from bert_keras_layers.preprocessing.bert_preprocessor import BertPreprocessor
from bert_keras_layers.types import Tensor

Layers: TypeAlias = int | Sequence[int] | HiddenStatesLayer | None
"""A choice of layers to concatenate, or a layer that joins hidden states."""


class FeatureModel(TextModel):
    """Base of text models on hidden states that are joined and pooled.

    The encoder is cut above the highest layer that is used. The parts are
    `encoder`, `joiner`, `pooling` and `head`, the last two None where there is none;
    `states` and `features` are the symbolic tensors in between.

    Args:
        encoder: Any of the library.
        preprocessor: Of texts, or None.
        layers: Hidden states to concatenate, as in `choose_layers`; or the layer
            that joins them, whose own `layers` are from then on counted from 0.
        pooling: What `pooling_layer` takes, or None for the states themselves. On
            a `LayerStack` it pools each state for itself.
        head: Layer on one vector per text, or None.
        **kwargs: Arguments of `keras.Model`.

    Raises:
        ValueError: If an argument is out of range, the preprocessor does not fit,
            or there is a head and not one vector per text for it.
    """

    parts: ClassVar = {**TextModel.parts, "layers": "joiner", "pooling": "pooling"}

    def __init__(
        self,
        encoder: Encoder,
        preprocessor: BertPreprocessor | None,
        layers: Layers,
        pooling: Pooling | None,
        head: keras.layers.Layer | None = None,
        **kwargs: Any,
    ) -> None:
        if preprocessor is not None:
            preprocessor = fitted_preprocessor(preprocessor, encoder)
        joiner = _joiner(layers, encoder.num_layers + 1)
        pool = None
        if pooling is not None:
            pool = pooling_layer(pooling, name="global_pooling")
        # Without this, the states that negatives name would change with the cut.
        joiner.layers = joiner.chosen(range(encoder.num_layers + 1))
        encoder = encoder.truncate(max(joiner.layers))
        inputs = encoder.inputs()
        states = encoder(inputs)["hidden_states"]
        outputs = features = _features(states, joiner, pool)
        if head is not None:
            if len(features.shape) != 2:
                raise ValueError(
                    "`layers` and `pooling` must make one vector (batch, width) of a "
                    f"text. Received: layers={layers!r} and pooling={pooling!r}, "
                    f"which make the shape {features.shape}"
                )
            outputs = head(features)
        super().__init__(inputs=inputs, outputs=outputs, **kwargs)
        self.states: list[keras.KerasTensor] = states
        self.features: keras.KerasTensor = features
        self.encoder: Encoder = encoder
        self.preprocessor = preprocessor
        self.joiner: HiddenStatesLayer = joiner
        self.pooling: keras.layers.Layer | None = pool
        self.head: Any = head


def _joiner(layers: Layers, num_states: int) -> HiddenStatesLayer:
    if isinstance(layers, HiddenStatesLayer):
        return layers
    return LayerConcat(choose_layers(layers, num_states), name="layer_concat")


def _features(
    states: Sequence[Tensor], joiner: HiddenStatesLayer, pooling: Any
) -> Tensor:
    if isinstance(joiner, LayerStack) and pooling is not None:
        pooled = [_one_tensor(pooling, pooling(x)) for x in joiner.chosen(states)]
        return ops.stack(pooled, axis=1)  # (batch, layers, width)
    joined = _one_tensor(joiner, joiner(states))
    return joined if pooling is None else _one_tensor(pooling, pooling(joined))


def _one_tensor(layer: keras.layers.Layer, outputs: Any) -> Tensor:
    if not isinstance(outputs, keras.KerasTensor):
        raise ValueError(
            "A layer for `layers` or `pooling` must return one tensor, without "
            f"weights. Received: {type(layer).__name__} {layer.name!r}, which returns "
            f"{len(outputs)}"
        )
    return outputs

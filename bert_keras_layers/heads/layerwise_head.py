"""Layerwise head: hidden states -> scores of each layer, and of all together."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
from keras import ops

from bert_keras_layers.heads.dense_head import DenseHead
from bert_keras_layers.layers.hidden_states_layer import HiddenStatesLayer
from bert_keras_layers.layers.pooling_choice import Pooling, pooling_layer
from bert_keras_layers.layers.weighting import softmax
from bert_keras_layers.types import Shape, Tensor

COMBINED = "combined"


@keras.saving.register_keras_serializable(package="bert_keras_layers")
class LayerwiseHead(HiddenStatesLayer):
    """A classifier on each chosen layer, and their learned average.

    The states of a layer are pooled and go through dropout and a dense layer of
    their own. The average is taken before the activation, with a softmax over one
    learned logit per layer: all equal at first; after training, `layer_logits`
    says which layers the task uses.

    The outputs are a dict, so that each can have its own loss and metrics (deep
    supervision), as in the example; or take `head(states)["combined"]` alone.

    Args:
        units: Size of each output; a positive integer.
        activation: Of each output, as in `keras.layers.Dense`; None for logits.
        layers: An int n for the last n hidden states; a sequence for exactly
            these, each once, 0 being the embedding output and negatives counting
            from the end; None for all.
        pooling: A mode of `GlobalPooling` or several; or a pooling layer, of which
            each hidden state gets a copy with weights of its own.
        dropout: Share to drop before each dense layer when training, in `[0, 1)`.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name` and `dtype`.

    Call arguments:
        hidden_states: List of float tensors, each `(batch, tokens, width)`.
        mask: Optional `(batch, tokens)`, or one per hidden state.
        training: Whether dropout is on.

    Output shape:
        A dict of tensors `(batch, units)`: `"combined"`, and `"layer_<i>"` for each
        chosen hidden state i, counted from 0. Once built, `output_names` lists the
        names. The mask stops here.

    Raises:
        ValueError: If a layer is out of range or comes twice, the states differ in
            shape, or a size or dropout is out of range.

    Example:
    >>> import keras, numpy as np
    >>> from bert_keras_layers import BertEncoder, LayerwiseHead
    >>> encoder = BertEncoder(
    ...     vocabulary_size=7, hidden_size=8, num_layers=3, num_heads=2,
    ...     intermediate_size=16, pooler=False)
    >>> head = LayerwiseHead(2, "softmax", layers=[1, -1])
    >>> inputs = encoder.inputs()
    >>> model = keras.Model(inputs, head(encoder(inputs)["hidden_states"]))
    >>> head.output_names
    ['combined', 'layer_1', 'layer_3']
    >>> loss = dict.fromkeys(head.output_names, "sparse_categorical_crossentropy")
    >>> metrics = {name: ["accuracy"] for name in head.output_names}
    >>> loss_weights = {"combined": 1.0, "layer_1": 0.3, "layer_3": 0.3}
    >>> model.compile("adam", loss, loss_weights=loss_weights, metrics=metrics)
    >>> ids = np.array([[2, 4, 3], [2, 5, 3]])
    >>> x = {name: ids * (name == "input_ids") for name in inputs}
    >>> y = dict.fromkeys(head.output_names, np.array([0, 1]))
    >>> sorted(model.fit(x, y, verbose=0).history)  # doctest: +ELLIPSIS
    ['combined_accuracy', 'combined_loss', 'layer_1_accuracy', ... 'loss']

    Reference:
        [Lee et al., 2015](https://arxiv.org/abs/1409.5185), deep supervision;
        weights: [Peters et al., 2018](https://arxiv.org/abs/1802.05365).
    """

    def __init__(
        self,
        units: int,
        activation: str | Callable[[Tensor], Tensor] | None = None,
        layers: int | Sequence[int] | None = None,
        pooling: Pooling = "mean",
        dropout: float = 0.1,
        **kwargs: Any,
    ) -> None:
        super().__init__(layers, **kwargs)
        # The parts are made for each layer in `build`; these check the arguments.
        pooling_layer(pooling)
        checked = DenseHead(units, activation, dropout=dropout)
        self.units = checked.units
        self.activation = checked.activation
        self.dropout = dropout
        if isinstance(pooling, keras.layers.Layer):
            pooling = keras.saving.serialize_keras_object(pooling)
        self._pooling = pooling

    def build(self, input_shape: Sequence[Shape]) -> None:
        super().build(input_shape)
        indices = self.chosen(range(len(input_shape)))
        if len(set(indices)) < len(indices):
            raise ValueError(
                f"`layers` must name each layer once. Received: layers={self.layers}, "
                f"which are {indices} of {len(input_shape)} hidden states"
            )
        self.output_names = [COMBINED, *(f"layer_{index}" for index in indices)]
        policy = self.dtype_policy
        names = self.output_names[1:]
        self.poolings = [
            pooling_layer(_renamed(self._pooling, f"{name}_pooling"), dtype=policy)
            for name in names
        ]
        self.classifiers = [
            DenseHead(self.units, dropout=self.dropout, dtype=policy, name=name)
            for name in names
        ]
        for pooling, classifier in zip(self.poolings, self.classifiers, strict=True):
            pooling.build(input_shape[0])
            classifier.build(pooling.compute_output_shape(input_shape[0]))
        self.layer_logits = self.add_weight(
            name="layer_logits",
            shape=(len(indices),),
            initializer="zeros",
            autocast=False,  # The softmax stays in float32.
        )

    def call(
        self,
        hidden_states: Sequence[Tensor],
        mask: Any = None,
        training: bool | None = None,
    ) -> dict[str, Tensor]:
        mask = super().compute_mask(hidden_states, mask)
        states = self.chosen(hidden_states)
        parts = zip(states, self.poolings, self.classifiers, strict=True)
        scores = [
            ops.cast(classifier(pool(state, mask=mask), training=training), "float32")
            for state, pool, classifier in parts
        ]
        weights = softmax(ops.convert_to_tensor(self.layer_logits))  # (layers,)
        combined = ops.einsum("lbu,l->bu", ops.stack(scores), weights)
        return {
            name: ops.cast(self.activation(score), self.compute_dtype)
            for name, score in zip(self.output_names, [combined, *scores], strict=True)
        }

    def compute_mask(self, hidden_states: Sequence[Tensor], mask: Any = None) -> None:
        return None

    def compute_output_shape(self, input_shape: Sequence[Shape]) -> dict[str, Shape]:
        indices = self.chosen(range(len(input_shape)))
        names = [COMBINED, *(f"layer_{index}" for index in indices)]
        return dict.fromkeys(names, (input_shape[0][0], self.units))

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "units": self.units,
            "activation": keras.activations.serialize(self.activation),
            "pooling": self._pooling,
            "dropout": self.dropout,
        }


def _renamed(pooling: Any, name: str) -> Any:
    """Returns modes as they are, the config of a layer with another name.

    Weights of one path would be one parameter to torch: only the last of them would
    get its gradients cleared between steps.
    """
    if not isinstance(pooling, Mapping):
        return pooling
    return {**pooling, "config": {**pooling["config"], "name": name}}

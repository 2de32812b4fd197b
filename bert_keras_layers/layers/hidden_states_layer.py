"""Base of the layers on hidden states: their choice, their checks, their mask."""

from collections.abc import Sequence
from typing import Any

from bert_keras_layers.layers.layer_choice import checked_layers, choose_layers
from bert_keras_layers.layers.masked_layer import MaskedLayer
from bert_keras_layers.types import Shape


class HiddenStatesLayer(MaskedLayer):
    """A layer whose input is the list of hidden states, of which it uses some.

    Args:
        layers: The states to use, as in `choose_layers`.
        **kwargs: Arguments of `keras.layers.Layer`.

    Raises:
        ValueError: If a layer is out of range or the states differ in shape.
    """

    def __init__(self, layers: int | Sequence[int] | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.layers = checked_layers(layers)
        self.supports_masking = True

    def build(self, input_shape: Sequence[Shape]) -> None:
        if not isinstance(input_shape, list | tuple) or not all(
            isinstance(shape, list | tuple) for shape in input_shape
        ):
            raise ValueError(
                "`hidden_states` must be a list of tensors, such as "
                '`encoder(inputs)["hidden_states"]`. '
                f"Received: one of shape {input_shape}"
            )
        shapes = [tuple(shape) for shape in input_shape]
        if len(set(shapes)) != 1:
            raise ValueError(
                f"`hidden_states` must share one shape. Received shapes: {shapes}"
            )
        if len(shapes[0]) != 3:
            raise ValueError(
                "`hidden_states` must have the shape (batch, tokens, width) each. "
                f"Received: shape {shapes[0]}"
            )
        self.chosen(shapes)

    def compute_mask(self, hidden_states: Sequence[Any], mask: Any = None) -> Any:
        if isinstance(mask, list | tuple):
            return next((one for one in mask if one is not None), None)
        return mask

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "layers": self.layers}

    def chosen(self, of_each_state: Sequence[Any]) -> list[Any]:
        """Returns those items of a list, one per state, that `layers` chooses."""
        indices = choose_layers(self.layers, len(of_each_state))
        return [of_each_state[index] for index in indices]

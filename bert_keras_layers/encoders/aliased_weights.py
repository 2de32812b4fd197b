"""Aliased weights: variables of a foreign model, tracked by Keras 3."""

import re
from collections.abc import Iterable
from typing import Any

import keras


class AliasedWeights(keras.layers.Layer):
    """The weights of one part of a foreign model as those of a Keras layer.

    Each `keras.Variable` is the `tf.Variable` that the foreign model computes with,
    under another hat: what Keras trains, freezes, counts, saves and loads is the
    foreign model itself. The order of the variables is the file format.

    Args:
        variables: A name and a `tf.Variable` each.
        **kwargs: Arguments of `keras.layers.Layer`, such as `name`.
    """

    def __init__(self, variables: Iterable[tuple[str, Any]], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with keras.name_scope(self.name, caller=self):
            for name, variable in variables:
                alias = keras.Variable(
                    variable,
                    trainable=variable.trainable,
                    dtype=variable.dtype.name,  # With another one it would be a copy.
                    name=_legal(name),
                )
                self._track_variable(alias)
        self.built = True


def _legal(name: str) -> str:
    """Optimizers name their slots after the weights, which rules out `/` and `:`."""
    return re.sub(r"[/:]", "_", name.removesuffix(":0"))

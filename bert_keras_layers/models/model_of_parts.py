"""Model of parts: a `keras.Model` whose config holds the objects it is made of."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import keras


class ModelOfParts(keras.Model):
    """Base of models around an encoder, saved as their constructor's arguments.

    `parts`: the argument that takes an object, and the attribute that holds it.
    """

    parts: ClassVar[Mapping[str, str]] = {}

    def compile_defaults(self, loss: str, metrics: Sequence[Any]) -> None:
        """Compiles with AdamW at learning rate 5e-5, or 1e-3 on a frozen encoder."""
        rate = 5e-5 if self.encoder.trains else 1e-3
        self.compile(keras.optimizers.AdamW(rate), loss=loss, metrics=[*metrics])

    def get_config(self) -> dict[str, Any]:
        serialize = keras.saving.serialize_keras_object
        objects = {
            argument: serialize(getattr(self, attribute))
            for argument, attribute in self.parts.items()
        }
        return {"name": self.name, "trainable": self.trainable, **objects}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Self:
        deserialize = keras.saving.deserialize_keras_object
        objects = {
            argument: deserialize(config[argument], custom_objects=custom_objects)
            for argument in cls.parts
        }
        return cls(**{**config, **objects})

"""LoraDense: a dense layer whose low-rank factors stay themselves in a file."""

from collections.abc import MutableMapping
from typing import Any

import keras
from keras import ops

_FACTORS = ("lora_kernel_a", "lora_kernel_b")


class LoraDense(keras.layers.Dense):
    """`keras.layers.Dense` that can be saved, trained on and merged with LoRA.

    Keras adds the factors to the kernel when it saves, and loads both as zeros, which
    no gradient ever leaves. Here a file holds kernel, bias and the two factors.

    Args:
        *args: As of `keras.layers.Dense`.
        **kwargs: As of `keras.layers.Dense`.
    """

    lora_rank: Any
    lora_alpha: Any

    def merge_lora(self) -> None:
        """Adds the factors to the kernel and removes them."""
        factors = [getattr(self, name) for name in _FACTORS]
        delta = ops.matmul(*(ops.convert_to_tensor(factor) for factor in factors))
        delta = delta * (self.lora_alpha / self.lora_rank)
        self._kernel.assign(self._kernel + ops.cast(delta, self._kernel.dtype))
        # A function that was compiled before still adds their product.
        self.lora_kernel_b.assign(ops.zeros(self.lora_kernel_b.shape))
        for factor in factors:
            self._untrack_variable(factor)
        self.lora_enabled = False
        self.lora_rank = self.lora_alpha = None

    def save_own_variables(self, store: MutableMapping[str, Any]) -> None:
        if not self.lora_enabled:
            super().save_own_variables(store)
            return
        store["0"], store["1"] = self._kernel, self.bias
        for name in _FACTORS:
            store[name] = getattr(self, name)

    def load_own_variables(self, store: MutableMapping[str, Any]) -> None:
        if not self.lora_enabled:
            super().load_own_variables(store)
            return
        self._kernel.assign(store["0"])
        self.bias.assign(store["1"])
        if all(name in store for name in _FACTORS):
            for name in _FACTORS:
                getattr(self, name).assign(store[name])
        else:  # A file from before: the product is zero, and can be trained.
            self.lora_kernel_b.assign(ops.zeros(self.lora_kernel_b.shape))

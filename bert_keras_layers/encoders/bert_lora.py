"""LoRA: the part of `BertEncoder` that trains low-rank factors only."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Self

from bert_keras_layers.encoders.lora_settings import LoraSettings


class BertLora:
    """Low-rank adaptation of a `BertEncoder` through `keras.layers.Dense`.

    Reference:
        [Hu et al., 2021](https://arxiv.org/abs/2106.09685).
    """

    def enable_lora(
        self,
        rank: int = 8,
        alpha: float | None = None,
        projections: Sequence[str] = ("query_key_value",),
    ) -> None:
        """Adds trainable factors to projections and freezes all other weights.

        The numbers stay what they are until the factors are trained. A `.keras` file
        keeps the factors and what is frozen, so that training can go on. Do this
        before a model is compiled, or compile it anew; `truncate` and models share
        the factors with this encoder. While they are there, `freeze` and `trainable`
        decide on the factors of a block, never on what they are added to.

        Args:
            rank: Columns of the first and rows of the second factor.
            alpha: The product is scaled by `alpha / rank`; None: by 1.
            projections: Dense layers of each block: `"query_key_value"`, which is
                one projection of one rank, `"attention_output"`, `"intermediate"`
                and `"output_projection"`, the two of the feed-forward layer.

        Raises:
            ValueError: If an argument is out of range, there is no block, or LoRA is
                enabled already.
        """
        settings = LoraSettings(rank, alpha, list(dict.fromkeys(projections)))
        encoder: Any = self
        encoder.build()
        if not encoder.blocks or encoder.blocks[0].lora is not None:
            raise ValueError(
                "LoRA can be enabled once, on an encoder with blocks; `merge_lora` "
                f"ends it. Received: an encoder of {encoder.num_layers} blocks"
                + (", with LoRA" if encoder.blocks else "")
            )
        encoder.freeze(embeddings=True, blocks=0)
        for block in encoder.blocks:
            block.enable_lora(settings)
        if encoder.pooler is not None:
            encoder.pooler.trainable = False

    def merge_lora(self) -> None:
        """Adds the trained factors to the weights and removes them.

        The numbers stay what they are. The encoder is a plain one again, all of it
        trainable; compile its models anew before they are trained or saved.

        Raises:
            ValueError: If LoRA is not enabled.
        """
        encoder: Any = self
        if not encoder.blocks or encoder.blocks[0].lora is None:
            raise ValueError(
                "There must be LoRA factors to merge; `enable_lora` adds them. "
                "Received: an encoder without any"
            )
        for block in encoder.blocks:
            block.merge_lora()
        encoder.freeze(embeddings=False, blocks=0)

    def get_config(self) -> dict[str, Any]:
        encoder: Any = super()
        blocks: list[Any] = getattr(self, "blocks", [])
        settings = blocks[0].lora if blocks else None
        return {**encoder.get_config(), "lora": settings and asdict(settings)}

    @classmethod
    def _from_arguments(cls, arguments: dict[str, Any]) -> Self:
        lora = arguments.pop("lora", None)
        encoder: Any = cls(**arguments)
        if lora:
            encoder.enable_lora(**lora)
            if not arguments.get("trainable", True):
                encoder.trainable = False
        return encoder

"""Choices: what some options can be, for help, completion and checks."""

from typing import Annotated, Literal

import typer

TaskName = Literal["classification", "regression", "tagging"]
Precision = Literal["float32", "bfloat16"]
Format = Literal["savedmodel", "onnx", "litert"]

EncoderOption = Annotated[
    str, typer.Option(help="BERT: folder or Hugging Face hub id.", show_default=False)
]
LayersOption = Annotated[
    str,
    typer.Option(
        help="'4': the last four; '0,-1': exactly these; 'all'.",
        rich_help_panel="Model",
    ),
]
TextColumnOption = Annotated[
    str | None,
    typer.Option(
        help="Column of the texts.", show_default="text", rich_help_panel="Data"
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print JSON to stdout, and nothing else.")
]


def parse_layers(text: str) -> int | list[int] | None:
    """Returns the layers that a command line names.

    Example:
    >>> parse_layers("4"), parse_layers("0,-1"), parse_layers("0,")
    (4, [0, -1], [0])
    """
    if text == "all":
        return None
    try:
        numbers = [int(number) for number in text.strip(",").split(",")]
    except ValueError:
        raise ValueError(
            "Layers must be 'all', a number such as '4', or a list such as '0,-1'. "
            f"Received: {text!r}"
        ) from None
    # One number is how many; a negative one, or one with a comma, is an index.
    return numbers if "," in text or numbers[0] < 0 else numbers[0]

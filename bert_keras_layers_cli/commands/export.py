"""`bert-keras export`: a .keras file -> a SavedModel, ONNX or LiteRT file."""

from pathlib import Path
from typing import Annotated

import typer

from bert_keras_layers_cli.choices import Format, JsonOption, Precision
from bert_keras_layers_cli.console import print_results, results_only
from bert_keras_layers_cli.help_text import examples

EXAMPLES = examples("""
bert-keras export intents.keras saved_models/intents --precision bfloat16
bert-keras export intents.keras intents.onnx
bert-keras export intents.keras intents.tflite --ids-length 64
""")

_ENDINGS: dict[Format, str] = {"onnx": ".onnx", "litert": ".tflite"}


def export(
    model: Annotated[Path, typer.Argument(help="Text model in a .keras file.")],
    output: Annotated[
        Path,
        typer.Argument(
            help="Folder for versions of the SavedModel, or .onnx or .tflite file."
        ),
    ],
    file_format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="What to write; only a SavedModel takes text, the others take ids.",
            show_default="by the ending of OUTPUT",
        ),
    ] = None,
    precision: Annotated[
        Precision, typer.Option(help="Of the encoder in a SavedModel.")
    ] = "float32",
    ids_length: Annotated[
        list[int] | None,
        typer.Option(
            min=2,
            help="Tokens of a text given as ids. A SavedModel can have several: repeat "
            "it. LiteRT needs one; ONNX without it takes any length.",
            show_default="128",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Export a Keras model for a server (SavedModel) or a device (ONNX, LiteRT)."""
    endings = {ending: name for name, ending in _ENDINGS.items()}
    chosen = file_format or endings.get(output.suffix, "savedmodel")
    lengths = ids_length or []
    if chosen != "savedmodel":
        if output.suffix != _ENDINGS[chosen]:
            raise typer.BadParameter(
                f"The OUTPUT of --format {chosen} must end in {_ENDINGS[chosen]}."
            )
        if precision != "float32" or len(lengths) > 1:
            raise typer.BadParameter(
                f"--format {chosen} has one --ids-length and --precision float32."
            )
    with results_only() as out:
        from bert_keras_layers.serving.export import (
            check_export_folder,
            export_saved_model,
        )
        from bert_keras_layers.serving.export_ids import export_ids_model
        from bert_keras_layers_cli.data.model_file import read_model

        if chosen == "savedmodel":
            check_export_folder(output)
            written = export_saved_model(
                read_model(model),
                output,
                id_lengths=lengths or None,
                precision=precision,
            )
        else:
            written = export_ids_model(
                read_model(model), output, length=lengths[0] if lengths else None
            )
        results = {"format": chosen, "precision": precision, "file": str(written)}
        print_results(results, as_json, out)

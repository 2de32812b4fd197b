"""`bert-keras server-files`: a folder of models -> what TF Serving must be told."""

from pathlib import Path
from typing import Annotated

import typer

from bert_keras_layers_cli.choices import JsonOption
from bert_keras_layers_cli.console import print_json, results_only
from bert_keras_layers_cli.help_text import examples

EXAMPLES = examples("""
bert-keras server-files saved_models
bert-keras server-files saved_models --gpu
""")


def server_files(
    folder: Annotated[
        Path, typer.Argument(help="Holds the models: FOLDER/NAME/1, and so on.")
    ],
    gpu: Annotated[
        bool, typer.Option("--gpu", help="Print the command for an NVIDIA GPU.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Write the configuration of TF Serving, and print the command that starts it."""
    with results_only() as out:
        from bert_keras_layers.serving.server_command import server_command
        from bert_keras_layers.serving.server_files import write_server_files

        files = [str(file) for file in write_server_files(folder)]
        command = server_command(folder.expanduser().resolve(), gpu)
        if as_json:
            print_json({"files": files, "command": command}, out)
        else:
            typer.echo("\n".join([*files, "", command]), file=out)

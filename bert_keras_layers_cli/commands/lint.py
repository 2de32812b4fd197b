"""`bert-keras lint`: a SavedModel -> what a server would trip over."""

from pathlib import Path
from typing import Annotated

import typer

from bert_keras_layers_cli.choices import JsonOption
from bert_keras_layers_cli.console import print_json, results_only
from bert_keras_layers_cli.help_text import examples

EXAMPLES = examples("""
bert-keras lint saved_models/intents
bert-keras lint saved_models/intents/1 --json
""")


def lint(
    saved_model: Annotated[Path, typer.Argument(help="SavedModel, or its versions.")],
    as_json: JsonOption = False,
) -> None:
    """Say what a server would trip over in a SavedModel; exit code 1 if anything."""
    with results_only() as out:
        from bert_keras_layers.serving.lint import lint_saved_model

        findings = lint_saved_model(saved_model)
        if as_json:
            print_json(findings, out)
        else:
            for finding in findings or [f"{saved_model}: nothing to complain about."]:
                typer.echo(finding, file=out)
    if findings:
        raise typer.Exit(1)

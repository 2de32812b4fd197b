"""The commands of `bert-keras`: arguments in, one call each, a table out."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

app = typer.Typer(
    help="Train a text classifier on the hidden states of BERT, and try it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.command()
def train(
    data: Annotated[Path, typer.Argument(help="Table of texts: .tsv or .csv, header.")],
    encoder: Annotated[str, typer.Option(help="BERT: folder or Hugging Face hub id.")],
    output: Annotated[
        Path, typer.Option(help="Folder for versions of the SavedModel.")
    ],
    test: Annotated[Path | None, typer.Option(help="Table to test on.")] = None,
    test_share: Annotated[
        float, typer.Option(help="Share of DATA to test on, without --test.")
    ] = 0.2,
    text_column: Annotated[str, typer.Option(help="Column of the texts.")] = "text",
    label_column: Annotated[str, typer.Option(help="Column of the labels.")] = "label",
    layers: Annotated[
        str, typer.Option(help="'4': the last four; '0,-1': exactly these; 'all'.")
    ] = "4",
    pooling: Annotated[
        str, typer.Option(help="A mode of GlobalPooling; several: 'mean,max'.")
    ] = "mean",
    fine_tune: Annotated[
        bool, typer.Option("--fine-tune", help="Train the encoder too.")
    ] = False,
    epochs: Annotated[int, typer.Option(min=1)] = 20,
    batch_size: Annotated[int, typer.Option(min=1)] = 32,
    learning_rate: Annotated[
        float | None, typer.Option(help="Default: 1e-3; 5e-5 with --fine-tune.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Makes a run repeatable.")] = 0,
) -> None:
    """Train on a table of texts, test, and write a SavedModel that takes text.

    bert-keras train train.tsv --encoder google-bert/bert-base-uncased
    --layers 4 --pooling mean --output saved_models/intents
    """
    with _one_sentence_errors():
        from bert_keras_layers.cli.training import TrainingOptions, run_training

        options = TrainingOptions(
            data=data,
            encoder=encoder,
            output=output,
            test=test,
            test_share=test_share,
            text_column=text_column,
            label_column=label_column,
            layers=layers,
            pooling=pooling,
            fine_tune=fine_tune,
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            seed=seed,
        )
        results = run_training(options)
        table = Table("", "value", title=Text(str(output)))
        for name, value in results.items():
            table.add_row(Text(name), Text(value))
        Console().print(table)


@app.command()
def predict(
    saved_model: Annotated[Path, typer.Argument(help="Folder that `train` wrote.")],
    texts: Annotated[list[str], typer.Argument(help="Texts to classify.")],
) -> None:
    """Classify texts with a SavedModel.

    bert-keras predict saved_models/intents "where is my parcel?"
    """
    with _one_sentence_errors():
        from bert_keras_layers.serving.served_model import ServedModel

        outputs = ServedModel(saved_model)(texts)
        table = Table("text", "label", "score")
        for text, label, score in zip(
            texts, outputs["label"], outputs["score"], strict=True
        ):
            table.add_row(Text(text), Text(label.decode()), f"{score:.3f}")
        Console().print(table)


@app.command()
def lint(
    saved_model: Annotated[Path, typer.Argument(help="SavedModel, or its versions.")],
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON list of sentences.")
    ] = False,
) -> None:
    """Say what a server would trip over in a SavedModel; exit code 1 if anything.

    bert-keras lint saved_models/intents
    """
    with _one_sentence_errors():
        from bert_keras_layers.serving.lint import lint_saved_model

        findings = lint_saved_model(saved_model)
    if as_json:
        typer.echo(json.dumps(findings, ensure_ascii=False))
    else:
        for finding in findings or [f"{saved_model}: nothing to complain about."]:
            typer.echo(finding)
    if findings:
        raise typer.Exit(1)


@contextlib.contextmanager
def _one_sentence_errors() -> Iterator[None]:
    """Turns the errors of bad input into a sentence and exit code 1."""
    try:
        yield
    except (ValueError, OSError, RuntimeError, ImportError) as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from None

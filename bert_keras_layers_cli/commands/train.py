"""`bert-keras train`: texts and targets -> a tested SavedModel that takes text."""

from pathlib import Path
from typing import Annotated

import typer

from bert_keras_layers_cli.choices import (
    EncoderOption,
    JsonOption,
    LayersOption,
    TaskName,
    TextColumnOption,
)
from bert_keras_layers_cli.console import print_results, results_only
from bert_keras_layers_cli.help_text import examples

EXAMPLES = examples("""
bert-keras train train.tsv --test test.tsv --label-column intent \\
    --encoder sentence-transformers/all-MiniLM-L6-v2 \\
    --output saved_models/intents --epochs 3 --save intents.keras

bert-keras train ratings.csv --task regression --label-column stars \\
    --encoder sentence-transformers/all-MiniLM-L6-v2 \\
    --output saved_models/stars

bert-keras train cities.conll --task tagging \\
    --encoder sentence-transformers/all-MiniLM-L6-v2 \\
    --output saved_models/cities
""")


def train(
    data: Annotated[
        Path,
        typer.Argument(
            help="Table with a header: .tsv or .csv. For tagging a word and its tag "
            "per line, an empty line between sentences: .conll, .conllu or .tsv.",
        ),
    ],
    encoder: EncoderOption,
    output: Annotated[
        Path,
        typer.Option(help="Folder for versions of the SavedModel.", show_default=False),
    ],
    task: Annotated[
        TaskName,
        typer.Option(
            metavar="TASK",
            help="classification: a class per text; regression: a number per text; "
            "tagging: a tag per word.",
        ),
    ] = "classification",
    save: Annotated[
        Path | None,
        typer.Option(help="Keep the Keras model too, in this .keras file."),
    ] = None,
    as_json: JsonOption = False,
    test: Annotated[
        Path | None,
        typer.Option(help="Data to test on.", rich_help_panel="Data"),
    ] = None,
    test_share: Annotated[
        float,
        typer.Option(
            help="Share of DATA to test on, without --test.", rich_help_panel="Data"
        ),
    ] = 0.2,
    text_column: TextColumnOption = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            help="Column of the classes or numbers.",
            show_default="label",
            rich_help_panel="Data",
        ),
    ] = None,
    token_column: Annotated[
        int | None,
        typer.Option(
            help="For tagging: number of the column of the words; 1 is the first.",
            show_default="1; 2 in .conllu",
            rich_help_panel="Data",
        ),
    ] = None,
    tag_column: Annotated[
        int | None,
        typer.Option(
            help="For tagging: number of the column of the tags; -1 is the last.",
            show_default="-1; 4 in .conllu",
            rich_help_panel="Data",
        ),
    ] = None,
    layers: LayersOption = "4",
    pooling: Annotated[
        str | None,
        typer.Option(
            help="A mode of GlobalPooling, several as 'mean,max'; for tagging a mode "
            "of WordPooling.",
            show_default="mean; first for tagging",
            rich_help_panel="Model",
        ),
    ] = None,
    fine_tune: Annotated[
        bool,
        typer.Option(
            "--fine-tune", help="Train the encoder too.", rich_help_panel="Training"
        ),
    ] = False,
    epochs: Annotated[
        int, typer.Option(min=1, help="Rounds.", rich_help_panel="Training")
    ] = 20,
    batch_size: Annotated[
        int, typer.Option(min=1, help="Texts per step.", rich_help_panel="Training")
    ] = 32,
    learning_rate: Annotated[
        float | None,
        typer.Option(
            help="Of AdamW.",
            show_default="1e-3; 5e-5 with --fine-tune",
            rich_help_panel="Training",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Makes a run repeatable.", rich_help_panel="Training")
    ] = 0,
) -> None:
    """Train on labelled texts, test, and write a SavedModel that takes text."""
    tagging = {"--token-column": token_column, "--tag-column": tag_column}
    tables = {"--text-column": text_column, "--label-column": label_column}
    for name, given in (tables if task == "tagging" else tagging).items():
        if given is not None:
            raise typer.BadParameter(f"{name} is not for --task {task}.")
    with results_only() as out:
        from bert_keras_layers_cli.runs.training_run import run_training
        from bert_keras_layers_cli.runs.training_task import TrainingOptions

        options = TrainingOptions(
            data=data,
            encoder=encoder,
            output=output,
            task=task,
            save=save,
            test=test,
            test_share=test_share,
            text_column=text_column or "text",
            label_column=label_column or "label",
            token_column=token_column,
            tag_column=tag_column,
            layers=layers,
            pooling=pooling,
            fine_tune=fine_tune,
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            seed=seed,
        )
        print_results(run_training(options), as_json, out)

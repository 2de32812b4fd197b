"""`bert-keras predict`: texts -> the answers of a SavedModel."""

from pathlib import Path
from typing import Annotated

import typer

from bert_keras_layers_cli.console import (
    print_json,
    print_table,
    progress_bar,
    results_only,
)
from bert_keras_layers_cli.help_text import examples

EXAMPLES = examples("""
bert-keras predict saved_models/intents "Where is my parcel?" "I love it!"
bert-keras predict saved_models/intents --input messages.txt
cat messages.txt | bert-keras predict saved_models/intents --input - --json
""")


def predict(
    saved_model: Annotated[
        Path, typer.Argument(help="Folder that train or export wrote.")
    ],
    texts: Annotated[
        list[str] | None, typer.Argument(help="Texts to answer for.")
    ] = None,
    input_file: Annotated[
        Path | None,
        typer.Option(
            "--input",
            help="File with a text in each line; - for stdin.",
            metavar="FILE",
        ),
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Texts at a time.")] = 32,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print a line of JSON per text: all that a server returns."
        ),
    ] = False,
) -> None:
    """Print the class, the number or the tags that a SavedModel gives texts."""
    if bool(texts) == (input_file is not None):
        raise typer.BadParameter("Give texts, or a file by --input.")
    with results_only() as out:
        from bert_keras_layers_cli.data.text_lines import read_lines
        from bert_keras_layers_cli.runs.answers import answer_table, answers

        given = texts or []
        if input_file is not None:
            given = read_lines(input_file)
        rows = []
        # On one screen, lines of JSON and a bar would get in each other's way.
        shown = not (as_json and out.isatty())
        with progress_bar("texts", len(given), shown) as advance:
            for batch in answers(saved_model, given, batch_size):
                if as_json:
                    for row in batch:
                        print_json(row, out)
                else:
                    rows += batch
                advance(len(batch))
        if rows:
            print_table(answer_table(rows), out)

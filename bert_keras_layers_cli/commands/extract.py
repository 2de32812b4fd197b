"""`bert-keras extract`: texts -> a file of vectors."""

from pathlib import Path
from typing import Annotated

import typer

from bert_keras_layers_cli.choices import (
    EncoderOption,
    JsonOption,
    LayersOption,
    TextColumnOption,
    parse_layers,
)
from bert_keras_layers_cli.console import print_results, progress_bar, results_only
from bert_keras_layers_cli.help_text import examples

EXAMPLES = examples("""
bert-keras extract test.tsv --label-column intent --layers 0,-1 \\
    --encoder sentence-transformers/all-MiniLM-L6-v2 --output vectors.npz
bert-keras extract messages.txt --pooling mean,max \\
    --encoder sentence-transformers/all-MiniLM-L6-v2 --output messages.npz
""")


def extract(
    data: Annotated[
        Path,
        typer.Argument(
            help="Texts: a table with a header, .tsv or .csv; or a text per line, .txt."
        ),
    ],
    encoder: EncoderOption,
    output: Annotated[
        Path,
        typer.Option(help="The .npz file, read by numpy.load.", show_default=False),
    ],
    layers: LayersOption = "4",
    pooling: Annotated[
        str,
        typer.Option(
            help="A mode of GlobalPooling, several as 'mean,max'.",
            rich_help_panel="Model",
        ),
    ] = "mean",
    text_column: TextColumnOption = None,
    label_column: Annotated[
        str | None,
        typer.Option(
            help="Column to keep beside the vectors, as labels.", rich_help_panel="Data"
        ),
    ] = None,
    batch_size: Annotated[int, typer.Option(min=1, help="Texts at a time.")] = 32,
    as_json: JsonOption = False,
) -> None:
    """Write a vector for each text: hidden states of BERT, joined and pooled."""
    if data.suffix == ".txt" and (text_column or label_column):
        raise typer.BadParameter("A .txt file has a text per line, and no columns.")
    with results_only() as out:
        from bert_keras_layers_cli.data.feature_file import write_features
        from bert_keras_layers_cli.data.output_file import check_output
        from bert_keras_layers_cli.data.table_file import read_columns
        from bert_keras_layers_cli.data.text_lines import read_lines
        from bert_keras_layers_cli.runs.text_vectors import TextVectors

        check_output(output, ".npz")
        labels = None
        if data.suffix == ".txt":
            texts = read_lines(data)
        else:
            names = [text_column or "text", *filter(None, [label_column])]
            texts, *more = read_columns(data, names)
            labels = more[0] if more else None
        vectors = TextVectors(encoder, parse_layers(layers), pooling.split(","))
        with progress_bar("texts", len(texts)) as advance:
            batches = vectors.batches(texts, batch_size, advance)
            write_features(output, (len(texts), vectors.width), batches, labels)
        results = {"texts": len(texts), "width": vectors.width, "file": str(output)}
        print_results(results, as_json, out)

"""The commands of `bert-keras`, together."""

from typing import Annotated

import typer

from bert_keras_layers_cli.commands import (
    export,
    extract,
    lint,
    predict,
    server_files,
    train,
)

_EPILOG = """\
[bold]Exit codes[/bold]
0    done
1    could not be done: bad data, no such model; or `lint` found something
2    the command line itself is wrong
130  interrupted by Ctrl-C; nothing is left half-written

`bert-keras COMMAND --help` has examples of each command."""

app = typer.Typer(
    help="Every hidden state of BERT, from text to a served model.",
    epilog=_EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("train", epilog=train.EXAMPLES)(train.train)
app.command("predict", epilog=predict.EXAMPLES)(predict.predict)
app.command("extract", epilog=extract.EXAMPLES)(extract.extract)
app.command("export", epilog=export.EXAMPLES)(export.export)
app.command("lint", epilog=lint.EXAMPLES)(lint.lint)
app.command("server-files", epilog=server_files.EXAMPLES)(server_files.server_files)


def _print_version(wanted: bool) -> None:
    if wanted:
        # That of the installed package: to import it would load Keras.
        from importlib.metadata import version

        typer.echo(version("bert-keras-layers"))
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version.",
            callback=_print_version,
            is_eager=True,
        ),
    ] = False,
) -> None:
    pass

"""Console: results on stdout, all else on stderr, errors as one sentence."""

import contextlib
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TextIO

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from bert_keras_layers_cli.quiet_start import load_library


@contextlib.contextmanager
def results_only() -> Iterator[TextIO]:
    """Gives stdout for results; what is printed otherwise goes to stderr.

    Errors of bad input end the command with a sentence and exit code 1, Ctrl-C with
    a sentence and 130.
    """
    out = sys.stdout
    try:
        load_library()
        with contextlib.redirect_stdout(sys.stderr):
            yield out
    except KeyboardInterrupt:
        typer.echo("Interrupted: nothing is left half-written.", err=True)
        raise typer.Exit(130) from None
    except BrokenPipeError:
        raise  # The reader has enough, as in `... | head`; typer says nothing then.
    except (ValueError, OSError, RuntimeError, ImportError) as error:
        typer.echo(f"Error: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(1) from None


def print_json(value: Any, out: TextIO) -> None:
    """Prints a value as JSON, in one line."""
    typer.echo(json.dumps(value, ensure_ascii=False), file=out)


def print_results(results: Mapping[str, Any], as_json: bool, out: TextIO) -> None:
    """Prints named results: numbers, texts, lists of texts."""
    if as_json:
        print_json(results, out)
        return
    table = Table(show_header=False)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for name, value in results.items():
        table.add_row(name.replace("_", " "), Text(_readable(value)))
    print_table(table, out)


def print_table(table: Table, out: TextIO) -> None:
    """Prints a table."""
    Console(file=out).print(table)


@contextlib.contextmanager
def progress_bar(
    unit: str, total: int, shown: bool = True
) -> Iterator[Callable[[int], None]]:
    """Gives a function that is called with how many more are done.

    Args:
        unit: What is counted, such as `"texts"`.
        total: How many there are.
        shown: Whether to show it, if stderr is a terminal.
    """
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
    )
    disable = not (shown and console.is_terminal)
    with Progress(*columns, console=console, disable=disable) as progress:
        task = progress.add_task(unit, total=total)
        yield lambda done: progress.advance(task, done)


class _Rate(ProgressColumn):
    """How many per second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:.1f}/s")


def _readable(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return ", ".join(value) if isinstance(value, list) else str(value)

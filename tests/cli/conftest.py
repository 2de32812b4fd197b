import pathlib
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from bert_keras_layers_cli.app import app


@pytest.fixture
def bert_keras():
    """A function that runs a command line in this process."""

    def run(*arguments, stdin=None):
        # Not catching shows where an error came from that is none of the user's.
        return CliRunner().invoke(
            app,
            [*map(str, arguments)],
            input=stdin,
            env={"COLUMNS": "80", "TERM": "dumb"},
            catch_exceptions=False,
            prog_name="bert-keras",
        )

    return run


@pytest.fixture
def installed_program():
    """A function that runs the installed program."""

    def run(*arguments, **environment):
        return subprocess.run(
            [pathlib.Path(sys.executable).with_name("bert-keras"), *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )

    return run

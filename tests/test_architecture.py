"""The package keeps the order of its stages, its size limits and its promises."""

import ast
import pathlib

import pytest

import bert_keras_layers

PACKAGE = pathlib.Path(bert_keras_layers.__file__).parent
COMMAND_LINE = PACKAGE.with_name("bert_keras_layers_cli")
STAGES = [
    "types",
    "version",
    "files",
    "preprocessing",
    "encoders",
    "layers",
    "heads",
    "training",
    "models",
    "serving",
]
SOURCES = sorted(PACKAGE.rglob("*.py"))
COMMAND_LINE_SOURCES = sorted(COMMAND_LINE.rglob("*.py"))


def imported_stages(tree):
    """Yields the stage of every import of the package, nested ones too."""
    for node in ast.walk(tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
            assert not node.level, "imports are absolute"
        for name in names:
            assert not name.startswith("bert_keras_layers_cli"), "it is to the right"
            if name.startswith("bert_keras_layers."):
                yield name.split(".")[1]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_stage_imports_only_stages_to_its_left(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    if parts == ("__init__",):
        return
    own = STAGES.index(parts[0])
    for stage in imported_stages(ast.parse(path.read_text("utf-8"))):
        assert STAGES.index(stage) <= own, f"{path.name} imports {stage}"


@pytest.mark.parametrize(
    "path", [*SOURCES, *COMMAND_LINE_SOURCES], ids=lambda path: path.stem
)
def test_a_file_stays_short_and_never_asserts(path):
    text = path.read_text("utf-8")
    assert len(text.splitlines()) <= 250
    assert not any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(text)))


def test_importing_the_package_imports_no_optional_library(run_python):
    printed = run_python(
        """
import sys
import keras
before = set(sys.modules)
import bert_keras_layers
print(sorted({name.split(".")[0] for name in set(sys.modules) - before}))
"""
    )
    imported = set(ast.literal_eval(printed.splitlines()[-1]))
    optional = {
        "grpc",
        "huggingface_hub",
        "jax",
        "kagglehub",
        "rich",
        "seqeval",
        "sklearn",
        "tensorflow_hub",
        "tensorflow_serving",
        "tensorflow_text",
        "tf_keras",
        "torch",
        "transformers",
        "typer",
    }
    # Keras itself may have imported some; the package adds none.
    assert not imported & optional


# It needs TensorFlow only in that the extra `cli` is installed where that is.
@pytest.mark.tensorflow
def test_help_and_completion_wait_for_no_large_library(run_python):
    printed = run_python(
        """
import sys
import bert_keras_layers_cli.main, bert_keras_layers_cli.app
print(sorted({name.split(".")[0] for name in sys.modules}))
"""
    )
    imported = set(ast.literal_eval(printed))
    assert "typer" in imported
    assert not imported & {
        "bert_keras_layers",
        "huggingface_hub",
        "keras",
        "numpy",
        "tensorflow",
        "tokenizers",
    }


def test_every_public_name_is_there_and_documented():
    for name in bert_keras_layers.__all__:
        value = getattr(bert_keras_layers, name)
        assert name == "__version__" or value.__doc__

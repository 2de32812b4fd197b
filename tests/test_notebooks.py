"""The notebooks run from top to bottom as they are, offline, on the wheel."""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest

import bert_keras_layers

ROOT = pathlib.Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
REPOSITORY = "bert-keras-layers/bert-keras-layers"
COLAB = f"https://colab.research.google.com/github/{REPOSITORY}/blob/main/notebooks/"

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@each_notebook
def test_outputs_are_stripped(path):
    cells = json.loads(path.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code
    for cell in code:
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


@each_notebook
def test_the_first_cell_has_the_badge_of_this_notebook(path):
    first = json.loads(path.read_text("utf-8"))["cells"][0]
    assert first["cell_type"] == "markdown"
    badge = "".join(first["source"]).splitlines()[0]
    assert badge.startswith("[![Open in Colab](https://colab.research.google.com/")
    assert badge.endswith(f"]({COLAB}{path.name})")


@pytest.fixture(scope="module")
def installed_wheel(tmp_path_factory):
    """Folder to import the package from, None where a wheel is installed already."""
    if ROOT not in pathlib.Path(bert_keras_layers.__file__).parents:
        return None
    # Setuptools builds where the sources are: away from the checkout.
    source = tmp_path_factory.mktemp("source")
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for package in ROOT.glob("bert_keras_layers*/__init__.py"):
        shutil.copytree(package.parent, source / package.parent.name)
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index"]
    options = ["--no-deps", "--no-build-isolation", "--target", str(target)]
    subprocess.run([*pip, *options, str(source)], check=True)
    return target


@pytest.mark.tensorflow
@pytest.mark.usefixtures("published_minilm")
@each_notebook
def test_it_runs_on_the_installed_wheel(path, installed_wheel, tmp_path, monkeypatch):
    import nbformat
    from ipykernel.kernelspec import write_kernel_spec
    from nbclient import NotebookClient

    # A kernel of this very Python, whatever kernels are registered elsewhere.
    write_kernel_spec(tmp_path / "jupyter" / "kernels" / "python3")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    if installed_wheel:
        monkeypatch.setenv("PYTHONPATH", str(installed_wheel))
    shutil.copytree(ROOT / "demo", tmp_path / "demo")
    for fixture in ("hub_encoder", "hub_preprocess"):
        shutil.copytree(
            ROOT / "tests" / "fixtures" / fixture,
            tmp_path / "tests" / "fixtures" / fixture,
        )
    folder = tmp_path / "notebooks"
    folder.mkdir()
    notebook = nbformat.read(path, as_version=4)
    where = nbformat.v4.new_code_cell(
        "import bert_keras_layers; print(bert_keras_layers.__file__)"
    )
    notebook.cells.append(where)
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        timeout=300,
    )
    client.execute()  # Raises at the first cell that does.
    (printed,) = where.outputs
    package = installed_wheel or pathlib.Path(bert_keras_layers.__file__).parents[1]
    assert package in pathlib.Path(printed.text.strip()).parents

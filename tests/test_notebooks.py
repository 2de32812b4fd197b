"""The notebooks run from top to bottom as they are, offline, outside the checkout."""

import json
import pathlib
import shutil

import pytest

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


@pytest.mark.tensorflow
@pytest.mark.usefixtures("published_minilm")
@each_notebook
def test_it_runs(path, tmp_path, monkeypatch):
    import nbformat
    from ipykernel.kernelspec import write_kernel_spec
    from nbclient import NotebookClient

    # A kernel of this very Python, whatever kernels are registered elsewhere.
    write_kernel_spec(tmp_path / "jupyter" / "kernels" / "python3")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    monkeypatch.delenv("KERAS_BACKEND", raising=False)  # Theirs to choose.
    shutil.copytree(ROOT / "demo", tmp_path / "demo")
    for fixture in ("hub_encoder", "hub_preprocess"):
        shutil.copytree(
            ROOT / "tests" / "fixtures" / fixture,
            tmp_path / "tests" / "fixtures" / fixture,
        )
    folder = tmp_path / "notebooks"
    folder.mkdir()
    client = NotebookClient(
        nbformat.read(path, as_version=4),
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        timeout=300,
    )
    client.execute()  # Raises at the first cell that does.

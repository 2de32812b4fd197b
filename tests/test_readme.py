"""What the README shows runs, and names what there is."""

import pathlib
import re

import pytest

import bert_keras_layers

README = (pathlib.Path(__file__).parents[1] / "README.md").read_text("utf-8")


def test_the_table_names_the_public_api():
    (table,) = re.findall(r"^\| stage .*?\n\n", README, re.DOTALL | re.MULTILINE)
    names = re.findall(r"`(\w+)`", table)
    assert len(set(names)) == len(names)
    assert set(names) == set(bert_keras_layers.__all__) - {"__version__"}


@pytest.mark.tensorflow
def test_the_example_runs(published_minilm, tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    assert published_minilm in code
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["probabilities"].shape == (1, 2)
    assert (tmp_path / "saved_models" / "parcels" / "1" / "saved_model.pb").is_file()

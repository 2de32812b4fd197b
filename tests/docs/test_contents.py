"""Pages name what there is: public names, notebooks, extras, versions."""

import collections
import configparser
import re

from docs.pages import DOCS

import bert_keras_layers

ROOT = DOCS.parent
REPOSITORY = "bert-keras-layers/bert-keras-layers"


def test_every_public_name_is_on_one_page_of_the_reference():
    text = "".join(page.read_text("utf-8") for page in DOCS.glob("reference/*.md"))
    names = collections.Counter(re.findall(r"^::: (\S+)$", text, re.MULTILINE))
    public = set(bert_keras_layers.__all__) - {"__version__"}
    assert names == {f"bert_keras_layers.{name}": 1 for name in public}


def test_every_notebook_is_in_the_table():
    text = (DOCS / "notebooks.md").read_text("utf-8")
    listed = re.findall(r"^\| `(\w+)` \|(.*)$", text, re.MULTILINE)
    assert {path.stem for path in ROOT.glob("notebooks/*.ipynb")} <= set(dict(listed))
    for name, row in listed:
        place = f"{REPOSITORY}/blob/main/notebooks/{name}.ipynb"
        assert f"(https://colab.research.google.com/github/{place})" in row
        assert f"(https://github.com/{place})" in row


def test_extras_that_are_named_exist():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg", "utf-8")
    text = (DOCS / "install.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    asked = re.findall(r"bert-keras-layers\[([\w,]+)\]", text)
    named |= {name for extras in asked for name in extras.split(",")}
    assert "tensorflow" in named
    assert named <= set(setup["options.extras_require"])

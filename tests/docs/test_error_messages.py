"""The page on errors quotes what the package says."""

import ast
import pathlib
import re

import pytest
from docs.pages import DOCS, quotes

import bert_keras_layers

ANYTHING = "\0"  # In place of what is filled in.
PACKAGE = pathlib.Path(bert_keras_layers.__file__).parent
MESSAGES = list(quotes(DOCS / "troubleshooting.md"))
OWN = [quote for section, quote in MESSAGES if section.startswith("The library's own")]


def expectations():
    """Returns a pattern for each text in the package, up to what it received."""
    patterns = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            text = "".join(map(template_of, parts))
            expected = re.split(r"\.? (?:Received|Missing)", text)[0]
            if len(expected.replace(ANYTHING, "").split()) > 3:  # Not "{a} and {b}".
                pattern = re.escape(expected).replace(re.escape(ANYTHING), ".+")
                patterns.append(re.compile(pattern))
    return patterns


def template_of(part):
    if isinstance(part, ast.FormattedValue):
        return ANYTHING
    value = getattr(part, "value", None)
    return value if isinstance(value, str) else ""


EXPECTATIONS = expectations()


@pytest.mark.parametrize("quote", OWN)
def test_a_quoted_message_is_one_of_the_package(quote):
    assert any(one.fullmatch(quote.rstrip(".")) for one in EXPECTATIONS)


def test_messages_of_others_and_our_own_are_quoted():
    assert len(OWN) > 15
    assert len(MESSAGES) - len(OWN) > 10

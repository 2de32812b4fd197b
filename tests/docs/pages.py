"""The pages of the documentation, and what runs their Python."""

import pathlib
import re
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

DOCS = pathlib.Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
RAISES = "raises"

_PARTS = re.compile(
    r'^(?:(#+) ([^\n]*)|```python(?: title="([^"\n]*)")?\n(.*?)^```$)',
    re.DOTALL | re.MULTILINE,
)
_CODE = re.compile(r"(?:`` (.*) ``|`(.*)`)(?: \{.*\})?")
_PRINT = re.compile(r"\s*print\(.*\)  # (.*)")


class Block(NamedTuple):
    """Python on a page, its title, and the heading above it."""

    heading: str
    title: str | None
    code: str


def blocks(page: pathlib.Path) -> Iterator[Block]:
    heading = ""
    for _, text, title, code in _parts(page):
        heading = text or heading
        if code:
            yield Block(heading, title, code)


def quotes(page: pathlib.Path) -> Iterator[tuple[str, str]]:
    """Yields each heading that is a message, after the heading of its section."""
    section = ""
    for level, text, *_ in _parts(page):
        if level == "##":
            section = text
        elif level == "###" and (message := _CODE.fullmatch(text)):
            yield section, message[1] or message[2]


def run(page: pathlib.Path) -> None:
    """Runs a page from top to bottom; what it says of its output must be true."""
    names: dict[str, Any] = {}
    for block in blocks(page):
        if block.title is None:
            _run_and_compare(block.code, names)
        elif block.title == RAISES:
            _check_raises(block, names)


def _parts(page: pathlib.Path) -> list[tuple[str | None, ...]]:
    return [match.groups() for match in _PARTS.finditer(page.read_text("utf-8"))]


def _run_and_compare(code: str, names: dict[str, Any]) -> None:
    """Runs a block; the comment after a `print(...)` must be what it prints."""
    printed: dict[int, str] = {}

    def noted(*values: Any) -> None:
        printed[sys._getframe(1).f_lineno] = " ".join(map(str, values))

    names["print"] = noted
    exec(compile(code, "page", "exec"), names)
    for number, line in enumerate(code.splitlines(), start=1):
        if said := _PRINT.fullmatch(line):
            assert printed[number] == said[1], line


def _check_raises(block: Block, names: dict[str, Any]) -> None:
    message = _CODE.fullmatch(block.heading)
    assert message, f"no message above {block.code}"
    quoted = message[1] or message[2]
    try:
        exec(compile(block.code, "page", "exec"), names)
    except Exception as error:
        received = str(error)
    else:
        raise AssertionError(f"nothing was raised by {block.code}")
    for part in quoted.split("…"):
        assert part.strip() in received, (quoted, received)

"""Docstring sections: those of this house, as mkdocstrings can show them.

An extension of griffe, named in `mkdocs.yml`. It changes nothing in the sources.
"""

import re
from typing import Any

import griffe

_TITLES = {
    "Args": "Arguments",
    "Call arguments": "Call arguments",
    "Output shape": "Output shape",
    "Returns": "Returns",
    "Raises": "Raises",
    "Example": "Example",
    "Reference": "Reference",
}
_HEADING = re.compile(rf"^({'|'.join(_TITLES)}):$", re.MULTILINE)
_ITEM = re.compile(r"^(\*{0,2}\w+): ", re.MULTILINE)
_LISTS = ("Args", "Call arguments", "Raises")


class HouseSections(griffe.Extension):
    """Translates the docstrings of a package once all its modules are read."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Translates every docstring of a package in place."""
        for one in _objects(pkg):
            if one.docstring is not None:
                one.docstring.value = translated(one.docstring.value)


def translated(docstring: str) -> str:
    """Returns a docstring with titles, lists and code that Markdown knows.

    Types are in the signature above, so a list of arguments is one of their names.
    """
    text, *parts = _HEADING.split(docstring)
    sections = zip(parts[::2], parts[1::2], strict=True)
    return "\n\n".join([text.rstrip(), *(_section(*section) for section in sections)])


def _section(heading: str, content: str) -> str:
    content = content.strip("\n").rstrip()
    if heading == "Example":  # The one section that griffe is to read: doctests.
        lines = [line and f"    {line}" for line in content.splitlines()]
        return "\n".join([f"Examples: {_TITLES[heading]}", *lines])
    content = re.sub(r"^ {4}", "", content, flags=re.MULTILINE)
    if heading in _LISTS:
        content = _ITEM.sub(r"- `\1`: ", content)
    title = f'<span class="doc-section-title">{_TITLES[heading]}</span>'
    return f"{title}\n\n{content}"


def _objects(scope: griffe.Module | griffe.Class) -> list[Any]:
    found: list[Any] = [scope]
    for member in scope.members.values():
        if isinstance(member, griffe.Module | griffe.Class):
            found += _objects(member)
        elif not member.is_alias:
            found.append(member)
    return found

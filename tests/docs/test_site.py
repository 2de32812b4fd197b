"""The site builds without a warning, holds together, and fetches nothing."""

import html.parser
import pathlib
import re
import urllib.parse

import pytest

pytestmark = pytest.mark.docs


class Page(html.parser.HTMLParser):
    """The anchors of a page, its links, and what a browser loads for it."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loaded = set(), set(), set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors |= {attributes.get("id"), attributes.get("name")} - {None}
        if tag == "a" and attributes.get("href"):
            self.links.add(attributes["href"])
        elif tag == "link" and attributes.get("rel") != "canonical":
            self.loaded.add(attributes["href"])
        elif attributes.get("src"):
            self.loaded.add(attributes["src"])


@pytest.fixture(scope="module")
def pages(site):
    # The 404 page names everything from the root of a server.
    paths = [path for path in site.rglob("*.html") if path.name != "404.html"]
    return {path.resolve(): Page(path) for path in paths}


def is_external(link):
    return urllib.parse.urlsplit(link).scheme in ("http", "https")


def test_links_lead_to_pages_and_anchors_that_exist(pages):
    checked = 0
    for path, page in pages.items():
        for link in page.links | page.loaded:
            if is_external(link):
                continue
            target = urllib.parse.urlsplit(link)
            file = (path.parent / urllib.parse.unquote(target.path)).resolve()
            file = file if target.path else path
            assert file.is_file(), f"{path.name}: {link}"
            if target.fragment and file in pages:
                anchor = urllib.parse.unquote(target.fragment)
                assert anchor in pages[file].anchors, f"{path.name}: {link}"
            checked += 1
    assert checked > 500


def test_a_browser_loads_nothing_from_elsewhere(site, pages):
    for path, page in pages.items():
        assert not list(filter(is_external, page.loaded)), path.name
    for path in site.rglob("*.css"):
        style = path.read_text("utf-8")
        assert not re.search(r"(@import|url\()\s*['\"]?https?:", style), path.name


def test_docstrings_become_titles_lists_and_code(site):
    text = (pathlib.Path(site) / "reference" / "over_layers.html").read_text("utf-8")
    for title in ("Arguments", "Call arguments", "Output shape", "Raises", "Reference"):
        assert f'<span class="doc-section-title">{title}</span></p>' in text
    assert "<li><code>hidden_states</code>: List of float tensors" in text
    assert '<span class="gp">&gt;&gt;&gt; </span>' in text
    assert "Call arguments:" not in text

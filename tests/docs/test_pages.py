"""The Python of every page runs, from top to bottom, and prints what it says."""

import collections

import pytest
from docs.pages import DOCS, PAGES, RAISES, blocks, run

# Why a block does not run here, and how many there are.
NOT_RUN = {
    "after the first line": 1,
    "elsewhere, on TensorFlow": 1,
    "in the first cell": 1,
    "needs a server": 1,
    "needs the network": 1,
    "on JAX": 1,
}
TROUBLESHOOTING = DOCS / "troubleshooting.md"
RUNNING = [
    page
    for page in PAGES
    if page != TROUBLESHOOTING and any(block.title is None for block in blocks(page))
]


@pytest.mark.tensorflow
@pytest.mark.parametrize("page", RUNNING, ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(page, workplace):
    run(page)


@pytest.mark.tensorflow
def test_the_code_on_errors_raises_what_its_headings_quote(workplace, run_python):
    # In a process of its own: operations that were registered stay registered.
    folders = [str(DOCS.parent), str(DOCS.parent / "tests")]
    run_python(
        f"import pathlib, sys; sys.path[:0] = {folders}\n"
        "from docs.pages import run\n"
        f"run(pathlib.Path({str(TROUBLESHOOTING)!r}))"
    )


def test_few_blocks_do_not_run_and_these_compile():
    titles = collections.Counter()
    for page in PAGES:
        for block in blocks(page):
            compile(block.code, page.name, "exec")
            titles[block.title] += 1
    del titles[None], titles[RAISES]
    assert titles == NOT_RUN

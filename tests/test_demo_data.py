"""The data of the demos are what their READMEs say."""

import csv
import pathlib
import re

import pytest

DEMO = pathlib.Path(__file__).parents[1] / "demo"
UPOS = {"ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART"}
UPOS |= {"PRON", "PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"}
TYPES = {"DATE", "MONEY", "ORDER", "PLACE", "PRODUCT"}


def tagged(name):
    text = (DEMO / "tagged_messages" / f"{name}.conll").read_text("utf-8")
    return [
        [line.split("\t") for line in block.splitlines()]
        for block in text.rstrip("\n").split("\n\n")
    ]


def spaceless(text):
    return re.sub(r"\s", "", text)


def messages(name):
    path = DEMO / "customer_messages" / f"{name}.tsv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {spaceless(row["text"]) for row in rows}


each_file = pytest.mark.parametrize(("name", "size"), [("train", 300), ("test", 100)])


@each_file
def test_tagged_sentences_are_messages_of_the_same_split(name, size):
    texts = ["".join(word for word, _, _ in rows) for rows in tagged(name)]
    assert len(set(texts)) == len(texts) == size
    assert set(texts) <= messages(name)


def test_no_tagged_message_is_in_both_files():
    train, test = (
        {tuple(word.lower() for word, _, _ in rows) for rows in tagged(name)}
        for name in ("train", "test")
    )
    assert not train & test


@each_file
def test_tags_are_upos_and_iob2(name, size):
    for rows in tagged(name):
        before = "O"
        for word, pos, entity in rows:
            assert pos in UPOS, word
            position, _, kind = entity.partition("-")
            assert entity == "O" or (position in "BI" and kind in TYPES), word
            if position == "I":
                assert before in (f"B-{kind}", f"I-{kind}"), word
            before = entity


def test_the_readme_counts_what_is_there():
    readme = (DEMO / "tagged_messages" / "README.md").read_text("utf-8")
    counts = {kind: [] for kind in TYPES}
    for name in ("train", "test"):
        rows = [row for sentence in tagged(name) for row in sentence]
        entities = [row[2] for row in rows]
        for kind in TYPES:
            counts[kind].append(entities.count(f"B-{kind}"))
        total = sum(entity.startswith("B-") for entity in entities)
        assert f"| {len(tagged(name))} | {len(rows):,} | {total} |" in readme
    for kind, (train, test) in counts.items():
        assert re.search(rf"^\| `{kind}` .*\| {train} \| {test} \|$", readme, re.M)


def test_words_are_cut_by_the_rule_of_the_readme():
    readme = (DEMO / "tagged_messages" / "README.md").read_text("utf-8")
    names = {}
    exec(re.search(r"```python\n(.*?)```", readme, re.S).group(1), names)
    assert names["words"][:3] == ["Do", "n't", "touch"]
    for name in ("train", "test"):
        path = DEMO / "customer_messages" / f"{name}.tsv"
        lines = path.read_text("utf-8").splitlines()[1:]
        cut = {tuple(names["WORD"].findall(line.split("\t")[0])) for line in lines}
        assert {tuple(word for word, _, _ in rows) for rows in tagged(name)} <= cut

"""Vocabularies, real texts, and Hugging Face's tokenizer to compare with."""

import gzip

import numpy as np
import pytest

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
CASED_WORDS = (
    "I love Paris You and yours a b i un ##like ##ly ##s é É ß ( ) . 中 \u1100"
)


@pytest.fixture(scope="session")
def small_vocabulary():
    """Ids 4 and up: `i`, `love`, `paris`, `##s`, `.`, `[`, `sep`, `]`."""
    return [*SPECIAL, "i", "love", "paris", "##s", ".", "[", "sep", "]"]


@pytest.fixture(scope="session")
def vocabulary_files(minilm, tmp_path_factory):
    """Vocabulary files of uncased models, by the value of `lowercase`."""
    cased = tmp_path_factory.mktemp("cased") / "vocab.txt"
    letters = [letter for c in map(chr, range(33, 383)) for letter in (c, f"##{c}")]
    tokens = dict.fromkeys([*SPECIAL, *CASED_WORDS.split(), *letters])
    cased.write_text("\n".join(tokens), encoding="utf-8")
    return {True: minilm / "vocab.txt", False: cased}


@pytest.fixture(scope="session")
def real_texts(data_folder):
    """All sentences of WNUT-17 and of UD EWT: 22,312."""
    texts = []
    for name in ("wnut17train.conll", "emerging.dev.conll", "emerging.test.annotated"):
        file = data_folder / "wnut17" / name
        blocks = file.read_text(encoding="utf-8").replace("\t\n", "\n").split("\n\n")
        for block in blocks:
            lines = [line.split("\t")[0] for line in block.splitlines() if line.strip()]
            texts.append(" ".join(lines))
    for file in sorted((data_folder / "ud_ewt").glob("*.conllu*")):
        opened = gzip.open if file.suffix == ".gz" else open
        with opened(file, "rt", encoding="utf-8") as lines:
            mark = "# text = "
            texts += [x[len(mark) :].rstrip("\n") for x in lines if x.startswith(mark)]
    return [text for text in texts if text]


@pytest.fixture(scope="session")
def reference():
    """A function: vocabulary file -> Hugging Face's tokenizer as we mean it."""

    def make(file, lowercase):
        from transformers import BertTokenizerFast

        tokenizer = BertTokenizerFast(str(file), do_lower_case=lowercase)

        def encode(texts, pairs=None, length=None):
            lists = tokenizer(
                list(texts),
                None if pairs is None else list(pairs),
                split_special_tokens=True,
                truncation="longest_first" if length else False,
                max_length=length,
                padding=True,
            )
            # Asked for tensors, it looks at every number in Python.
            return {name: np.array(rows) for name, rows in lists.items()}

        return encode

    return make

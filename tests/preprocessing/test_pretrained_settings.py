import json

import pytest

from bert_keras_layers import BertPreprocessor
from bert_keras_layers.preprocessing.pretrained_settings import pretrained_settings

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##b", "\u2028"]
PIPELINE = {
    "added_tokens": [{"id": 0, "content": "[PAD]", "special": True}],
    "normalizer": {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": False,
    },
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "model": {
        "type": "WordPiece",
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
        "vocab": {token: index for index, token in reversed([*enumerate(TOKENS)])},
    },
}


def changed(section, **values):
    return {**PIPELINE, section: {**PIPELINE[section], **values}}


@pytest.fixture
def checkpoint(tmp_path):
    """A function that writes the files of a checkpoint; `None` leaves one out."""

    def write(vocabulary=TOKENS, **files):
        if vocabulary is not None:
            text = "\n".join(vocabulary) + "\n"
            (tmp_path / "vocab.txt").write_text(text, encoding="utf-8")
        for name, content in files.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(content))
        return tmp_path

    return write


def test_a_vocabulary_alone_is_uncased(checkpoint):
    expected = {"vocabulary": TOKENS, "lowercase": True, "sequence_length": None}
    assert pretrained_settings(checkpoint()) == expected
    assert pretrained_settings(str(checkpoint() / "vocab.txt")) == expected


def test_settings_come_from_the_files(checkpoint):
    folder = checkpoint(
        tokenizer_config={
            "do_lower_case": False,
            "tokenizer_class": "BertTokenizer",
            "cls_token": {"content": "[CLS]", "special": True},
            "added_tokens_decoder": {"0": {"content": "[PAD]", "special": True}},
        },
        config={"max_position_embeddings": 64},
    )
    for source in (folder, folder / "vocab.txt"):
        preprocessor = BertPreprocessor.from_pretrained(source)
        assert preprocessor.get_config() == {
            "vocabulary": TOKENS,
            "lowercase": False,
            "sequence_length": 64,
            "padding": "longest",
        }


def test_arguments_win_over_the_files(checkpoint):
    folder = checkpoint(config={"max_position_embeddings": 64})
    preprocessor = BertPreprocessor.from_pretrained(
        folder, lowercase=False, sequence_length=None, padding=8
    )
    assert preprocessor.sequence_length is None
    assert preprocessor.lowercase is False
    assert preprocessor.padding == 8


def test_tokenizer_json_holds_a_vocabulary_too(checkpoint):
    settings = pretrained_settings(checkpoint(vocabulary=None, tokenizer=PIPELINE))
    assert settings["vocabulary"] == TOKENS
    assert settings["lowercase"] is False


def test_lower_case_of_tokenizer_config_goes_first(checkpoint):
    config = {"do_lower_case": True}
    folder = checkpoint(tokenizer=PIPELINE, tokenizer_config=config)
    assert pretrained_settings(folder)["lowercase"] is True


def test_the_settings_of_a_real_checkpoint(minilm):
    preprocessor = BertPreprocessor.from_pretrained(minilm)
    assert preprocessor.vocabulary_size == 30522
    assert preprocessor.lowercase is True
    assert preprocessor.sequence_length == 512


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"tokenizer_config": {"strip_accents": False}}, "strip_accents=False"),
        (
            {"tokenizer_config": {"strip_accents": True, "do_lower_case": False}},
            "`strip_accents` must be False.*strip_accents=True",
        ),
        (
            {"tokenizer_config": {"tokenize_chinese_chars": False}},
            "tokenize_chinese_chars=False",
        ),
        ({"tokenizer_config": {"cls_token": "<s>"}}, "cls_token='<s>'"),
        ({"tokenizer_config": {"truncation_side": "left"}}, "truncation_side='left'"),
        (
            {"tokenizer_config": {"tokenizer_class": "BertJapaneseTokenizer"}},
            "`tokenizer_class` must be one of.*'BertJapaneseTokenizer'",
        ),
        ({"tokenizer": changed("model", type="BPE")}, "WordPiece. Received: 'BPE'"),
        ({"tokenizer": {**PIPELINE, "normalizer": None}}, "BertNormalizer. .*None"),
        (
            {"tokenizer": changed("pre_tokenizer", type="Whitespace")},
            "BertPreTokenizer. Received: 'Whitespace'",
        ),
        (
            {"tokenizer": changed("normalizer", strip_accents=True)},
            "strip_accents=True",
        ),
        ({"tokenizer": changed("normalizer", clean_text=False)}, "clean_text=False"),
        (
            {"tokenizer": changed("model", max_input_chars_per_word=200)},
            "max_input_chars_per_word=200",
        ),
        (
            {"tokenizer": {**PIPELINE, "added_tokens": [{"content": "<new>"}]}},
            r"added to a vocabulary later.*\['<new>'\]",
        ),
        (
            {"tokenizer_config": {"added_tokens_decoder": {"7": {"content": "<x>"}}}},
            r"added to a vocabulary later.*\['<x>'\]",
        ),
    ],
)
def test_what_is_not_implemented_is_refused_by_name(checkpoint, files, message):
    with pytest.raises(ValueError, match=message):
        BertPreprocessor.from_pretrained(checkpoint(**files))


def test_gaps_in_the_ids_are_refused(checkpoint):
    tokenizer = changed("model", vocab={"a": 0, "b": 2})
    with pytest.raises(ValueError, match=r"ids in tokenizer.json must be 0 to 1"):
        pretrained_settings(checkpoint(vocabulary=None, tokenizer=tokenizer))


def test_a_folder_without_a_vocabulary_is_named(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"must hold vocab.txt or tokenizer.json"
    ):
        pretrained_settings(tmp_path)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="existing folder or a hub id"):
        pretrained_settings(tmp_path / "none")

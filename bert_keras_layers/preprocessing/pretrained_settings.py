"""Pretrained settings: a checkpoint's tokenizer files -> constructor arguments."""

import json
import os
import pathlib
from typing import Any

from bert_keras_layers.files.pretrained_folder import pretrained_folder
from bert_keras_layers.preprocessing.vocabulary import read_vocabulary

# The one value of each setting that our engines implement.
_IMPLEMENTED = {
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "tokenize_chinese_chars": True,
    "clean_text": True,
    "handle_chinese_chars": True,
    "padding_side": "right",
    "truncation_side": "right",
    "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 100,
}
_TOKENIZER_CLASSES = {
    "BertTokenizer",
    "BertTokenizerFast",
    "DistilBertTokenizer",
    "DistilBertTokenizerFast",
    "ElectraTokenizer",
    "ElectraTokenizerFast",
    "MobileBertTokenizer",
    "MobileBertTokenizerFast",
}
_PIPELINE = {
    "model": "WordPiece",
    "normalizer": "BertNormalizer",
    "pre_tokenizer": "BertPreTokenizer",
}
_FILES = ("vocab.txt", "tokenizer.json", "tokenizer_config.json", "config.json")


def pretrained_settings(
    source: str | os.PathLike[str], revision: str | None = None
) -> dict[str, Any]:
    """Reads the arguments of `BertPreprocessor` from a checkpoint's files.

    `lowercase` is `do_lower_case` of `tokenizer_config.json`, else what
    `tokenizer.json` says, else `True`.

    Args:
        source: A folder, a vocabulary file, or a hub id.
        revision: Branch, tag or commit on the hub.

    Returns:
        A dict of `vocabulary`, `lowercase` and `sequence_length`.

    Raises:
        FileNotFoundError: If there is no vocabulary.
        ValueError: If a setting asks for what is not implemented; it is named.
    """
    file = pathlib.Path(source).expanduser()
    if file.is_file():
        folder, vocabulary_file = file.parent, file
    else:
        folder = pretrained_folder(source, _FILES, revision)
        vocabulary_file = folder / "vocab.txt"
    tokenizer = _json(folder / "tokenizer.json")
    config = _json(folder / "tokenizer_config.json")
    _check_pipeline(tokenizer, config, folder)
    sections = [config, *(tokenizer.get(section) or {} for section in _PIPELINE)]
    normalizer = tokenizer.get("normalizer") or {}
    lowercase = config.get("do_lower_case", normalizer.get("lowercase", True))
    _check_settings(sections, lowercase, folder)
    _check_added_tokens(tokenizer, config, folder)
    return {
        "vocabulary": _vocabulary(vocabulary_file, tokenizer),
        "lowercase": lowercase,
        "sequence_length": _json(folder / "config.json").get("max_position_embeddings"),
    }


def _json(file: pathlib.Path) -> dict[str, Any]:
    if not file.is_file():
        return {}
    return dict(json.loads(file.read_text(encoding="utf-8")))


def _vocabulary(file: pathlib.Path, tokenizer: dict[str, Any]) -> list[str]:
    if file.is_file():
        return read_vocabulary(file)
    if not tokenizer:
        raise FileNotFoundError(
            f"`source` must hold vocab.txt or tokenizer.json. Received: {file.parent}"
        )
    ids = tokenizer["model"]["vocab"]
    if sorted(ids.values()) != list(range(len(ids))):
        raise ValueError(
            f"The ids in tokenizer.json must be 0 to {len(ids) - 1}, each once. "
            f"Received: {file.parent}"
        )
    return sorted(ids, key=ids.__getitem__)


def _check_pipeline(
    tokenizer: dict[str, Any], config: dict[str, Any], folder: pathlib.Path
) -> None:
    if not tokenizer:
        name = config.get("tokenizer_class", "BertTokenizer")
        if name not in _TOKENIZER_CLASSES:
            raise ValueError(
                "`tokenizer_class` must be one of "
                f"{sorted(_TOKENIZER_CLASSES)}. Received: {name!r} in {folder}"
            )
    for section, expected in _PIPELINE.items():
        received = (tokenizer.get(section) or {}).get("type") if tokenizer else expected
        if received != expected:
            raise ValueError(
                f"The {section} in tokenizer.json must be {expected}. "
                f"Received: {received!r} in {folder}"
            )


def _check_settings(
    sections: list[dict[str, Any]], lowercase: bool, folder: pathlib.Path
) -> None:
    implemented = {**_IMPLEMENTED, "strip_accents": lowercase}
    for section in sections:
        for name, expected in implemented.items():
            received = section.get(name)
            if isinstance(received, dict):  # A special token with its flags.
                received = received.get("content")
            if received is not None and received != expected:
                raise ValueError(
                    f"`{name}` must be {expected!r}: nothing else is implemented. "
                    f"Received: {name}={received!r} in {folder}"
                )


def _check_added_tokens(
    tokenizer: dict[str, Any], config: dict[str, Any], folder: pathlib.Path
) -> None:
    listed = [
        *tokenizer.get("added_tokens", []),
        *config.get("added_tokens_decoder", {}).values(),
    ]
    added = [token["content"] for token in listed if not token.get("special")]
    if added:
        raise ValueError(
            "Tokens added to a vocabulary later are not implemented. "
            f"Received: {added[:3]} in {folder}"
        )

"""Writes tiny TF-Hub style encoder SavedModels with the Model Garden's exporters.

The weights are random and the sizes minimal, but the files are genuine: the call
signatures, the tracked sub-objects, the variable names and the assets are what the
exporters of the TensorFlow Model Garden 2.20, unchanged, write:

* ``hub_albert``: ALBERT, dict in and dict out (`nlp/tools/export_tfhub_lib.py`),
  with a sentencepiece model as asset.
* ``hub_mobilebert``: MobileBERT, dict in and dict out (same exporter).
* ``hub_electra``: ELECTRA. The Model Garden has no ELECTRA encoder: it is a BERT
  encoder, with a factorised embedding in the small one, as here.
* ``hub_bert_list`` and ``hub_albert_list``: the older API, list in and
  ``[pooled_output, sequence_output]`` out (`legacy/bert/export_tfhub.py`).

Run it with ``python make_hub_encoders.py OUTPUT_FOLDER [NAME ...]``.

Run with Python 3.11 and tensorflow-cpu 2.20.0, tf_keras 2.20.1, tensorflow-text
2.20.1, tensorflow-hub 0.16.1, tf-models-official 2.20.0 (installed with
``--no-deps``), gin-config 0.5.0, PyYAML 6.0.3, scipy 1.17.1, sentencepiece 0.2.3,
absl-py 2.5.1, numpy 2.4.6, setuptools 65.5.0. Nothing is stubbed. The written files
need tensorflow only.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # The Model Garden is written for Keras 2.

import numpy as np
import sentencepiece
import tensorflow as tf
import tf_keras
from official.legacy.albert.configs import AlbertConfig
from official.legacy.bert import bert_models
from official.legacy.bert import export_tfhub as legacy_export
from official.legacy.bert.configs import BertConfig
from official.nlp.configs import encoders
from official.nlp.tools import export_tfhub_lib

SPECIAL_PIECES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORD_PIECES = (
    *"abcdehilnorstuw",
    *("##" + letter for letter in "adegnrst"),
    *("the", "cat", "dog", "##ing"),
)
SENTENCES = (
    "the cat sat on the mat",
    "a dog chased the cat",
    "the dog and the cat ran in the rain",
    "a rat hid in the hat",
)
POSITIONS = 32
SEED = 20


def write_vocabulary(folder: Path) -> Path:
    """Writes a WordPiece vocabulary of 32 pieces.

    Args:
        folder: Where to write it.

    Returns:
        The path of the vocabulary file.
    """
    path = folder / "vocab.txt"
    path.write_text("\n".join(SPECIAL_PIECES + WORD_PIECES) + "\n", encoding="utf-8")
    return path


def write_sentencepiece_model(folder: Path) -> Path:
    """Trains a sentencepiece model with the special pieces of ALBERT.

    Args:
        folder: Where to write it.

    Returns:
        The path of the sentencepiece model.
    """
    prefix = folder / "spiece"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_prefix=str(prefix),
        vocab_size=32,
        hard_vocab_limit=False,
        pad_id=0,
        unk_id=1,
        bos_id=-1,
        eos_id=-1,
        control_symbols=["[CLS]", "[SEP]", "[MASK]"],
        normalization_rule_name="identity",  # The others add 240 kB of tables.
        num_threads=1,
        minloglevel=2,
    )
    return prefix.with_suffix(".model")


def randomize(encoder: tf_keras.Model) -> None:
    """Gives every variable random values, biases and norms included.

    Kernels are scaled by their number of inputs; the scales of the normalisations are
    spread around one, everything else around zero.

    Args:
        encoder: The model to change in place.
    """
    generator = np.random.default_rng(SEED)
    for variable in encoder.variables:
        name = variable.name.split("/")[-1].split(":")[0]
        values = generator.normal(size=variable.shape)
        if name == "gamma":
            values = 1.0 + 0.2 * values
        elif name == "kernel":
            heads_first = "attention_output" in variable.name  # (heads, size, width)
            fan_in = np.prod(variable.shape[: 2 if heads_first else 1])
            values /= np.sqrt(fan_in)
        elif name == "embeddings":
            values *= 0.5
        else:
            values *= 0.2
        variable.assign(values.astype(np.float32))


def write_checkpoint(build: Callable[[], tf_keras.Model], folder: Path) -> str:
    """Builds an encoder and writes the checkpoint that the exporters restore.

    Args:
        build: Makes the encoder.
        folder: Where to write the checkpoint.

    Returns:
        The checkpoint path.
    """
    tf_keras.backend.clear_session()
    encoder = build()
    randomize(encoder)
    path = tf.train.Checkpoint(encoder=encoder).save(str(folder / "encoder.ckpt"))
    tf_keras.backend.clear_session()  # The exporter builds the same names again.
    return path


def export_config(
    output: Path,
    config: encoders.EncoderConfig,
    scratch: Path,
    *,
    vocab_file: Path | None = None,
    sp_model_file: Path | None = None,
) -> None:
    """Exports an encoder as `nlp/tools/export_tfhub.py --export_type model` does.

    Args:
        output: The SavedModel folder to write.
        config: What to build.
        scratch: A folder for the checkpoint.
        vocab_file: The WordPiece vocabulary, if the encoder uses one.
        sp_model_file: The sentencepiece model, if the encoder uses one.
    """
    checkpoint = write_checkpoint(lambda: encoders.build_encoder(config), scratch)
    vocab = str(vocab_file) if vocab_file else None
    pieces = str(sp_model_file) if sp_model_file else None
    export_tfhub_lib.export_model(
        str(output),
        encoder_config=config,
        model_checkpoint_path=checkpoint,
        with_mlm=False,
        vocab_file=vocab,
        sp_model_file=pieces,
        do_lower_case=export_tfhub_lib.get_do_lower_case(
            True if vocab else None, vocab, pieces
        ),
    )


def make_albert(output: Path, scratch: Path) -> None:
    """Writes the ALBERT encoder: 3 calls of one shared block of width 24.

    Args:
        output: The SavedModel folder to write.
        scratch: A folder for temporary files.
    """
    pieces = write_sentencepiece_model(scratch)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(pieces))
    config = encoders.AlbertEncoderConfig(
        vocab_size=processor.get_piece_size(),
        embedding_width=16,
        hidden_size=24,
        num_layers=3,
        num_attention_heads=2,
        intermediate_size=32,
        dropout_rate=0.1,
        attention_dropout_rate=0.1,
        max_position_embeddings=POSITIONS,
    )
    export_config(
        output,
        encoders.EncoderConfig(type="albert", albert=config),
        scratch,
        sp_model_file=pieces,
    )


def make_mobilebert(output: Path, scratch: Path) -> None:
    """Writes the MobileBERT encoder: 2 blocks of width 32, bottleneck of width 16.

    The switches are those of the published model: element-wise linear "no_norm",
    keys and queries share a bottleneck, no activation on the first token.

    Args:
        output: The SavedModel folder to write.
        scratch: A folder for temporary files.
    """
    vocabulary = write_vocabulary(scratch)
    config = encoders.MobileBertEncoderConfig(
        word_vocab_size=len(SPECIAL_PIECES + WORD_PIECES),
        word_embed_size=12,
        type_vocab_size=2,
        max_sequence_length=POSITIONS,
        num_blocks=2,
        hidden_size=32,
        num_attention_heads=2,
        intermediate_size=24,
        hidden_activation="relu",
        hidden_dropout_prob=0.1,
        attention_probs_dropout_prob=0.1,
        intra_bottleneck_size=16,
        key_query_shared_bottleneck=True,
        num_feedforward_networks=2,
        normalization_type="no_norm",
        classifier_activation=False,
    )
    export_config(
        output,
        encoders.EncoderConfig(type="mobilebert", mobilebert=config),
        scratch,
        vocab_file=vocabulary,
    )


def make_electra(output: Path, scratch: Path) -> None:
    """Writes the ELECTRA encoder: a BERT encoder with a factorised embedding.

    Args:
        output: The SavedModel folder to write.
        scratch: A folder for temporary files.
    """
    vocabulary = write_vocabulary(scratch)
    config = encoders.BertEncoderConfig(
        vocab_size=len(SPECIAL_PIECES + WORD_PIECES),
        embedding_size=16,
        hidden_size=24,
        num_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        dropout_rate=0.1,
        attention_dropout_rate=0.1,
        max_position_embeddings=POSITIONS,
    )
    export_config(
        output,
        encoders.EncoderConfig(type="bert", bert=config),
        scratch,
        vocab_file=vocabulary,
    )


def export_legacy(output: Path, config: BertConfig, scratch: Path, asset: Path) -> None:
    """Exports an encoder with the older API, `legacy/bert/export_tfhub.py`.

    Args:
        output: The SavedModel folder to write.
        config: What to build, an `AlbertConfig` for ALBERT.
        scratch: A folder for the checkpoint.
        asset: The vocabulary.
    """
    checkpoint = write_checkpoint(
        lambda: bert_models.get_transformer_encoder(config), scratch
    )
    legacy_export.export_bert_tfhub(
        config, checkpoint, str(output), str(asset), do_lower_case=True
    )


def make_bert_list(output: Path, scratch: Path) -> None:
    """Writes a BERT encoder with the older API: 2 blocks of width 16.

    Args:
        output: The SavedModel folder to write.
        scratch: A folder for temporary files.
    """
    config = BertConfig(
        vocab_size=len(SPECIAL_PIECES + WORD_PIECES),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=POSITIONS,
        type_vocab_size=2,
    )
    export_legacy(output, config, scratch, write_vocabulary(scratch))


def make_albert_list(output: Path, scratch: Path) -> None:
    """Writes an ALBERT encoder with the older API: 3 calls of a block of width 24.

    The exporter knows one kind of asset, `vocab_file`, whatever the tokenizer.

    Args:
        output: The SavedModel folder to write.
        scratch: A folder for temporary files.
    """
    pieces = write_sentencepiece_model(scratch)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(pieces))
    config = AlbertConfig(
        vocab_size=processor.get_piece_size(),
        embedding_size=16,
        hidden_size=24,
        num_hidden_layers=3,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=POSITIONS,
        type_vocab_size=2,
    )
    export_legacy(output, config, scratch, pieces)


MAKERS: dict[str, Callable[[Path, Path], None]] = {
    "hub_albert": make_albert,
    "hub_mobilebert": make_mobilebert,
    "hub_electra": make_electra,
    "hub_bert_list": make_bert_list,
    "hub_albert_list": make_albert_list,
}


def main() -> None:
    """Parses the command line and writes the SavedModels."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="where to write the SavedModels")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"any of {', '.join(MAKERS)}"
    )
    arguments = parser.parse_args()
    for name in arguments.names or MAKERS:
        with tempfile.TemporaryDirectory() as scratch:
            MAKERS[name](arguments.folder / name, Path(scratch))


if __name__ == "__main__":
    main()

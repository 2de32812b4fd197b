"""What frozen hidden states know of the parts of speech of real words."""

import gzip
import itertools

import keras
import numpy as np
import pytest

from bert_keras_layers import BertEncoder, BertPreprocessor, TokenClassifier

# On one backend: what the weights know does not depend on it.
pytestmark = [pytest.mark.real_data, pytest.mark.tensorflow]


def first_sentences(file, number):
    """Reads words and parts of speech from CoNLL-U."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        blocks = (
            list(block)
            for has_words, block in itertools.groupby(lines, lambda x: x != "\n")
            if has_words
        )
        for block in itertools.islice(blocks, number):
            columns = [line.split("\t") for line in block if line[0].isdigit()]
            words = [row for row in columns if row[0].isdigit()]
            yield [row[1] for row in words], [row[3] for row in words]


def test_all_states_know_more_of_parts_of_speech_than_the_last(minilm, data_folder):
    file = data_folder / "ud_ewt" / "en_ewt-ud-train.conllu.gz"
    sentences, tags = map(list, zip(*first_sentences(file, 180), strict=True))
    labels = sorted({tag for row in tags for tag in row})
    encoder = BertEncoder.from_pretrained(minilm)
    encoder.trainable = False
    preprocessor = BertPreprocessor.from_pretrained(minilm)
    accuracy = []
    for layers in (1, None):
        keras.utils.set_random_seed(0)
        model = TokenClassifier(
            encoder, len(labels), preprocessor, layers=layers, labels=labels, dropout=0
        )
        model.optimizer.learning_rate = 5e-3
        model.fit(sentences[:120], tags[:120], epochs=5, verbose=0)
        accuracy.append(model.evaluate(sentences[120:], tags[120:], verbose=0)[1])
    assert np.diff(accuracy) > 0.05, accuracy

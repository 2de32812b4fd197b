import keras
import numpy as np
import pytest

from bert_keras_layers import BertPreprocessor
from bert_keras_layers.models.text_batches import TextBatches

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"abcdefgh"]
TEXTS = ["a", "a b", "a b c", "a b c d", "a b c d e"]
TARGETS = np.arange(5)


@pytest.fixture
def batches():
    preprocessor = BertPreprocessor(WORDS)
    rows = preprocessor.encode(TEXTS)

    def make(**options):
        return TextBatches(preprocessor, rows, [TARGETS, TARGETS / 10], **options)

    return make


def test_batches_hold_texts_targets_and_weights_in_order(batches):
    two = batches(batch_size=2)
    assert len(two) == 3
    ids, targets, weights = two[1]
    np.testing.assert_array_equal(ids["attention_mask"].sum(-1), [5, 6])
    np.testing.assert_array_equal(targets, [2, 3])
    np.testing.assert_array_equal(weights, [0.2, 0.3])
    assert len(two[2][1]) == 1


@pytest.mark.parametrize(
    ("multiple", "expected"),
    [(1, [(2, 4), (2, 6), (1, 7)]), (4, [(2, 4), (2, 8), (1, 8)])],
)
def test_each_batch_is_padded_to_its_own_longest_text(multiple, expected, batches):
    padded = batches(batch_size=2, multiple=multiple)
    assert [batch[0]["input_ids"].shape for batch in padded] == expected


def test_shuffling_draws_a_new_order_that_the_seed_repeats(batches):
    keras.utils.set_random_seed(3)
    shuffled = batches(batch_size=2, order="shuffled")
    first = [list(batch[1]) for batch in shuffled]
    shuffled.on_epoch_end()
    second = [list(batch[1]) for batch in shuffled]
    for epoch in (first, second):
        assert sorted(number for batch in epoch for number in batch) == list(TARGETS)
    assert first != second
    keras.utils.set_random_seed(3)
    again = [list(batch[1]) for batch in batches(batch_size=2, order="shuffled")]
    assert again == first


def test_split_takes_the_last_texts(batches):
    first, last = batches(batch_size=5).split(0.4)
    np.testing.assert_array_equal(first[0][1], [0, 1, 2])
    np.testing.assert_array_equal(last[0][1], [4, 3])
    np.testing.assert_array_equal(last[0][0]["attention_mask"].sum(-1), [7, 6])


@pytest.mark.parametrize("share", [0.1, 1.0])
def test_split_must_leave_texts_on_both_sides(share, batches):
    with pytest.raises(ValueError, match=r"on both sides.*for 5 texts"):
        batches().split(share)


@pytest.mark.tensorflow
def test_the_length_stays_open_when_the_first_batches_agree(batches):
    # Keras would fix it: two batches of width 7, then narrower ones.
    preprocessor = BertPreprocessor(WORDS)
    rows = preprocessor.encode([TEXTS[-1], TEXTS[-1], *TEXTS])
    dataset = TextBatches(preprocessor, rows, batch_size=1).for_backend()
    assert dataset.cardinality() == 7
    widths = [ids["input_ids"].shape[1] for (ids,) in dataset]
    assert widths == [7, 7, 3, 4, 5, 6, 7]


def test_longest_first_needs_the_least_padding(batches):
    longest_first = batches(batch_size=2, order="longest_first")
    assert [list(targets) for _, targets, _ in longest_first] == [[4, 3], [2, 1], [0]]
    np.testing.assert_array_equal(longest_first.chosen(1), [2, 1])


def test_shuffled_batches_hold_every_text_once_and_little_padding():
    preprocessor = BertPreprocessor(WORDS)
    rng = np.random.default_rng(0)
    texts = ["a " * n for n in rng.integers(1, 100, 403)]
    rows = preprocessor.encode(texts)
    numbers = np.arange(len(texts))

    def padded(batches):
        return sum(batch[0]["input_ids"].size for batch in batches)

    shuffled = TextBatches(
        preprocessor, rows, [numbers], batch_size=8, order="shuffled"
    )
    drawn = np.concatenate([batch[1] for batch in shuffled])
    assert sorted(drawn) == list(numbers)
    assert padded(shuffled) < 0.75 * padded(
        TextBatches(preprocessor, rows, batch_size=8)
    )
    # No order by length is left over the epoch.
    lengths = [batch[0]["input_ids"].shape[1] for batch in shuffled]
    assert abs(np.corrcoef(lengths, np.arange(len(lengths)))[0, 1]) < 0.4

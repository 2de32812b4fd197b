import pytest

from bert_keras_layers import BatchingParameters


def test_the_largest_batch_is_the_last_allowed_one():
    text = BatchingParameters(allowed_batch_sizes=(2, 4, 64)).text()
    assert "max_batch_size { value: 64 }" in text
    sizes = [line for line in text.splitlines() if line.startswith("allowed")]
    assert sizes == [f"allowed_batch_sizes: {size}" for size in (2, 4, 64)]


@pytest.mark.parametrize("sizes", [(), (0, 8), (8, 1), (1, 8, 8), (1, 2.5)])
def test_sizes_ascend(sizes):
    with pytest.raises(ValueError, match=r"ascend from at least 1\. Received"):
        BatchingParameters(allowed_batch_sizes=sizes)


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [
        ("batch_timeout_micros", -1, 0),
        ("max_enqueued_batches", 0, 1),
        ("num_batch_threads", 0, 1),
        ("num_batch_threads", 1.5, 1),
    ],
)
def test_numbers_have_a_least_value(name, value, least):
    message = rf"`{name}` must be .* at least {least}. Received: {value}"
    with pytest.raises(ValueError, match=message):
        BatchingParameters(**{name: value})


def test_requests_need_not_wait():
    assert (
        "batch_timeout_micros { value: 0 }"
        in BatchingParameters(batch_timeout_micros=0).text()
    )

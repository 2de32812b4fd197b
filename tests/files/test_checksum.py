import hashlib

import pytest

from bert_keras_layers.files.checksum import check_sha256

CONTENT = bytes(range(256)) * 20_000  # More than one piece of any reader.


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "weights"
    path.write_bytes(CONTENT)
    return path


def test_the_right_hash_passes(file, monkeypatch):
    expected = hashlib.sha256(CONTENT).hexdigest()
    check_sha256(file, expected)
    check_sha256(str(file), expected.upper())
    monkeypatch.setenv("HOME", str(file.parent))
    check_sha256("~/weights", expected)


def test_another_hash_is_named(file):
    received = hashlib.sha256(CONTENT).hexdigest()
    expected = "0" * 64
    with pytest.raises(ValueError, match=f"weights must be {expected}.*{received}"):
        check_sha256(file, expected)


def test_a_changed_byte_is_noticed(file):
    expected = hashlib.sha256(CONTENT).hexdigest()
    file.write_bytes(CONTENT[:-1] + b"\x00")
    with pytest.raises(ValueError, match="SHA-256"):
        check_sha256(file, expected)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="none"):
        check_sha256(tmp_path / "none", "0" * 64)

import pathlib
import runpy

import numpy as np
import pytest

from bert_keras_layers.preprocessing import unicode_table
from bert_keras_layers.preprocessing.unicode_table import UnicodeTable

FILE = pathlib.Path(unicode_table.__file__).with_suffix(".npz")
SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "make_unicode_table.py"


@pytest.mark.tensorflow
def test_the_file_is_what_the_tokenizers_do_today():
    made = runpy.run_path(str(SCRIPT))["make_tables"]()
    with np.load(FILE, allow_pickle=False) as stored:
        assert set(stored) == set(made)
        for name, array in made.items():
            assert array.dtype == stored[name].dtype
            np.testing.assert_array_equal(stored[name], array, err_msg=name)


def test_the_file_is_small():
    assert FILE.stat().st_size < 64 * 1024


@pytest.mark.parametrize(
    ("lowercase", "token", "reachable"),
    [
        (True, "word", True),
        (True, "##word", True),
        (True, "Word", False),
        (False, "Word", True),
        (True, "é", False),
        (False, "é", True),
        (True, ".", True),
        (True, "a.", False),
        (True, "中", True),
        (True, "中国", False),
        (True, "##", False),
        (True, "a b", False),
        (True, " ", False),
        (False, "\x00", False),
        (False, "\x01", False),
        (False, "\ufffd", False),
        (True, "\u1100", True),
        (True, "가", False),
        (True, "a" * 100, True),
        (True, "a" * 101, False),
    ],
)
def test_only_what_a_text_can_give_is_reachable(lowercase, token, reachable):
    assert UnicodeTable.load(lowercase).reachable(["x", token, ""])[1] == reachable


def test_expansion():
    assert UnicodeTable.load(False).expansion == 1
    assert UnicodeTable.load(True).expansion == 3

"""What the README shows runs, and what it claims is tested."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
# The cells of the first column of the comparison, row by row.
EVIDENCE = [
    (
        "yes",
        "encoders/test_every_encoder.py",
        ["test_training_reaches_every_weight_and_lowers_the_loss"],
    ),
    (
        "all L + 1",
        "encoders/test_every_encoder.py",
        ["test_states_come_under_one_index_with_the_mask"],
    ),
    (
        "Hugging Face, TF-Hub, TF1, live `TFBertModel`",
        "encoders/test_bert_loading.py",
        [
            "test_a_saved_folder_loads_equally",
            "test_hub_weights_give_the_states_of_the_saved_model",
            "test_a_tf1_checkpoint_gives_the_states_of_tf_bert_with_tanh_gelu",
            "test_a_live_tf_bert_is_copied",
        ],
    ),
    (
        "all three",
        "encoders/test_from_pretrained.py",
        ["test_every_state_of_real_weights_equals_the_stored_ones"],
    ),
    (
        "yes, ids equal Hugging Face's",
        "serving/test_export.py",
        ["test_real_weights_serve_through_the_c_loader"],
    ),
    (
        "yes",
        "serving/test_export.py",
        [
            "test_an_export_that_differs_is_not_published",
            "test_an_export_that_does_not_load_is_not_published",
        ],
    ),
]


def test_each_cell_of_the_comparison_is_tested():
    (table,) = re.findall(r"^\| in Keras 3 .*?\n\n", README, re.DOTALL | re.MULTILINE)
    rows = [line.split("|")[2].strip() for line in table.splitlines()[2:] if line]
    assert rows == [cell for cell, _, _ in EVIDENCE]
    for _, file, names in EVIDENCE:
        code = (ROOT / "tests" / file).read_text("utf-8")
        assert all(f"def {name}(" in code for name in names)


def test_links_lead_somewhere():
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", README)
    assert links
    for link in links:
        assert (ROOT / link).exists(), link


@pytest.mark.tensorflow
def test_the_example_runs(published_minilm, tmp_path, monkeypatch):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    assert published_minilm in code
    names = {}
    exec(compile(code, "README.md", "exec"), names)
    assert names["probabilities"].shape == (1, 2)
    assert (tmp_path / "saved_models" / "parcels" / "1" / "saved_model.pb").is_file()

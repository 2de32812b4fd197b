"""Export: a text model -> a versioned SavedModel that takes text, checked first."""

import importlib.util
import os
import pathlib
from collections.abc import Sequence

import keras

from bert_keras_layers.files.published_folder import next_version, published_folder
from bert_keras_layers.models.text_model import TextModel
from bert_keras_layers.serving.clean_check import (
    ServedCall,
    Timings,
    check_in_clean_process,
)
from bert_keras_layers.serving.lint import lint_saved_model
from bert_keras_layers.serving.precision import check_precision, in_bfloat16
from bert_keras_layers.serving.served_answer import served_answer
from bert_keras_layers.serving.served_functions import ServedFunctions
from bert_keras_layers.serving.twin_export import export_twin
from bert_keras_layers.serving.warm_up import (
    BATCH_SIZES,
    WARM_UP_TEXTS,
    write_warm_up,
)

CHECK_TEXTS = (
    *WARM_UP_TEXTS,
    "I love Paris.",
    "東京は大きい。",
    "[SEP] is no special token here",
)
"""Texts on which an export is compared with the live model."""

TOLERANCES = {"float32": 1e-5, "bfloat16": 5e-2}
"""Largest difference between the export, in a precision, and the live model, as a
share of the largest number that this returns, or of 1 if that is larger."""


def export_saved_model(
    model: TextModel,
    folder: str | os.PathLike[str],
    check_texts: Sequence[str] = CHECK_TEXTS,
    id_lengths: Sequence[int] | None = None,
    hidden_states: int | Sequence[int] | None = (),
    precision: str = "float32",
    warm_up_batch_sizes: Sequence[int] = BATCH_SIZES,
    verbose: bool = True,
) -> pathlib.Path:
    """Writes a model as the next version of a SavedModel that takes text.

    The signatures, each with named outputs of one row per text:

    - `serving_default` takes `texts`, strings `(batch,)` in UTF-8;
    - `pairs`, of models of whole texts, takes `texts` and `pairs`;
    - `ids_128` takes what `model.preprocessor` returns, int32 `(batch, 128)`, and so
      on for each of `id_lengths`: for clients with a tokeniser of their own;
    - `features` takes `texts` and returns what goes into the head, `features`, float32
      `(batch, width)`; and `hidden_state_0`, `(batch, tokens, width)`, and so on for
      each of `hidden_states`, zero at padding, with `mask`, int32 `(batch, tokens)`.

    The first three return what the model does. A `TextClassifier`:

    - `probabilities`, float32 `(batch, num_classes)`, in the order of the labels,
    - `label`, string `(batch,)`: the most probable class; its number where the
      model has no labels,
    - `score`, float32 `(batch,)`: its probability, in `[0, 1]`;
    - with `multi_label`, instead of the last two, `labels` and `scores` `(batch,
      num_classes)`: all of them, the most probable first.

    A `TokenClassifier` splits texts at white space into `words` `(batch, words)`, and
    returns for each of them `probabilities`, its `labels` and `scores`; empty and zero
    at padding and at words beyond `sequence_length`. A `TextRegressor` returns
    `values`, float32 `(batch, num_outputs)`; a `FeatureExtractor` `features`, of the
    shape of the model's output, and where they are not pooled `mask`.

    The vocabulary and the labels are inside. TF Serving finds new versions by
    itself: point it at `folder`.

    Args:
        model: With a `preprocessor`. From JAX or torch it goes through a `.keras` file
            to a twin on TensorFlow, which must be installed too.
        folder: Where the versions are: `folder/1`, `folder/2`, and so on.
        check_texts: Texts such as users send, to run in a clean process, through the
            loader of TF Serving, before the version is moved into place; there the
            numbers must be those of `model` within 1e-5 of the largest, or of 1; in
            bfloat16, within 5e-2. A server runs them too, as warm-up.
        id_lengths: Tokens of the signatures that take ids, 2 to the longest text of
            the preprocessor. None: 128, or that if it is shorter.
        hidden_states: Which of the states up to the highest layer in use `features`
            returns too, as in `choose_layers`: `()` for none, None for all.
        precision: `"float32"`, or `"bfloat16"` for an encoder half the size, faster
            on GPUs and on CPUs that have it. Outputs are float32 all the same.
        warm_up_batch_sizes: See `write_warm_up`.
        verbose: Whether to print size on disk, time to load and to the first answer.

    Returns:
        The folder of the new version.

    Raises:
        ValueError: If the model cannot be exported.
        RuntimeError: If the check fails, or `lint_saved_model` finds something;
            `folder` is then as it was.

    Example:
    >>> import tempfile
    >>> from bert_keras_layers import BertEncoder, BertPreprocessor, TextClassifier
    >>> from bert_keras_layers import export_saved_model
    >>> words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "good", "bad", "film"]
    >>> encoder = BertEncoder(
    ...     vocabulary_size=7, hidden_size=8, num_layers=2, num_heads=2,
    ...     intermediate_size=16)
    >>> model = TextClassifier(encoder, 2, BertPreprocessor(words), layers=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_saved_model(model, folder, verbose=False).name
    '1'
    """
    folder = pathlib.Path(folder).expanduser()
    check_export_folder(folder)
    served_answer(model)
    check_precision(precision, model.encoder)
    if isinstance(check_texts, str) or not check_texts:
        raise ValueError(
            "`check_texts` must be a list of at least one text. "
            f"Received: {check_texts!r}"
        )
    if keras.backend.backend() != "tensorflow":
        options = {
            "check_texts": list(check_texts),
            "id_lengths": id_lengths,
            "hidden_states": hidden_states,
            "precision": precision,
            "warm_up_batch_sizes": list(warm_up_batch_sizes),
            "verbose": verbose,
        }
        return export_twin(model, folder, options)
    functions = ServedFunctions(model, id_lengths, hidden_states)
    written = functions
    if precision == "bfloat16":
        written = ServedFunctions(in_bfloat16(model), id_lengths, hidden_states)
    version = next_version(folder)
    with published_folder(version) as draft:
        _write(written, draft)
        timings = _check(draft, functions.expected(check_texts, TOLERANCES[precision]))
        write_warm_up(draft, warm_up_batch_sizes, check_texts)
    if verbose:
        size = sum(file.stat().st_size for file in version.rglob("*")) / 1e6
        print(
            f"{version}: {size:.1f} MB, loads in {timings.load_seconds:.1f} s, "
            f"first answer after {timings.first_answer_seconds:.1f} s."
        )
    return version


def check_export_folder(folder: pathlib.Path) -> None:
    """Checks what can be known before there is a model to export.

    Raises:
        ValueError: If nothing can be written there.
        ImportError: If TensorFlow or tensorflow-text is not installed.
    """
    if importlib.util.find_spec("tensorflow_text") is None:
        raise ImportError(
            "An export needs TensorFlow, and holds the tokeniser of tensorflow-text: "
            "pip install 'bert-keras-layers[tensorflow]'"
        )
    nearest = next(
        path for path in (folder, *folder.absolute().parents) if path.exists()
    )
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise ValueError(
            f"A SavedModel needs a folder that can be written. Received: {folder}"
        )


def _write(functions: ServedFunctions, folder: pathlib.Path) -> None:
    import tensorflow as tf

    module, signatures = functions.trace()
    tf.saved_model.save(module, str(folder), signatures=signatures)


def _check(folder: pathlib.Path, calls: Sequence[ServedCall]) -> Timings:
    try:
        if findings := lint_saved_model(folder):
            raise RuntimeError(" ".join(findings))
        return check_in_clean_process(folder, calls)
    except (RuntimeError, ValueError) as error:
        raise RuntimeError(
            "The export did not pass its check in a clean process, and was not put "
            f"into place: {error}"
        ) from error

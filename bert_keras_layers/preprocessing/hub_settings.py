"""Hub settings: a TF-Hub SavedModel with a vocabulary -> constructor arguments."""

import os
import pathlib
from typing import Any

from bert_keras_layers.files.hub_folder import hub_folder
from bert_keras_layers.files.saved_model import damage_named, load_saved_model
from bert_keras_layers.preprocessing.vocabulary import read_vocabulary

_LOWERCASE = "do_lower_case/.ATTRIBUTES/VARIABLE_VALUE"
_POSITIONS = "position_embedding/embeddings"


def hub_settings(source: str | os.PathLike[str]) -> dict[str, Any]:
    """Reads the arguments of `BertPreprocessor` from a TF-Hub SavedModel.

    An encoder says in its checkpoint, which alone is read, whether it lowercases and
    how many positions it has. A preprocessing model is loaded and asked.

    Args:
        source: An encoder or a text preprocessing model, as `hub_folder` takes it.

    Returns:
        A dict of `vocabulary`, `lowercase` and `sequence_length`.

    Raises:
        FileNotFoundError: If there is no SavedModel or no WordPiece vocabulary.
        ValueError: If it is damaged, or neither an encoder nor a preprocessing model.
        ImportError: If TensorFlow, or tensorflow-text for a preprocessing model, is
            not installed.
    """
    folder = hub_folder(source)
    vocabulary = read_vocabulary(_vocabulary_file(folder))
    settings = _of_encoder(folder) or _of_preprocessing(folder, vocabulary)
    return {"vocabulary": vocabulary, **settings}


def _vocabulary_file(folder: pathlib.Path) -> pathlib.Path:
    files = sorted(folder.glob("assets/*"))
    found = [file for file in files if file.match("*vocab*.txt")]
    if len(found) != 1:
        raise FileNotFoundError(
            "A TF-Hub BERT must have one WordPiece vocabulary (assets/*vocab*.txt); "
            "sentencepiece models are not supported. "
            f"Received: {[file.name for file in files]} in {folder / 'assets'}"
        )
    return found[0]


def _of_encoder(folder: pathlib.Path) -> dict[str, Any] | None:
    import tensorflow as tf
    from tensorflow.core.protobuf import trackable_object_graph_pb2

    with damage_named(folder):
        reader = tf.train.load_checkpoint(str(folder / "variables" / "variables"))
        shapes = reader.get_variable_to_shape_map()
        if _LOWERCASE not in shapes:
            return None
        graph = trackable_object_graph_pb2.TrackableObjectGraph.FromString(
            reader.get_tensor("_CHECKPOINTABLE_OBJECT_GRAPH")
        )
        stored = [attribute for node in graph.nodes for attribute in node.attributes]
        positions = [
            shapes[attribute.checkpoint_key][0]
            for attribute in stored
            if attribute.full_name.endswith(_POSITIONS)
        ]
        return {
            "lowercase": bool(reader.get_tensor(_LOWERCASE)),
            "sequence_length": positions[0] if positions else None,
        }


def _of_preprocessing(folder: pathlib.Path, vocabulary: list[str]) -> dict[str, Any]:
    import tensorflow as tf
    import tensorflow_text  # Registers the operations of the tokeniser.

    del tensorflow_text
    words = (x for x in vocabulary if x.isascii() and x.isalpha() and x.islower())
    word = next(words, "a")  # Only folding can give it the same ids in capitals.
    model = load_saved_model(folder)
    try:
        ids = model(tf.constant([word, word.upper()]))["input_word_ids"]
    except (LookupError, TypeError, ValueError, tf.errors.OpError) as error:
        raise ValueError(
            f"{folder} must be a TF-Hub BERT encoder or text preprocessing model, "
            "text in and input_word_ids out. "
            f"Received: {type(model).__name__} ({type(error).__name__})"
        ) from error
    return {
        "lowercase": bool(tf.reduce_all(ids[0] == ids[1])),
        "sequence_length": ids.shape[1],
    }

"""Served answer: a text model -> how its SavedModel reads texts and names outputs."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bert_keras_layers.models.feature_extractor import FeatureExtractor
from bert_keras_layers.models.text_classifier import TextClassifier
from bert_keras_layers.models.text_regressor import TextRegressor
from bert_keras_layers.models.token_classifier import TokenClassifier


def _whole_texts(tokenizer: Any, texts: Any) -> dict[str, Any]:
    return tokenizer(texts)


def _no_more(ids: Mapping[str, Any], outputs: Any) -> dict[str, Any]:
    return {}


class ServedAnswer(NamedTuple):
    """How a kind of model answers.

    Args:
        main: Name of the output that holds what the model itself returns.
        more: Function from what was read and that output to further outputs by
            name, or that one anew, all with one row per text.
        read: Function from a `GraphTokenizer` and texts to ids and whatever `more`
            needs.
    """

    main: str
    more: Callable[[Mapping[str, Any], Any], dict[str, Any]]
    read: Callable[[Any, Any], dict[str, Any]] = _whole_texts


def served_answer(model: Any) -> ServedAnswer:
    """Returns how a model answers.

    Raises:
        ValueError: If it is no text model that can be exported.
    """
    for kind, make in _ANSWERS.items():
        if isinstance(model, kind) and model.preprocessor is not None:
            return make(model)
    names = ", ".join(kind.__name__ for kind in _ANSWERS)
    raise ValueError(
        f"`model` must be a text model ({names}) with a `preprocessor`. "
        f"Received: {type(model).__name__}"
    )


def without_padding(
    ids: Mapping[str, Any], states: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns states `(batch, tokens, ...)`, zero at padding, and their `mask`."""
    import tensorflow as tf

    mask = ids["attention_mask"]

    def zeroed(x: Any) -> Any:
        ones = [1] * (len(x.shape) - 2)
        keep = tf.reshape(mask == 1, tf.concat([tf.shape(mask), ones], axis=0))
        return tf.where(keep, x, 0.0)

    return {"mask": mask, **{name: zeroed(x) for name, x in states.items()}}


def _of_classifier(model: TextClassifier) -> ServedAnswer:
    names = _class_names(model)

    def best(ids: Mapping[str, Any], probabilities: Any) -> dict[str, Any]:
        import tensorflow as tf

        best = tf.argmax(probabilities, axis=-1)
        return {
            "label": tf.gather(tf.constant(names), best),
            "score": tf.reduce_max(probabilities, axis=-1),
        }

    def ranked(ids: Mapping[str, Any], probabilities: Any) -> dict[str, Any]:
        import tensorflow as tf

        scores, order = tf.math.top_k(probabilities, k=model.num_classes)
        return {"labels": tf.gather(tf.constant(names), order), "scores": scores}

    return ServedAnswer("probabilities", ranked if model.multi_label else best)


def _of_regressor(model: TextRegressor) -> ServedAnswer:
    return ServedAnswer("values", _no_more)


def _of_extractor(model: FeatureExtractor) -> ServedAnswer:
    def masked(ids: Mapping[str, Any], features: Any) -> dict[str, Any]:
        return without_padding(ids, {"features": features})

    return ServedAnswer("features", masked if model.pooling is None else _no_more)


def _of_tagger(model: TokenClassifier) -> ServedAnswer:
    names = _class_names(model)

    def words(tokenizer: Any, texts: Any) -> dict[str, Any]:
        import tensorflow as tf

        words = tf.strings.split(texts)
        return {**tokenizer.words(words), "words": words.to_tensor("")}

    def tags(ids: Mapping[str, Any], probabilities: Any) -> dict[str, Any]:
        import tensorflow as tf

        given = {"words": ids["words"]} if "words" in ids else {}
        if given:  # As many rows as words, even if fewer of them had room.
            number = tf.shape(given["words"])[1]
            missing = tf.maximum(number - tf.shape(probabilities)[1], 0)
            padding = [[0, 0], [0, missing], [0, 0]]
            probabilities = tf.pad(probabilities, padding)[:, :number]
        places = tf.range(tf.shape(probabilities)[1])[:, tf.newaxis]
        has_token = tf.reduce_any(ids["word_ids"][:, tf.newaxis] == places, axis=-1)
        probabilities = tf.where(has_token[..., tf.newaxis], probabilities, 0.0)
        best = tf.gather(tf.constant(names), tf.argmax(probabilities, axis=-1))
        return {
            **given,
            "probabilities": probabilities,
            "labels": tf.where(has_token, best, ""),
            "scores": tf.reduce_max(probabilities, axis=-1),
        }

    return ServedAnswer("probabilities", tags, words)


def _class_names(model: Any) -> list[str]:
    return list(model.labels or map(str, range(model.num_classes)))


_ANSWERS: dict[Any, Callable[[Any], ServedAnswer]] = {
    TextClassifier: _of_classifier,
    TextRegressor: _of_regressor,
    FeatureExtractor: _of_extractor,
    TokenClassifier: _of_tagger,
}

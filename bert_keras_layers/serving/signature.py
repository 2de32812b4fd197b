"""Signature: a text model -> the named outputs that its SavedModel returns."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bert_keras_layers.models.feature_extractor import FeatureExtractor
from bert_keras_layers.models.text_classifier import TextClassifier
from bert_keras_layers.models.text_regressor import TextRegressor


class Signature(NamedTuple):
    """What an export returns.

    Args:
        main: Name of the output that holds what the model itself returns.
        more: Function from ids and that output to further outputs by name, all
            with one row per text.
    """

    main: str
    more: Callable[[Mapping[str, Any], Any], dict[str, Any]]


def signature_of(model: Any) -> Signature:
    """Returns the signature for a model.

    Raises:
        ValueError: If it is no text model that can be exported.
    """
    for kind, make in _SIGNATURES.items():
        if isinstance(model, kind) and model.preprocessor is not None:
            return make(model)
    names = ", ".join(kind.__name__ for kind in _SIGNATURES)
    raise ValueError(
        f"`model` must be a text model ({names}) with a `preprocessor`. "
        f"Received: {type(model).__name__}"
    )


def _of_classifier(model: TextClassifier) -> Signature:
    names = model.labels or [str(i) for i in range(model.num_classes)]

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

    return Signature("probabilities", ranked if model.multi_label else best)


def _of_regressor(model: TextRegressor) -> Signature:
    return Signature("values", lambda ids, values: {})


def _of_extractor(model: FeatureExtractor) -> Signature:
    def mask(ids: Mapping[str, Any], features: Any) -> dict[str, Any]:
        return {"mask": ids["attention_mask"]} if model.pooling is None else {}

    return Signature("features", mask)


_SIGNATURES: dict[Any, Callable[[Any], Signature]] = {
    TextClassifier: _of_classifier,
    TextRegressor: _of_regressor,
    FeatureExtractor: _of_extractor,
}

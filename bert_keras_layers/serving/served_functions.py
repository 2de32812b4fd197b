"""Served functions: a text model -> the signatures of its SavedModel."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import numpy as np

from bert_keras_layers.layers.layer_choice import choose_layers
from bert_keras_layers.models.feature_model import FeatureModel
from bert_keras_layers.serving.clean_check import ServedCall
from bert_keras_layers.serving.served_answer import served_answer

Tensors = Mapping[str, Any]
ID_LENGTH = 128


class ServedFunctions:
    """What a SavedModel of a text model computes, one function per signature.

    The model is traced once, and so is the reading of texts; the signatures call
    these and share their graphs. The tables of the tokeniser are variables, which
    are stored beside the graph.

    Args:
        model: A text model with a preprocessor.
        id_lengths: Of the signatures that take ids, in tokens; None: `ID_LENGTH`,
            or the longest text of the preprocessor if that is shorter.
        hidden_states: Which states the signature `features` returns as well.

    Raises:
        ValueError: If it is no text model that can be exported, or has no such
            lengths or states.
    """

    def __init__(
        self,
        model: Any,
        id_lengths: Sequence[int] | None,
        hidden_states: Sequence[int],
    ) -> None:
        self._model = model
        self._answer = served_answer(model)
        self._lengths = _checked_lengths(id_lengths, model.preprocessor.sequence_length)
        features = _features(model, hidden_states)
        self._features = [name for name in features if name != self._answer.main]
        outputs = {self._answer.main: model.output, **features}
        # Its name is in that of every node of the graph.
        self.live = keras.Model(model.input, outputs, name="model")

    def outputs(self, signature: str, ids: Tensors, computed: Tensors) -> Tensors:
        """Returns the outputs of a signature by name.

        Args:
            signature: Its name.
            ids: What was read.
            computed: What `live` made of it.
        """
        computed = {name: keras.ops.cast(x, "float32") for name, x in computed.items()}
        if signature == "features":
            mask = {"mask": ids["attention_mask"]}
            has_states = any(len(computed[name].shape) > 2 for name in self._features)
            chosen = {name: computed[name] for name in self._features}
            return {**chosen, **(mask if has_states else {})}
        main = computed[self._answer.main]
        return {self._answer.main: main, **self._answer.more(ids, main)}

    def trace(self) -> tuple[Any, dict[str, Any]]:
        """Returns a `tf.Module` with the variables, and the signatures by name."""
        import tensorflow as tf

        model, answer = self._model, self._answer
        hold = functools.partial(tf.Variable, trainable=False)
        tokenizer = model.preprocessor.graph_tokenizer(hold=hold)
        module = tf.Module()
        module.weights = [weight.value for weight in model.weights]
        module.tables = tokenizer.tables

        texts = _spec("texts", (None,), tf.string)
        pairs = _spec("pairs", (None,), tf.string)
        read = tf.function(
            lambda texts: answer.read(tokenizer, texts), input_signature=[texts]
        )

        def given_ids(*ids: Any) -> Tensors:
            return dict(zip(model.input, ids, strict=True))

        open_ids = [_spec(name, (None, None), tf.int32) for name in model.input]
        compute = tf.function(
            lambda *ids: self.live(given_ids(*ids), training=False),
            input_signature=open_ids,
        )

        def signature(
            name: str, read: Callable[..., Tensors], specs: Sequence[Any]
        ) -> Any:
            def serve(*given: Any) -> Tensors:
                ids = read(*given)
                return self.outputs(name, ids, compute(*(ids[x] for x in model.input)))

            return tf.function(serve, input_signature=specs).get_concrete_function()

        signatures = {"serving_default": signature("serving_default", read, [texts])}
        if self._features:
            signatures["features"] = signature("features", read, [texts])
        if _takes_pairs(model):
            signatures["pairs"] = signature("pairs", tokenizer, [texts, pairs])
        for length in self._lengths:
            name = f"ids_{length}"
            specs = [_spec(x, (None, length), tf.int32) for x in model.input]
            signatures[name] = signature(name, given_ids, specs)
        return module, signatures

    def expected(self, texts: Sequence[str], tolerance: float) -> list[ServedCall]:
        """Returns a call of each signature, and the numbers of the live model.

        Texts are read outside the graph, by the other engine, where they are whole.
        """
        import tensorflow as tf

        preprocessor, given = self._model.preprocessor, np.array(texts, object)
        read = self._answer.read(preprocessor, list(texts))
        inputs = {"serving_default": ({"texts": given}, read)}
        if self._features:
            inputs["features"] = inputs["serving_default"]
        if _takes_pairs(self._model):
            pairs = given[::-1]
            ids = preprocessor(list(texts), list(pairs))
            inputs["pairs"] = ({"texts": given, "pairs": pairs}, ids)
        for length in self._lengths:
            ids = {name: _fitted(read[name], length) for name in self._model.input}
            inputs[f"ids_{length}"] = (ids, ids)
        # The clean process has a CPU only, and some GPUs round more coarsely.
        with tf.device("CPU"):
            return [
                ServedCall(
                    name,
                    arrays,
                    _numbers(self.outputs(name, ids, self.live(ids, training=False))),
                    tolerance,
                )
                for name, (arrays, ids) in inputs.items()
            ]


def _fitted(ids: Any, length: int) -> Any:
    cut = np.asarray(ids)[:, :length]
    return np.pad(cut, [(0, 0), (0, length - cut.shape[1])])


def _numbers(outputs: Tensors) -> dict[str, Any]:
    # Names of classes are left out: of two like numbers, either may be the larger.
    arrays = {name: np.asarray(output) for name, output in outputs.items()}
    return {name: x for name, x in arrays.items() if x.dtype.kind == "f"}


def _takes_pairs(model: Any) -> bool:
    room = model.preprocessor.sequence_length >= 3
    return isinstance(model, FeatureModel) and model.encoder.takes_pairs and room


def _features(model: Any, hidden_states: Sequence[int]) -> dict[str, Any]:
    features = {"features": model.features} if isinstance(model, FeatureModel) else {}
    if not hidden_states:
        return features
    chosen = choose_layers(list(hidden_states), len(model.states))
    return {**features, **{f"hidden_state_{i}": model.states[i] for i in chosen}}


def _checked_lengths(lengths: Sequence[int] | None, longest: int) -> list[int]:
    if lengths is None:
        return [min(ID_LENGTH, longest)]
    if not all(type(x) is int and 2 <= x <= longest for x in lengths):
        raise ValueError(
            f"`id_lengths` must be integers, 2 to {longest}, the longest text of the "
            f"preprocessor. Received: id_lengths={lengths!r}"
        )
    return sorted(set(lengths))


def _spec(name: str, shape: Sequence[int | None], dtype: Any) -> Any:
    import tensorflow as tf

    return tf.TensorSpec(shape, dtype, name=name)

"""Served functions: a text model -> the signatures of its SavedModel."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import keras
import numpy as np

from bert_keras_layers.layers.layer_choice import choose_layers
from bert_keras_layers.models.feature_model import FeatureModel
from bert_keras_layers.serving.clean_check import ServedCall
from bert_keras_layers.serving.served_answer import served_answer, without_padding

Tensors = Mapping[str, Any]
Reader = Callable[..., Tensors]
"""Takes a tokeniser and what a signature is given, returns ids by name."""
Readers = dict[str, tuple[dict[str, Any], Reader]]
"""For each signature its inputs, as shape and type by name, and how to read them."""
LayerChoice = int | Sequence[int] | None
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
        hidden_states: LayerChoice,
    ) -> None:
        self._model = model
        self._answer = served_answer(model)
        features = _features(model, hidden_states)
        self._features = [name for name in features if name != self._answer.main]
        outputs = {self._answer.main: model.output, **features}
        # Its name is in that of every node of the graph.
        self._live = keras.Model(model.input, outputs, name="model")
        longest = model.preprocessor.sequence_length
        self._readers = self._readers_of_texts(longest)
        for length in _checked_lengths(id_lengths, longest):
            inputs = {name: ((None, length), "int32") for name in model.input}
            self._readers[f"ids_{length}"] = (inputs, _given_ids(model.input))

    def trace(self) -> tuple[Any, dict[str, Any]]:
        """Returns a `tf.Module` with the variables, and the signatures by name."""
        import tensorflow as tf

        hold = functools.partial(tf.Variable, trainable=False)
        tokenizer = self._model.preprocessor.graph_tokenizer(hold=hold)
        module = tf.Module()
        module.weights = [weight.value for weight in self._model.weights]
        module.tables = tokenizer.tables

        def specs(inputs: Mapping[str, Any]) -> list[Any]:
            return [tf.TensorSpec(*given, name) for name, given in inputs.items()]

        open_ids = {name: ((None, None), "int32") for name in self._model.input}
        compute = tf.function(
            lambda *ids: self._compute(dict(zip(open_ids, ids, strict=True))),
            input_signature=specs(open_ids),
            autograph=False,
        )
        traced: dict[Reader, Any] = {}

        def signature(name: str, inputs: Mapping[str, Any], read: Reader) -> Any:
            traced[read] = traced.get(read) or tf.function(
                lambda *given: read(tokenizer, *given),
                input_signature=specs(inputs),
                autograph=False,
            )

            def serve(*given: Any) -> Tensors:
                ids = traced[read](*given)
                return self._named(name, ids, compute(*(ids[x] for x in open_ids)))

            function = tf.function(
                serve, input_signature=specs(inputs), autograph=False
            )
            return function.get_concrete_function()

        signatures = {
            name: signature(name, *reader) for name, reader in self._readers.items()
        }
        return module, signatures

    def expected(self, texts: Sequence[str], tolerance: float) -> list[ServedCall]:
        """Returns a call of each signature, and the numbers of the live model.

        Whole texts are read outside the graph, by the other engine.
        """
        import tensorflow as tf

        preprocessor = self._model.preprocessor
        given = {
            "texts": np.array(texts, object),
            "pairs": np.array(texts[::-1], object),
        }
        given |= self._answer.read(preprocessor, given["texts"])
        calls = []
        # Signatures that read alike get one computation.
        done: dict[Reader, tuple[Tensors, Tensors]] = {}
        for name, (inputs, read) in self._readers.items():
            arrays = {key: fitted(given[key], *inputs[key]) for key in inputs}
            if read not in done:
                ids = read(preprocessor, *arrays.values())
                model_ids = {key: ids[key] for key in self._model.input}
                # The clean process has a CPU only, and some GPUs round more coarsely.
                with tf.device("CPU"):
                    done[read] = (ids, self._compute(model_ids))
            ids, computed = done[read]
            # Names of classes are left out: of two like numbers, either may be larger.
            outputs = {
                key: np.asarray(output)
                for key, output in self._named(name, ids, computed).items()
            }
            numbers = {key: x for key, x in outputs.items() if x.dtype.kind == "f"}
            calls.append(ServedCall(name, arrays, numbers, tolerance))
        return calls

    def _readers_of_texts(self, longest: int) -> Readers:
        texts, pairs = {"texts": ((None,), "string")}, {"pairs": ((None,), "string")}
        readers: Readers = {"serving_default": (texts, self._answer.read)}
        if self._features:
            readers["features"] = (texts, self._answer.read)
        takes_pairs = self._model.encoder.takes_pairs and longest >= 3
        if isinstance(self._model, FeatureModel) and takes_pairs:
            readers["pairs"] = (texts | pairs, _read_pairs)
        return readers

    def _compute(self, ids: Tensors) -> Tensors:
        outputs = self._live(ids, training=False)
        return {name: keras.ops.cast(x, "float32") for name, x in outputs.items()}

    def _named(self, signature: str, ids: Tensors, computed: Tensors) -> Tensors:
        """Returns the outputs of a signature by name."""
        if signature != "features":
            main = computed[self._answer.main]
            return {self._answer.main: main, **self._answer.more(ids, main)}
        outputs = {name: computed[name] for name in self._features}
        states = {name: x for name, x in outputs.items() if len(x.shape) > 2}
        return outputs | (without_padding(ids, states) if states else {})


def _read_pairs(tokenizer: Any, texts: Any, pairs: Any) -> Tensors:
    return tokenizer(texts, pairs)


def _given_ids(names: Iterable[str]) -> Reader:
    return lambda tokenizer, *ids: dict(zip(names, ids, strict=True))


def fitted(array: Any, shape: Sequence[int | None], dtype: str) -> Any:
    """Returns texts as they are, and ids cut or padded to their length."""
    if len(shape) == 1:
        return array
    cut = np.asarray(array)[:, : shape[1]]
    return np.pad(cut, [(0, 0), (0, shape[1] - cut.shape[1])])


def _features(model: Any, hidden_states: LayerChoice) -> dict[str, Any]:
    features = {"features": model.features} if isinstance(model, FeatureModel) else {}
    if isinstance(hidden_states, Sequence) and not hidden_states:
        return features
    try:
        chosen = choose_layers(hidden_states, len(model.states))
    except ValueError as error:
        raise ValueError(f"`hidden_states` is read like `layers`. {error}") from None
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

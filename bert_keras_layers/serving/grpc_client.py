"""gRPC client: predictions of a model that TF Serving serves, over gRPC."""

from typing import Any, Self

import numpy as np

from bert_keras_layers.serving.client import (
    Inputs,
    check_model,
    check_rows,
    named_inputs,
)


class GrpcPredictClient:
    """A model of TF Serving, called over gRPC: as `PredictClient`, with less overhead.

    It keeps one connection, which many threads can use; `close()` or a `with` block
    ends it. Needs the extra `grpc`.

    Args:
        address: The server, such as `"localhost:8500"`; the connection is not
            encrypted.
        model: Name of the model there.
        version: Number of a version; by default the newest one that is served.
        label: Label of a version, such as `"stable"`, instead of a number.
        timeout: Seconds a request may take.

    Raises:
        ValueError: If an argument is wrong.
        ImportError: If the packages of the extra `grpc` are not installed.

    Example:
    >>> from bert_keras_layers import GrpcPredictClient
    >>> with GrpcPredictClient("localhost:1", "parcels", timeout=0.5) as client:
    ...     client.predict(["Where is my parcel?"])
    Traceback (most recent call last):
    ConnectionError: localhost:1 is out of reach: ...
    """

    def __init__(
        self,
        address: str,
        model: str,
        version: int | None = None,
        label: str | None = None,
        timeout: float = 10.0,
    ) -> None:
        check_model(model, version, label, timeout)
        if "//" in address:
            raise ValueError(
                "`address` must be host and port, such as 'localhost:8500'. "
                f"Received: {address!r}"
            )
        try:
            import grpc
            from tensorflow_serving.apis import prediction_service_pb2_grpc
        except ImportError as error:
            raise ImportError(
                "gRPC needs grpcio and tensorflow-serving-api: "
                f"pip install 'bert-keras-layers[grpc]' ({error})"
            ) from error
        self._address = address
        self._model: dict[str, Any] = {"name": model}
        if version is not None:
            self._model["version"] = {"value": version}
        if label is not None:
            self._model["version_label"] = label
        self._timeout = timeout
        # By default gRPC refuses answers above 4 MiB: all states of one text are more.
        unlimited = [("grpc.max_receive_message_length", -1)]
        self._channel = grpc.insecure_channel(address, options=unlimited)
        self._service = prediction_service_pb2_grpc.PredictionServiceStub(self._channel)

    def predict(
        self, inputs: Inputs, signature: str = "serving_default"
    ) -> dict[str, np.ndarray]:
        """Returns the outputs of a signature by name, one row for each row of inputs.

        Numbers come in the type that the signature returns, texts as `str` in arrays
        of objects, as bytes in outputs named `..._bytes`.

        Args:
            inputs: A list of texts for the input `texts`, or a dict of lists or arrays
                by the names of the inputs. Lists of numbers are sent as int32 and
                float32, arrays in their own type.
            signature: Name of the signature.

        Raises:
            ValueError: If the inputs have no rows or not the same number of rows.
            RuntimeError: If the server refuses the request, or answers with anything
                but one row of outputs for each row of inputs.
            TimeoutError: If there is no answer in time.
            ConnectionError: If the server cannot be reached.
        """
        import tensorflow as tf
        from tensorflow_serving.apis import predict_pb2

        columns = named_inputs(inputs)
        request = predict_pb2.PredictRequest(
            model_spec={**self._model, "signature_name": signature},
            inputs={
                name: tf.make_tensor_proto(values) for name, values in columns.items()
            },
        )
        response = self._ask(request)
        outputs = {
            name: _decoded(name, tf.make_ndarray(tensor))
            for name, tensor in response.outputs.items()
        }
        check_rows(outputs, columns)
        return outputs

    def close(self) -> None:
        """Ends the connection."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _ask(self, request: Any) -> Any:
        import grpc

        try:
            return self._service.Predict(request, timeout=self._timeout)
        except grpc.RpcError as error:
            code, details = error.code(), error.details()
        if code is grpc.StatusCode.DEADLINE_EXCEEDED:
            raise TimeoutError(
                f"{self._address} gave no answer within {self._timeout} s"
            )
        if code is grpc.StatusCode.UNAVAILABLE:
            raise ConnectionError(f"{self._address} is out of reach: {details}")
        raise RuntimeError(
            f"{self._address} refused the request: {code.name}, {details}"
        )


def _decoded(name: str, array: np.ndarray) -> np.ndarray:
    if array.dtype.kind != "O" or name.endswith("_bytes"):
        return array
    texts = [item.decode("utf-8", "replace") for item in array.flat]
    return np.array(texts, object).reshape(array.shape)

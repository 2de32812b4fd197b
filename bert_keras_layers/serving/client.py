"""Client: predictions of a model that TF Serving serves, over REST.

This file needs only NumPy: copy it to where there is no Keras.
"""

import base64
import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Inputs = Sequence[str] | Mapping[str, Any]
"""Texts, or the inputs of a signature by name, each a list or an array of rows."""


class PredictClient:
    """A model of TF Serving, called over REST.

    Each request is a connection of its own, so one client can serve many threads.
    The usual environment variables for proxies apply.

    Args:
        url: The server, such as `"http://localhost:8501"`.
        model: Name of the model there.
        version: Number of a version; by default the newest one that is served.
        label: Label of a version, such as `"stable"`, instead of a number.
        timeout: Seconds for which the server may be silent.

    Raises:
        ValueError: If an argument is wrong.

    Example:
    >>> from bert_keras_layers import PredictClient
    >>> client = PredictClient("http://localhost:8501", "parcels", label="stable")
    >>> client.url
    'http://localhost:8501/v1/models/parcels/labels/stable'
    """

    def __init__(
        self,
        url: str,
        model: str,
        version: int | None = None,
        label: str | None = None,
        timeout: float = 10.0,
    ) -> None:
        if not url.startswith(("http://", "https://")):
            raise ValueError(
                "`url` must be that of a server, such as 'http://localhost:8501'. "
                f"Received: {url!r}"
            )
        check_model(model, version, label, timeout)
        self.url = f"{url.rstrip('/')}/v1/models/{urllib.parse.quote(model)}"
        if version is not None:
            self.url += f"/versions/{version}"
        if label is not None:
            self.url += f"/labels/{urllib.parse.quote(label)}"
        self._timeout = timeout
        self._only_outputs: dict[str, str] = {}

    def predict(
        self,
        inputs: Inputs,
        signature: str = "serving_default",
        layout: str = "columns",
    ) -> dict[str, np.ndarray]:
        """Returns the outputs of a signature by name, one row for each row of inputs.

        Decimal numbers, NaN and infinities too, come as float32, whole ones as int64,
        texts as `str` in arrays of objects, as bytes in outputs named `..._bytes`.

        Args:
            inputs: A list of texts for the input `texts`, or a dict of lists or arrays
                by the names of the inputs. Bytes are sent as they are.
            signature: Name of the signature.
            layout: `"columns"`, the more compact JSON, or `"rows"`, which other servers
                and gateways understand too.

        Raises:
            ValueError: If the inputs have no rows or not the same number of rows, or
                hold what JSON cannot.
            RuntimeError: If the server refuses the request, or answers with anything
                but one row of outputs for each row of inputs.
            TimeoutError: If the server is silent for too long.
            ConnectionError: If it cannot be reached.
        """
        if layout not in _LAYOUTS:
            raise ValueError(
                f"`layout` must be one of {list(_LAYOUTS)}. Received: {layout!r}"
            )
        columns = named_inputs(inputs)
        sent, received, arrange = _LAYOUTS[layout]
        content = {"signature_name": signature, sent: arrange(columns)}
        answer = self._ask(":predict", json.dumps(content, default=_encoded).encode())
        try:
            outputs = _by_name(answer[received])
            if not isinstance(outputs, dict):  # A single one comes without a name.
                outputs = {self._only_output(signature): outputs}
            arrays = {name: _array(values) for name, values in outputs.items()}
        except (KeyError, TypeError, ValueError) as error:
            raise RuntimeError(
                f"{self.url} must answer with the outputs of {signature!r} under "
                f"{received!r}. Received: {str(answer)[:200]}"
            ) from error
        check_rows(arrays, columns)
        return arrays

    def _only_output(self, signature: str) -> str:
        """Returns the name of the only output of a signature, asked for once."""
        if signature not in self._only_outputs:
            metadata = self._ask("/metadata")["metadata"]["signature_def"]
            (name,) = metadata["signature_def"][signature]["outputs"]
            self._only_outputs[signature] = name
        return self._only_outputs[signature]

    def _ask(self, method: str, body: bytes | None = None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + method, body, headers)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as response:
                content = response.read().decode("utf-8", "replace")
        except urllib.error.HTTPError as error:
            message = _error_in(error.read().decode("utf-8", "replace"))
            raise RuntimeError(
                f"{self.url} refused the request: HTTP {error.code}, {message}"
            ) from None
        except (OSError, http.client.HTTPException) as error:
            cause: Any = getattr(error, "reason", error)
            if isinstance(cause, TimeoutError):
                silence = f"{self.url} gave no answer within {self._timeout} s"
                raise TimeoutError(silence) from None
            raise ConnectionError(f"{self.url} is out of reach: {cause}") from None
        try:
            return dict(json.loads(content))
        except (TypeError, ValueError):
            raise RuntimeError(
                f"{self.url} must answer in JSON. Received: {content[:200]!r}"
            ) from None


def check_model(
    model: str, version: int | None, label: str | None, timeout: float
) -> None:
    """Checks the arguments that clients of TF Serving have in common.

    Raises:
        ValueError: If one is wrong.
    """
    for kind, name in (("model", model), ("label", label or "none")):
        if not isinstance(name, str) or not name or set(name) & set("/:"):
            raise ValueError(
                f"`{kind}` must be a name without '/' and ':'. Received: {name!r}"
            )
    if version is not None and (not isinstance(version, int) or label is not None):
        raise ValueError(
            "`version` must be a number, and come without `label`. "
            f"Received: version={version!r}, label={label!r}"
        )
    if not timeout > 0:
        raise ValueError(f"`timeout` must be above 0 s. Received: {timeout!r}")


def named_inputs(inputs: Inputs) -> dict[str, Any]:
    """Returns inputs by name: texts alone are the input `texts`.

    Raises:
        ValueError: If they do not have the same number of rows, at least one.
    """
    columns = dict(inputs) if isinstance(inputs, Mapping) else {"texts": inputs}
    rows = {name: _rows(values) for name, values in columns.items()}
    if len(set(rows.values())) != 1 or 0 in rows.values():
        raise ValueError(
            "Each input must be a list or an array, even of a single row, and have as "
            f"many rows as the others, at least one. Received: {rows} rows"
        )
    return columns


def check_rows(outputs: dict[str, np.ndarray], inputs: dict[str, Any]) -> None:
    """Checks that outputs have a row for each row of inputs.

    Raises:
        RuntimeError: If one has not.
    """
    rows = _rows(next(iter(inputs.values())))
    if any(_rows(values) != rows for values in outputs.values()):
        shapes = {name: values.shape for name, values in outputs.items()}
        raise RuntimeError(
            f"The outputs must have {rows} rows, as the inputs. Received: {shapes}"
        )


def _rows(values: Any) -> int:
    if isinstance(values, np.ndarray):
        return len(values) if values.ndim else 0
    listed = isinstance(values, Sequence) and not isinstance(values, str | bytes)
    return len(values) if listed else 0


def _encoded(value: Any) -> Any:
    """Returns what JSON can hold for what it cannot."""
    if isinstance(value, bytes):
        return {"b64": base64.b64encode(value).decode()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise ValueError(f"Inputs must be texts, bytes and numbers. Received: {value!r}")


def _array(values: Any) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind == "f":
        return array.astype("float32")
    if array.dtype.kind == "U":  # As objects: NumPy drops zeros at the end of a text.
        return np.asarray(values, object)
    if array.dtype.kind == "O":
        decoded = [base64.b64decode(item["b64"]) for item in array.flat]
        return np.array(decoded, object).reshape(array.shape)
    return array


def _error_in(content: str) -> str:
    try:
        return str(json.loads(content)["error"])
    except (KeyError, TypeError, ValueError):
        return repr(content[:200])


def _to_rows(columns: dict[str, Any]) -> list[dict[str, Any]]:
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _by_name(outputs: Any) -> Any:
    """Returns rows of named values as columns; all else is in columns already."""
    first = outputs[0] if isinstance(outputs, list) and outputs else None
    if isinstance(first, dict) and list(first) != ["b64"]:
        return {name: [row[name] for row in outputs] for name in first}
    return outputs


# By layout: the key of the inputs, that of the outputs, and what arranges the inputs.
_LAYOUTS: dict[str, tuple[str, str, Callable[[dict[str, Any]], Any]]] = {
    "columns": ("inputs", "outputs", dict),
    "rows": ("instances", "predictions", _to_rows),
}

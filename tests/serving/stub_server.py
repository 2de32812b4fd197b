"""TF Serving as its clients see it, with SavedModels that really run: a stub for tests.

Paths, JSON, status codes and messages are those of http_rest_api_handler.cc,
http_rest_api_util.cc and json_tensor.cc of TF Serving, as far as clients rely on them.
"""

import base64
import contextlib
import http.server
import json
import re
import threading
import time
import urllib.parse
from concurrent import futures

import numpy as np

PREDICT = re.compile(
    r"/v1/models/([^/:]+)(?:/versions/(\d+)|/labels/([^/:]+))?(:predict|/metadata)"
)


class Refused(Exception):
    """What the server refuses: the HTTP status, the gRPC status and the message."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status
        self.code = {400: "INVALID_ARGUMENT", 404: "NOT_FOUND"}[status]


class StubModels:
    """Models by name and version, loaded as a server would load them.

    Args:
        folders: Folders of SavedModels, by name and version.
        labels: Versions, by name and label.
    """

    def __init__(self, folders, labels):
        import tensorflow as tf
        import tensorflow_text  # Registers the operations of the tokeniser.

        del tensorflow_text
        self.models = {
            name: {number: tf.saved_model.load(str(f)) for number, f in paths.items()}
            for name, paths in folders.items()
        }
        self.labels = labels

    def find(self, name, version, label):
        versions = self.models.get(name, {})
        if label:
            if label not in self.labels.get(name, {}):
                raise Refused(400, f"Unrecognized servable version label: {label}")
            version = self.labels[name][label]
        if not versions or (version and int(version) not in versions):
            wanted = f"Specific({name}, {version})" if version else f"Latest({name})"
            raise Refused(404, f"Servable not found for request: {wanted}")
        return versions[int(version or max(versions))]

    def signature(self, name, version, label, signature):
        signatures = self.find(name, version, label).signatures
        if signature not in signatures:
            raise Refused(
                400, f'Serving signature name: "{signature}" not found in signature def'
            )
        return signatures[signature]

    def run(self, function, inputs):
        """Runs a signature on tensors, of exactly its types and names."""
        specs = function.structured_input_signature[1]
        if set(inputs) != set(specs):
            raise Refused(
                400, f"input keys must be equal to: {','.join(sorted(specs))}"
            )
        for name, tensor in inputs.items():
            if tensor.dtype != specs[name].dtype:
                raise Refused(400, f"Expects {name} to be {specs[name].dtype.name}")
        return {name: out.numpy() for name, out in function(**inputs).items()}


def from_json(value, dtype):
    """Makes a tensor from JSON, of the type that the signature has."""
    import tensorflow as tf

    def decoded(value):
        if isinstance(value, list):
            return [decoded(item) for item in value]
        if isinstance(value, dict):
            return base64.b64decode(value["b64"])
        if isinstance(value, str) != (dtype == tf.string):
            raise Refused(400, f"JSON Value: {value} is not of expected type")
        return value

    try:
        return tf.constant(decoded(value), dtype)
    except (TypeError, ValueError):
        raise Refused(400, "Encountered list at unexpected size") from None


def to_json(name, value):
    """Makes JSON from an output; the shortest decimals that float32 reads back."""
    if isinstance(value, np.ndarray):
        return [to_json(name, item) for item in value]
    if isinstance(value, bytes) and name.endswith("_bytes"):
        return {"b64": base64.b64encode(value).decode()}
    if isinstance(value, bytes):
        return value.decode()
    return float(str(value)) if isinstance(value, np.floating) else int(value)


def predict(models, spec, request):
    """Answers a JSON request in rows or columns."""
    function = models.signature(*spec, request.get("signature_name", "serving_default"))
    specs = function.structured_input_signature[1]
    rows = request.get("instances")
    if (rows is None) == ("inputs" not in request):
        raise Refused(400, "Missing 'inputs' or 'instances' key")
    if rows is None:
        columns = request["inputs"]
        if not isinstance(columns, dict):
            columns = dict.fromkeys(specs, columns)
    elif not rows:
        raise Refused(400, "No values in 'instances' array")
    elif isinstance(rows[0], dict) and list(rows[0]) != ["b64"]:
        columns = {name: [row[name] for row in rows] for name in rows[0]}
    else:
        columns = dict.fromkeys(specs, rows)
    inputs = {
        name: from_json(value, specs[name].dtype)
        for name, value in columns.items()
        if name in specs
    }
    arrays = models.run(function, inputs)
    outputs = {name: to_json(name, array) for name, array in arrays.items()}
    single = next(iter(outputs.values())) if len(outputs) == 1 else None
    if rows is None:
        return {"outputs": single or outputs}
    batch = range(len(next(iter(arrays.values()))))
    named = [{name: out[i] for name, out in outputs.items()} for i in batch]
    return {"predictions": single or named}


def metadata(models, spec):
    signatures = models.find(*spec).signatures
    outputs = {
        name: {"outputs": {key: {} for key in function.structured_outputs}}
        for name, function in signatures.items()
    }
    return {"metadata": {"signature_def": {"signature_def": outputs}}}


def written(answer):
    """Writes JSON as TF Serving does: in UTF-8, and with NaN."""
    return json.dumps(answer, ensure_ascii=False).encode()


@contextlib.contextmanager
def http_server(answer):
    """Serves on loopback: `answer` gets method, path and body, returns status, body."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def respond(self):
            size = int(self.headers.get("Content-Length") or 0)
            status, body = answer(self.command, self.path, self.rfile.read(size))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            with contextlib.suppress(OSError):  # The client may have gone.
                self.wfile.write(body)

        do_GET = do_POST = respond

        def log_message(self, *arguments):
            """Nothing: the tests say what they expect."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=[0.01])
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def rest_server(models):
    """The REST interface of TF Serving, on loopback."""

    def answer(method, path, body):
        try:
            match = PREDICT.fullmatch(urllib.parse.unquote(path))
            expected = "POST" if match and match[4] == ":predict" else "GET"
            if not match or method != expected:
                raise Refused(400, f"Malformed request: {method} {path}")
            spec = match.groups()[:3]
            if method == "GET":
                return 200, written(metadata(models, spec))
            return 200, written(predict(models, spec, json.loads(body)))
        except Refused as error:
            return error.status, written({"error": str(error)})

    return http_server(answer)


@contextlib.contextmanager
def grpc_server(models, wait=0):
    """The gRPC interface of TF Serving, on loopback; answers after `wait` seconds."""
    import grpc
    import tensorflow as tf
    from tensorflow_serving.apis import predict_pb2, prediction_service_pb2_grpc

    class Service(prediction_service_pb2_grpc.PredictionServiceServicer):
        def Predict(self, request, context):
            time.sleep(wait)
            spec = request.model_spec
            try:
                function = models.signature(
                    spec.name,
                    spec.version.value or None,
                    spec.version_label,
                    spec.signature_name or "serving_default",
                )
                inputs = {
                    name: tf.constant(tf.make_ndarray(tensor))
                    for name, tensor in request.inputs.items()
                }
                outputs = models.run(function, inputs)
            except Refused as error:
                context.abort(grpc.StatusCode[error.code], str(error))
            tensors = {n: tf.make_tensor_proto(out) for n, out in outputs.items()}
            return predict_pb2.PredictResponse(outputs=tensors)

    unlimited = [("grpc.max_receive_message_length", -1)]  # As TF Serving has it.
    server = grpc.server(futures.ThreadPoolExecutor(2), options=unlimited)
    prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(
        Service(), server
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()

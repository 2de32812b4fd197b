import hashlib
import http.server
import io
import pathlib
import shutil
import sys
import tarfile
import threading

import pytest

from bert_keras_layers.files.hub_folder import hub_folder

SAVED_MODEL = pathlib.Path(__file__).parents[1] / "fixtures" / "hub_encoder_v2"
TFHUB = "https://tfhub.dev/tensorflow/bert_en_uncased_L-12_H-768_A-12/4"
HANDLE = "tensorflow/bert/TensorFlow2/en-uncased-l-12-h-768-a-12"
PAGE = "https://www.kaggle.com/models/tensorflow/bert"
LONG_URL = f"{PAGE}/frameworks/TensorFlow2/variations/en-uncased-l-12-h-768-a-12"
SHORT_URL = f"{PAGE}/TensorFlow2/en-uncased-l-12-h-768-a-12"
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def caches(tmp_path, monkeypatch):
    """Empty caches of both libraries, and no way to the network."""
    monkeypatch.setenv("TFHUB_CACHE_DIR", str(tmp_path / "tfhub"))
    monkeypatch.setenv("KAGGLEHUB_CACHE", str(tmp_path / "kaggle"))
    monkeypatch.setenv("KAGGLE_CONFIG_DIR", str(tmp_path))
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, NOWHERE)
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    return tmp_path


@pytest.fixture
def kaggle_cache(caches):
    """A Kaggle cache with version 4 of a model, complete, and half of version 5."""
    folder = caches / "kaggle" / "models" / HANDLE
    for version in ("4", "5"):
        shutil.copytree(SAVED_MODEL, folder / version)
    (folder / "4.complete").touch()
    return folder


@pytest.fixture
def asked_of_kaggle(monkeypatch):
    """Records what is asked of Kaggle, and answers with a SavedModel."""
    kagglehub = pytest.importorskip("kagglehub")
    asked = []

    def model_download(handle):
        asked.append(handle)
        return str(SAVED_MODEL)

    monkeypatch.setattr(kagglehub, "model_download", model_download)
    return asked


@pytest.fixture
def server(caches):
    """A server of archives: its address, and the dict of what it serves by path."""
    served = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            content = served.get(self.path.partition("?")[0])
            self.send_response(404 if content is None else 200)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}", served
        running.shutdown()


def archive():
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w:gz") as tar:
        tar.add(SAVED_MODEL, arcname=".")
    return content.getvalue()


def test_a_folder_is_returned_as_it_is(monkeypatch):
    assert hub_folder(SAVED_MODEL) == SAVED_MODEL
    assert hub_folder(str(SAVED_MODEL)) == SAVED_MODEL
    monkeypatch.setenv("HOME", str(SAVED_MODEL.parent))
    assert hub_folder(f"~/{SAVED_MODEL.name}") == SAVED_MODEL


def test_a_folder_goes_before_a_handle_of_the_same_name(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "kagglehub", None)
    shutil.copytree(SAVED_MODEL, tmp_path / HANDLE)
    monkeypatch.chdir(tmp_path)
    assert hub_folder(HANDLE) == pathlib.Path(HANDLE)


@pytest.mark.parametrize(
    "source",
    [
        *("", "none", "./none", "/no/ne", "a/b", "a/b/c/d", "a/b/c/d/1"),
        *(
            "a/b/Keras/c/1",
            "../b/TensorFlow2/c",
            "a/b/TensorFlow2/..",
            "~/a/TensorFlow2/c",
        ),
    ],
)
def test_what_is_neither_a_folder_nor_a_handle_is_never_fetched(source):
    with pytest.raises(FileNotFoundError, match=r"must be a SavedModel folder.*Recei"):
        hub_folder(source)


def test_a_path_object_is_never_fetched(monkeypatch):
    monkeypatch.setitem(sys.modules, "kagglehub", None)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        hub_folder(pathlib.Path(HANDLE))


def test_a_folder_without_a_saved_model_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"a saved_model.pb. .*{tmp_path}"):
        hub_folder(tmp_path)


@pytest.mark.tensorflow
def test_a_url_comes_from_the_cache_of_tensorflow_hub(caches):
    folder = caches / "tfhub" / hashlib.sha1(TFHUB.encode()).hexdigest()
    shutil.copytree(SAVED_MODEL, folder)
    assert hub_folder(TFHUB) == folder


@pytest.mark.tensorflow
def test_a_url_is_fetched_once_and_unpacked(server, caches):
    address, served = server
    served["/bert/4"] = archive()
    folder = hub_folder(f"{address}/bert/4")
    assert folder.parent == caches / "tfhub"
    for file in SAVED_MODEL.rglob("*.*"):
        fetched = folder / file.relative_to(SAVED_MODEL)
        assert fetched.read_bytes() == file.read_bytes()
    served.clear()
    assert hub_folder(f"{address}/bert/4") == folder


@pytest.mark.tensorflow
@pytest.mark.parametrize("length", [0, 100, 50_000])
def test_a_broken_transfer_leaves_nothing(server, caches, length):
    address, served = server
    served["/bert/4"] = archive()[:length]
    with pytest.raises(FileNotFoundError, match=r"that can be fetched\. .*/bert/4'"):
        hub_folder(f"{address}/bert/4")
    assert not any(path.is_dir() for path in (caches / "tfhub").iterdir())
    served["/bert/4"] = archive()
    assert (hub_folder(f"{address}/bert/4") / "saved_model.pb").is_file()


@pytest.mark.tensorflow
def test_a_url_that_cannot_be_reached_is_named(server):
    with pytest.raises(FileNotFoundError, match=f"Received: '{NOWHERE}/4' .URLError"):
        hub_folder(f"{NOWHERE}/4")
    with pytest.raises(FileNotFoundError, match=r"HTTPError: HTTP Error 404"):
        hub_folder(f"{server[0]}/none")


@pytest.mark.tensorflow
def test_a_folder_in_a_bucket_is_refused(monkeypatch):
    import tensorflow_hub

    monkeypatch.setattr(tensorflow_hub, "resolve", lambda handle: handle)
    with pytest.raises(ValueError, match=r"must be a \.tar\.gz.*'gs://bucket/bert'"):
        hub_folder("gs://bucket/bert")


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "source", [f"{HANDLE}/4", f"{LONG_URL}/versions/4", f"{SHORT_URL}/4"]
)
def test_a_kaggle_model_comes_from_the_cache_of_kagglehub(kaggle_cache, source):
    assert hub_folder(source) == kaggle_cache / "4"


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("source", "handle"),
    [
        (HANDLE, HANDLE),
        (LONG_URL, HANDLE),
        (SHORT_URL, HANDLE),
        (f"{SHORT_URL}/4/?tfhub-redirect=true#top", f"{HANDLE}/4"),
        (f"{LONG_URL}?tfhub-redirect=true", HANDLE),
        (SHORT_URL.replace("https://www.", "http://"), HANDLE),
        ("a_b/c.d/tensorFlow2/e-f/12", "a_b/c.d/tensorFlow2/e-f/12"),
    ],
)
def test_a_kaggle_url_becomes_a_handle(asked_of_kaggle, source, handle):
    assert hub_folder(source) == SAVED_MODEL
    assert asked_of_kaggle == [handle]


@pytest.mark.tensorflow
@pytest.mark.parametrize("source", [HANDLE, f"{HANDLE}/5", f"{SHORT_URL}/6"])
def test_a_kaggle_model_that_cannot_be_reached_is_named(kaggle_cache, source):
    message = f"that can be fetched. Received: '{source}' .ProxyError: "
    with pytest.raises(FileNotFoundError, match=message) as caught:
        hub_folder(source)
    assert "\n" not in str(caught.value)
    assert [path.name for path in kaggle_cache.glob("*.complete")] == ["4.complete"]


@pytest.mark.parametrize("url", [PAGE, f"{PAGE}/pyTorch/x/1", f"{PAGE}/TensorFlow2"])
def test_a_kaggle_url_of_no_saved_model_is_refused(url):
    with pytest.raises(ValueError, match=f"must name a TensorFlow2 model.*'{url}'"):
        hub_folder(url)


@pytest.mark.parametrize(
    ("source", "package"), [(TFHUB, "tensorflow_hub"), (HANDLE, "kagglehub")]
)
def test_a_missing_package_is_named(source, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    install = r'pip install "bert-keras-layers\[hub\]"\. Received: '
    with pytest.raises(ImportError, match=f"{package}.*{install}'{source}'"):
        hub_folder(source)


@pytest.mark.tensorflow
def test_without_the_extra_a_folder_loads_and_a_url_says_what_to_install(run_python):
    printed = run_python(
        f"""
import sys
for name in ("kagglehub", "pkg_resources"):  # The latter left setuptools in 82.
    sys.modules[name] = None
from bert_keras_layers import BertEncoder, BertPreprocessor
print(BertEncoder.from_hub({str(SAVED_MODEL)!r}).num_layers)
print(len(BertPreprocessor.from_hub({str(SAVED_MODEL)!r}).vocabulary))
for source in ({TFHUB!r}, {HANDLE!r}):
    try:
        BertEncoder.from_hub(source)
    except ImportError as error:
        print(error)
"""
    ).splitlines()
    assert printed[-4:-2] == ["3", "20"]
    for line, name in zip(printed[-2:], ("tensorflow_hub", "kagglehub"), strict=True):
        assert line.startswith(f"{name}, and setuptools below 82, must be installed: ")
        assert 'pip install "bert-keras-layers[hub]"' in line

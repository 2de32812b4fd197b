"""Server files: what TF Serving must be told about the models in a folder."""

import os
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence

from bert_keras_layers.files.published_file import published_file
from bert_keras_layers.serving.batching_parameters import BatchingParameters
from bert_keras_layers.serving.server_name import check_server_name

Versions = Sequence[int] | Mapping[str, int]
"""Numbers of versions, or versions by label."""

_MONITORING = """\
prometheus_config {
  enable: true
  path: "/monitoring/prometheus/metrics"
}
"""


def write_server_files(
    folder: str | os.PathLike[str],
    versions: Mapping[str, Versions] | None = None,
    batching: BatchingParameters | None = None,
    base_path: str = "/models",
) -> list[pathlib.Path]:
    """Writes the configuration of TF Serving for all models in a folder.

    - `models.config`: each model, its name that of its folder, and which of its
      versions are served: the newest one, unless `versions` says otherwise;
    - `batching_parameters.txt`: how requests are joined into batches;
    - `monitoring.config`: metrics for Prometheus.

    A server that polls `models.config` follows each change of it. The README in the
    folder `saved_models` has the commands that start one.

    Args:
        folder: Holds the models: `folder/NAME/1`, and so on.
        versions: For some models by name, the versions to serve: a list such as
            `[3]`, to stay with it or to go back to it, or a dict such as
            `{"stable": 3, "canary": 4}`, to serve both under these labels too.
        batching: By default `BatchingParameters()`.
        base_path: Where the server finds `folder`.

    Returns:
        The three files.

    Raises:
        ValueError: If there is no model, a model or a version is not there, or a
            name cannot stand in a URL.

    Example:
    >>> import pathlib, tempfile
    >>> from bert_keras_layers import write_server_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for version in ("parcels/1", "parcels/2"):
    ...         path = pathlib.Path(folder, version, "saved_model.pb")
    ...         path.parent.mkdir(parents=True)
    ...         path.touch()
    ...     models, *_ = write_server_files(folder, {"parcels": {"stable": 1}})
    ...     print(models.read_text(), end="")
    model_config_list {
      config {
        name: "parcels"
        base_path: "/models/parcels"
        model_platform: "tensorflow"
        model_version_policy { specific { versions: 1 } }
        version_labels { key: "stable" value: 1 }
      }
    }
    """
    folder = pathlib.Path(folder).expanduser()
    versions = versions or {}
    if not re.fullmatch(r"(/[\w.-]+)+", base_path, re.ASCII):
        raise ValueError(
            "`base_path` must be an absolute path on the server, such as '/models'. "
            f"Received: {base_path!r}"
        )
    models = _models(folder)
    for name, chosen in versions.items():
        _check_versions(folder, name, chosen, models.get(name, set()))
    configs = [_config(name, base_path, versions.get(name)) for name in models]
    contents = {
        "models.config": "\n".join(["model_config_list {", *configs, "}\n"]),
        "batching_parameters.txt": (batching or BatchingParameters()).text(),
        "monitoring.config": _MONITORING,
    }
    for file, content in contents.items():
        with published_file(folder / file) as draft:
            draft.write_text(content, encoding="ascii")
    return [folder / file for file in contents]


def _models(folder: pathlib.Path) -> dict[str, set[int]]:
    """Returns the numbers of the versions of each model, by its name."""
    models: dict[str, set[int]] = {}
    for file in sorted(folder.glob("*/*/saved_model.pb")):
        version = file.parent
        # A name with a dot first is a folder that is being written.
        if version.name.isdecimal() and not version.parent.name.startswith("."):
            name = check_server_name("model", version.parent.name)
            models.setdefault(name, set()).add(int(version.name))
    if not models:
        raise ValueError(
            f"There must be a model, such as {folder / 'NAME' / '1'}. "
            f"Received: {folder} without one"
        )
    return models


def _check_versions(
    folder: pathlib.Path, model: str, chosen: Versions, existing: set[int]
) -> None:
    numbers = chosen.values() if isinstance(chosen, Mapping) else chosen
    if not chosen or not existing.issuperset(numbers):
        raise ValueError(
            f"The versions of {model!r} must be among those in {folder / model}: "
            f"{sorted(existing)}. Received: {chosen!r}"
        )
    for label in chosen if isinstance(chosen, Mapping) else ():
        check_server_name("label", label)


def _config(name: str, base_path: str, chosen: Versions | None) -> str:
    labels = chosen if isinstance(chosen, Mapping) else {}
    lines = [
        f'name: "{name}"',
        f'base_path: "{base_path}/{name}"',
        'model_platform: "tensorflow"',
        f"model_version_policy {{ {_policy(chosen)} }}",
        *(
            f'version_labels {{ key: "{label}" value: {version} }}'
            for label, version in sorted(labels.items())
        ),
    ]
    return "\n".join(["  config {", *(f"    {line}" for line in lines), "  }"])


def _policy(chosen: Versions | None) -> str:
    if chosen is None:
        return "latest { num_versions: 1 }"
    numbers: Iterable[int] = chosen.values() if isinstance(chosen, Mapping) else chosen
    versions = " ".join(f"versions: {number}" for number in sorted(set(numbers)))
    return f"specific {{ {versions} }}"

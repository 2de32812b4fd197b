"""Server command: a folder of models -> the command line that starts TF Serving."""

import pathlib
import shlex

_FLAGS = (
    "--model_config_file=/models/models.config",
    "--model_config_file_poll_wait_seconds=10",
    "--allow_version_labels_for_unavailable_models",
    "--enable_batching",
    "--batching_parameters_file=/models/batching_parameters.txt",
    "--monitoring_config_file=/models/monitoring.config",
)


def server_command(folder: pathlib.Path, gpu: bool = False) -> str:
    r"""Returns the command for docker, with the files of `write_server_files`.

    Args:
        folder: Holds the models and the files; docker takes absolute paths only.
        gpu: Whether on an NVIDIA GPU, by its container toolkit.

    Example:
    >>> print(server_command(pathlib.Path("/srv/models")).splitlines()[1])
        -v /srv/models:/models:ro tensorflow/serving \
    """
    run = "docker run --rm --gpus all" if gpu else "docker run --rm"
    image = "tensorflow/serving:latest-gpu" if gpu else "tensorflow/serving"
    lines = [
        f"{run} -p 8500:8500 -p 8501:8501",
        f"-v {shlex.quote(f'{folder}:/models:ro')} {image}",
        *_FLAGS,
    ]
    return " \\\n    ".join(lines)

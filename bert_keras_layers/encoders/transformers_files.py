"""Transformers files: a Hugging Face folder -> the weights of a TensorFlow model."""

import pathlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open

from bert_keras_layers.encoders.hugging_face import modern_name
from bert_keras_layers.files.checksum import check_sha256


def fill_from_folder(model: Any, folder: pathlib.Path, sha256: str | None) -> bool:
    """Assigns every weight of a built model of transformers, each exactly once.

    transformers itself can no longer read safetensors written by torch.

    Args:
        model: A `TFPreTrainedModel` without a head.
        folder: With `model.safetensors`, of torch or TensorFlow, or `tf_model.h5`.
        sha256: Expected digest of that file in hex, or None for no check.

    Returns:
        Whether the file has a pooler; if not, that of the model stays random.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the digest differs, the file is damaged, or weights are
            missing, left over or of another shape.
    """
    files = [folder / "model.safetensors", folder / "tf_model.h5"]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        raise FileNotFoundError(
            "A Hugging Face model folder must have a model.safetensors or a "
            "tf_model.h5; pickled weights (.bin) are never loaded. "
            f"Received: {folder}"
        )
    if sha256 is not None:
        check_sha256(file, sha256)
    if file.suffix == ".h5":
        return _fill_from_h5(model, folder)
    try:
        with safe_open(file, framework="numpy") as opened:
            return _fill_from_safetensors(model, opened, file)
    except SafetensorError as error:
        raise ValueError(f"{file} is damaged or incomplete: {error}") from error


def _fill_from_safetensors(model: Any, opened: Any, file: pathlib.Path) -> bool:
    of_torch = (opened.metadata() or {}).get("format") != "tf"
    base = f"{model.base_model_prefix}{'.' if of_torch else '/'}"
    stored = {modern_name(name): name for name in list(opened.keys())}
    prefixed = any(name.startswith(base) for name in stored)
    # Where nothing has the prefix, everything in the file is the encoder.
    stored = {
        name.removeprefix(base): original
        for name, original in stored.items()
        if name.startswith(base) or not prefixed
    }
    needed = dict(_names(model, base, of_torch))
    missing = set(needed) - set(stored)
    poolers = {name for name in needed if "pooler" in name}
    without_pooler = bool(missing) and missing == poolers
    left_over = {
        name for name in set(stored) - set(needed) if not _expected_extra(name)
    }
    if left_over or (missing and not without_pooler):
        raise ValueError(
            f"{file} must hold exactly the weights of {type(model).__name__}. "
            f"Missing: {sorted(missing)[:5]}. Left over: {sorted(left_over)[:5]}."
        )
    for name, (variable, transposed) in needed.items():
        if name in missing:
            continue
        array: np.ndarray = opened.get_tensor(stored[name])
        array = array.T if transposed else array
        if array.shape != tuple(variable.shape):
            raise ValueError(
                f"{file}: {name} must have the shape {tuple(variable.shape)} in "
                f"{type(model).__name__}. Received: shape {array.shape}"
            )
        variable.assign(array)
    return not without_pooler


def _names(model: Any, base: str, of_torch: bool) -> Iterator[tuple[str, Any]]:
    """Yields the stored name of each variable, with it and whether to transpose."""
    from transformers.modeling_tf_pytorch_utils import (
        convert_tf_weight_name_to_pt_weight_name,
    )
    from transformers.modeling_tf_utils import strip_model_name_and_prefix

    for variable in model.weights:
        if of_torch:
            name, transpose = convert_tf_weight_name_to_pt_weight_name(
                variable.name, tf_weight_shape=variable.shape
            )
            if transpose.value not in ("no", "simple"):
                raise ValueError(
                    "Weights of convolutions cannot be read from files of torch. "
                    f"Received: {type(model).__name__}, which has {name}"
                )
            yield name.removeprefix(base), (variable, transpose.value == "simple")
        else:
            name = strip_model_name_and_prefix(variable.name)
            yield name.removeprefix(base), (variable, False)


def _fill_from_h5(model: Any, folder: pathlib.Path) -> bool:
    loaded, report = type(model).from_pretrained(
        folder, use_safetensors=False, output_loading_info=True
    )
    missing = [name for name in report["missing_keys"] if "pooler" not in name]
    if missing or report["mismatched_keys"]:
        raise ValueError(
            f"{folder / 'tf_model.h5'} must hold the weights of "
            f"{type(model).__name__}. Missing: {sorted(missing)[:5]}. "
            f"Of another shape: {report['mismatched_keys'][:5]}."
        )
    for variable, value in zip(model.weights, loaded.weights, strict=True):
        variable.assign(value)
    return not report["missing_keys"]


def _expected_extra(name: str) -> bool:
    return name.endswith("position_ids") or "pooler" in name

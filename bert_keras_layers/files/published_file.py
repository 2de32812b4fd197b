"""Published files: written beside, then moved into place, whole or not at all."""

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Iterator


@contextlib.contextmanager
def published_file(target: pathlib.Path) -> Iterator[pathlib.Path]:
    """Gives an empty file beside `target`, which replaces it when all went well.

    After an error `target` is as it was. Readers see the old file or the new one.

    Args:
        target: The file to write; its folder is made if there is none.

    Example:
    >>> import pathlib, tempfile
    >>> from bert_keras_layers.files.published_file import published_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder, "notes.txt")
    ...     with published_file(target) as draft:
    ...         _ = draft.write_text("all of it")
    ...     target.read_text()
    'all of it'
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    # Some writers look at the ending.
    handle, name = tempfile.mkstemp(target.suffix, ".draft-", target.parent)
    os.close(handle)
    draft = pathlib.Path(name)
    try:
        yield draft
        draft.chmod(0o644)  # mkstemp makes a file that no server could read.
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)

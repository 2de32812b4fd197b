"""Published folders: written beside, then moved into place, whole or not at all."""

import contextlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator


def newest_version(folder: pathlib.Path) -> pathlib.Path | None:
    """Returns the subfolder with the highest number for a name, None without any."""
    versions = [path for path in folder.glob("*") if path.name.isdecimal()]
    return max(versions, key=lambda path: int(path.name), default=None)


def next_version(folder: pathlib.Path) -> pathlib.Path:
    """Returns the subfolder after the newest version, `folder/1` without any."""
    newest = newest_version(folder)
    return folder / str(1 if newest is None else int(newest.name) + 1)


@contextlib.contextmanager
def published_folder(target: pathlib.Path) -> Iterator[pathlib.Path]:
    """Gives a new folder beside `target`, which becomes `target` when all went well.

    After an error nothing is left. The name of the new folder starts with a dot, so
    that a server that watches the parent folder does not take it for a version.

    Args:
        target: The folder to make; must not exist.

    Raises:
        FileExistsError: If `target` exists.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = pathlib.Path(tempfile.mkdtemp(prefix=".draft-", dir=target.parent))
    try:
        yield draft
        draft.chmod(0o755)  # mkdtemp makes a folder that no server could read.
        if target.exists():
            raise FileExistsError(f"There must be no {target} yet.")
        os.rename(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)

"""Text lines: a file or stdin -> a text per line."""

import pathlib
import sys


def read_lines(path: pathlib.Path) -> list[str]:
    """Returns the lines of a UTF-8 file, or of stdin if the path is `-`.

    Empty lines count, so that the n-th answer is that of the n-th line.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If it is not in UTF-8 or has no line.
    """
    stdin = str(path) == "-"
    if not stdin and not path.is_file():
        raise FileNotFoundError(f"There is no file {path}")
    try:
        content = sys.stdin.buffer.read() if stdin else path.read_bytes()
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} must be UTF-8 text. Received: {error}") from error
    lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    if lines == [""]:
        raise ValueError(f"{path} must have at least one line. Received: none")
    return lines

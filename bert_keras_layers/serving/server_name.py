"""Server names: what a model or a label may be called in a server's URLs and files."""

import re

_NAME = re.compile(r"[A-Za-z0-9_][\w.-]*", re.ASCII)


def check_server_name(kind: str, name: str) -> str:
    """Returns a name that needs no quoting in a URL or a configuration file.

    Args:
        kind: What is named, for the message.
        name: Letters, digits, `_`, `-` and `.`, but neither `-` nor `.` first.

    Raises:
        ValueError: If it has other characters.

    Example:
    >>> from bert_keras_layers.serving.server_name import check_server_name
    >>> check_server_name("model", "customer_messages")
    'customer_messages'
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"The name of a {kind} must be letters, digits, '_', '-' and '.', neither "
            f"of the last two first. Received: {name!r}"
        )
    return name

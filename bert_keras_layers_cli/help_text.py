"""Help text: examples below the help of a command, as they are typed."""

from rich.markup import escape


def examples(lines: str) -> str:
    """Returns the text below a help: a heading and lines to copy.

    Args:
        lines: A command in each line; one that ends in a backslash goes on in the next.
    """
    return f"[bold]Examples[/bold]\n{escape(lines.strip())}"

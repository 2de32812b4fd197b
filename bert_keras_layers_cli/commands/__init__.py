"""Commands: what each takes, says in its help, and calls."""

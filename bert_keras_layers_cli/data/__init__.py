"""Data: files and arguments -> texts, targets; vectors -> files."""

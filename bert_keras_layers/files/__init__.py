"""Files: a name or a path -> files on this disk, checked."""

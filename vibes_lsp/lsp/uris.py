"""Which file a URI names."""

from __future__ import annotations

from pathlib import Path

from pygls.uris import to_fs_path


def path_of(uri: str) -> Path | None:
    """Return the absolute path that a URI names; None for what can be no file of ours: `untitled:`, a notebook's cell, nonsense."""
    try:
        name = to_fs_path(uri)
    except ValueError:
        return None
    return Path(name).absolute() if name and "\0" not in name else None

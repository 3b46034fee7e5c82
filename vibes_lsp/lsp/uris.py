"""Which file a URI names, and how a file is named by one."""

from __future__ import annotations

import os
from pathlib import Path

from pygls.uris import to_fs_path


def path_of(uri: str) -> Path | None:
    """Return the absolute path that a URI names, without `.` and `..`; None for what can be no file of ours: `untitled:`, a notebook's cell, nonsense."""
    try:
        name = to_fs_path(uri)
    except ValueError:
        return None
    return Path(os.path.normpath(name)).absolute() if name and "\0" not in name else None


def uri_in(project: Path, path: str) -> str | None:
    """Return the URI of a path in a project; None for one that no file can have, as of a record that holds half a character."""
    try:
        return (project / path).as_uri()
    except ValueError:
        return None

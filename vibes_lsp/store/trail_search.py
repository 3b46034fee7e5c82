"""Find the audit directory that owns a folder: whose trail it is.

The search goes up from the folder to the top of its repository, to the home folder or to the root.
As for git, the repository and its trail must belong to the user; outside a repository, so must each
folder on the way. `safe.directory` in the user's own settings of git names exceptions. A link that
leads out of the project names another project's trail.

`ingest.hook` uses it too, so it imports only what Python has loaded to start.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

AUDIT_DIR_NAME = ".ai-audit"


class RefusedTrail(Exception):
    """There is an audit directory, but it must not be used.

    Attributes:
        path: What must not be used.
        top: The top of its repository, or its project where there is none.
        is_link: Whether it is a link out of the project, and not another user's.
    """

    def __init__(self, path: str, top: str, *, is_link: bool) -> None:
        super().__init__(path)
        self.path = path
        self.top = top
        self.is_link = is_link


def search_trail(folder: str) -> str | None:
    """Return the audit directory that owns a folder; None without one.

    Args:
        folder: An absolute path, links as they are; it may not exist.

    Raises:
        RefusedTrail: The nearest one must not be used.
    """
    searched = list(_searched_folders(folder))
    trails = (os.path.isdir(os.path.join(project, AUDIT_DIR_NAME)) for project in searched)
    nearest = next((index for index, is_there in enumerate(trails) if is_there), None)
    if nearest is None:
        return None
    project, top = searched[nearest], searched[-1]
    trail = os.path.join(project, AUDIT_DIR_NAME)
    if is_repository(top):
        owned = [trail, project, top, os.path.join(top, ".git")]
    else:
        owned, top = [trail, *searched[: nearest + 1]], project
    foreign = next((path for path in owned if not _is_own(path)), None)
    if foreign is not None and not _is_safe(top):
        raise RefusedTrail(foreign, top, is_link=False)
    check_links(trail)
    return trail


def check_links(trail: str) -> None:
    """Check that an audit directory is in its project.

    Raises:
        RefusedTrail: It is a link that leads elsewhere.
    """
    project = os.path.dirname(trail)
    inside = os.path.join(os.path.realpath(project), "")
    if os.path.islink(trail) and not os.path.realpath(trail).startswith(inside):
        raise RefusedTrail(trail, project, is_link=True)


def _searched_folders(folder: str) -> Iterator[str]:
    """Yield the folders in which the trail of a folder may be, the nearest first."""
    if os.path.basename(folder) == AUDIT_DIR_NAME:
        folder = os.path.dirname(folder)
    home = os.path.expanduser("~")
    while True:
        yield folder
        parent = os.path.dirname(folder)
        if folder in (home, parent) or is_repository(folder):
            return
        folder = parent


def is_repository(folder: str) -> bool:
    """Return whether a folder is the top of a work tree; git ignores an empty `.git` folder."""
    marker = os.path.join(folder, ".git")
    return os.path.lexists(marker) and (
        os.path.isfile(marker) or os.path.lexists(os.path.join(marker, "HEAD"))
    )


def _is_own(path: str) -> bool:
    """Return whether a file or folder is the user's own. Windows has no owners to compare."""
    if os.name == "nt":
        return True
    try:
        owner = os.stat(path).st_uid
    except OSError:  # it does not exist, or may not be examined
        return True
    user = os.geteuid()
    return owner == user or (user == 0 and str(owner) == os.environ.get("SUDO_UID"))


def _is_safe(top: str) -> bool:
    # Imported late: see the docstring of the module.
    from vibes_lsp.store.safe_directories import is_safe_directory  # noqa: PLC0415

    return is_safe_directory(top)

"""The files of the project: all that git tracks or would track, so that tests see uncommitted files."""

import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.requirements import REPOSITORY, require

RELEASED = {("vibes_lsp",), ("services", "vibes_services")}
"""The folders of the packages."""


@cache
def files() -> tuple[Path, ...]:
    """Return the project's files, relative to the repository, sorted."""
    require(REPOSITORY / ".git", "the list of the project's files comes from git")
    git = require("git", "the list of the project's files comes from git")
    listing = subprocess.run(
        [git, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=REPOSITORY,
        check=True,
        capture_output=True,
    )
    names = {name for name in listing.stdout.decode().split("\0") if name}
    return tuple(sorted(path for path in map(Path, names) if (REPOSITORY / path).is_file()))


def python_files() -> Iterator[Path]:
    """Yield the project's Python files."""
    return (path for path in files() if path.suffix == ".py")


def product_files() -> Iterator[Path]:
    """Yield the Python files that are released: those of the product and of its services."""
    return (
        path for path in python_files() if path.parts[:2] in RELEASED or path.parts[:1] in RELEASED
    )


def text_of(path: Path) -> str | None:
    """Return a file's text, or None for a binary file."""
    try:
        return (REPOSITORY / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None

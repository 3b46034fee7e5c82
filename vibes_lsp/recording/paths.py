"""Paths as records have them (RFC 7.3, R19), and the saved text of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from vibes_lsp.anchors.text import Text
from vibes_lsp.index.project_files import read_source
from vibes_lsp.model.paths import PathKind, normal_path, path_kind
from vibes_lsp.recording.arguments import WrongArgument
from vibes_lsp.store.audit_dir import AUDIT_DIR_NAME
from vibes_lsp.store.files import is_inside

_BOOKKEEPING: Final = frozenset({".git", AUDIT_DIR_NAME})
"""Folders of which no file is annotated, in any case: some systems do not tell `.GIT` from `.git`."""


def project_path(project: Path, path: str) -> str | None:
    """Return a path relative to the project; None when it is not inside, once links are resolved, or names no file.

    Args:
        project: The project's root.
        path: Absolute, or relative to the project.
    """
    relative = (
        _relative(project, path)
        if path_kind(path) == PathKind.ABSOLUTE
        else normal_path(path).rstrip("/")
    )
    if (
        relative is None
        or path_kind(relative) != PathKind.INSIDE
        or not is_inside(project / relative, project)
    ):
        return None
    return relative


def required_path(project: Path, path: str) -> str:
    """Return a path relative to the project.

    Raises:
        WrongArgument: It is not inside the project, or belongs to git or to an audit trail.
    """
    relative = project_path(project, path)
    if relative is None:
        raise WrongArgument("file", f"{path!r} is no file inside the project {project}")
    if is_bookkeeping(project, relative):
        raise WrongArgument(
            "file",
            f"{path!r} belongs to git or to an audit trail; give a source file of the project",
        )
    return relative


def is_bookkeeping(project: Path, relative: str) -> bool:
    """Return whether a path of the project lies in `.git` or `.ai-audit`, links resolved: nobody writes source code there.

    Args:
        project: The project's root.
        relative: Relative to the project, and inside it.
    """
    there = (project / relative).resolve()
    parts = [
        *relative.split("/"),
        *(there.relative_to(project.resolve()).parts if is_inside(there, project) else ()),
    ]
    return any(part.casefold() in _BOOKKEEPING for part in parts)


def project_paths(project: Path, paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return those that are inside the project, relative to it and each once, and those that are not."""
    kept: dict[str, None] = {}
    left_out: dict[str, None] = {}
    for path in paths:
        relative = project_path(project, path)
        if relative is None:
            left_out[path] = None
        else:
            kept[relative] = None
    return list(kept), list(left_out)


def without_project(text: str, project: Path) -> str:
    """Return a text in which absolute paths inside the project are relative to it, and the project itself is `.`."""
    for spelling in _spellings(project):
        if len(spelling) < 2 or spelling not in text:
            continue
        text = re.sub(
            rf"(?<![\w./\\-])(?:file://)?{re.escape(spelling)}(?:/|\\{{1,2}})(?=[\w.@+%-])",
            "",
            text,
        )
        text = re.sub(rf"(?<![\w./\\-])(?:file://)?{re.escape(spelling)}(?![\w.-])", ".", text)
    return text


@lru_cache(
    maxsize=64
)  # asked for each text; that a link above the project changes meanwhile only leaves a path as it was written
def _spellings(project: Path) -> list[str]:
    """Return how a project's folder may be written: with and without links, as in a URI, as in JSON."""
    places = (project.absolute(), project.resolve())
    plain = [each for place in places for each in (str(place), place.as_posix())]
    quoted = [
        each
        for place in places
        for each in (place.as_uri().removeprefix("file://"), str(place).replace("\\", "\\\\"))
    ]
    return list(dict.fromkeys([*plain, *quoted]))


def _relative(project: Path, path: str) -> str | None:
    there = Path(path)
    with suppress(ValueError):
        return normal_path(there.relative_to(project).as_posix())
    with suppress(ValueError):
        return normal_path(
            (there.parent.resolve() / there.name).relative_to(project.resolve()).as_posix()
        )
    return None


def source_text(project: Path, path: str) -> Text:
    """Return the text of a file of the project; whoever records can also give it.

    Raises:
        UnreadableFile: It is not there, cannot be read, or is a link out of the project.
    """
    return read_source(project, path, hint="save it first, or give its text")

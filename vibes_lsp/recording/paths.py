"""Paths as records have them (RFC 7.3, R19), and the saved text of a file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

from vibes_lsp.anchors.text import Text
from vibes_lsp.git.project_files import given_text, read_source
from vibes_lsp.model.paths import PathKind, normal_path, path_kind
from vibes_lsp.recording.arguments import WrongArgument
from vibes_lsp.store.files import is_inside, real_path_in
from vibes_lsp.store.trail_search import AUDIT_DIR_NAME

_BOOKKEEPING: Final = frozenset({".git", AUDIT_DIR_NAME})
"""Folders whose files are never annotated, in any case: file systems may ignore case."""


def project_path(project: Path, path: str) -> str | None:
    """Return the path that git has, relative to the project; None for no file inside it.

    Links inside the project are followed: the link itself has no lines.

    Args:
        project: The project's root.
        path: Absolute, or relative to the project.
    """
    relative = (
        _relative(project, path)
        if path_kind(path) == PathKind.ABSOLUTE
        else normal_path(path).rstrip("/")
    )
    if relative is None or path_kind(relative) != PathKind.INSIDE:
        return None
    real = real_path_in(project, relative)
    return None if real == "." else real


def required_path(project: Path, path: str) -> str:
    """Return a path relative to the project.

    Raises:
        WrongArgument: It is not inside the project, or belongs to git or to an audit trail.
    """
    relative = project_path(project, path)
    if relative is None:
        raise WrongArgument("file", f"expected a file inside the project, not {path!r}")
    if is_bookkeeping(project, relative):
        raise WrongArgument(
            "file",
            f"{path!r} belongs to git or to an audit trail; give a source file of the project",
        )
    return relative


def is_bookkeeping(project: Path, relative: str) -> bool:
    """Return whether a path is in `.git` or `.ai-audit`, links resolved.

    Args:
        project: The project's root.
        relative: The path, relative to the project and inside it.
    """
    there = (project / relative).resolve()
    parts = [
        *relative.split("/"),
        *(there.relative_to(project.resolve()).parts if is_inside(there, project) else ()),
    ]
    return any(part.casefold() in _BOOKKEEPING for part in parts)


def project_paths(project: Path, paths: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return paths inside the project, relative to it and each once; and those outside."""
    inside: dict[str, None] = {}
    left_out: dict[str, None] = {}
    for path in paths:
        relative = project_path(project, path)
        if relative is None:
            left_out[path] = None
        else:
            inside[relative] = None
    return list(inside), list(left_out)


def without_project(text: str, project: Path) -> str:
    """Return a text with paths inside the project relative to it, and the project as `.`."""
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


@lru_cache(maxsize=64)  # a link above the project that changes later only leaves a path absolute
def _spellings(project: Path) -> list[str]:
    """Return spellings of a project's folder: with and without links, as in a URI, in JSON."""
    places = (project.absolute(), project.resolve())
    plain = [spelling for place in places for spelling in (str(place), place.as_posix())]
    quoted = [
        spelling
        for place in places
        for spelling in (place.as_uri().removeprefix("file://"), str(place).replace("\\", "\\\\"))
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


def requested_text(project: Path, path: str, text: str | None) -> Text:
    """Return the text that a request gives of a file, as the file has it; else the saved text.

    Raises:
        UnreadableFile: As for `source_text`, where the request has no text.
    """
    if text is None:
        return source_text(project, path)
    return given_text(project, path, text)


def source_text(project: Path, path: str) -> Text:
    """Return the saved text of a file of the project.

    Raises:
        UnreadableFile: It does not exist, cannot be read, or is a link out of the project.
    """
    return read_source(project, path, hint="save it first, or give its text")

"""Which files git stores without their lines: those that a filter encrypts or replaces (R14, R32).

A trail is committed in clear, so it must have nothing of a text that git's objects do not have. No
filter is run, because a repository's configuration may name any program: HEAD shows what a filter
keeps.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final, TypeAlias

from vibes_lsp.anchors.line_hashes import is_distinctive
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.git.attribute_files import (
    NOT_SET,
    attribute_values,
    attributes_in_tree,
    mentions,
)
from vibes_lsp.git.objects import GitObjects
from vibes_lsp.git.repository_state import is_special
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.store.files import read_file
from vibes_lsp.store.git_folders import git_folders, nearest_marker

UNKNOWN_FILTER: Final = "unknown"
"""The name of a filter when git cannot be asked for it."""
_MAX_ATTRIBUTES: Final = 1 << 20
"""Larger files of attributes are not compared with those of HEAD."""
_MAX_FILE: Final = 16 << 20
_StoredFile: TypeAlias = tuple[Path, str]
"""The top folder of a work tree and the path of a file from there, with links resolved."""


class StoredFiles:
    """Answers which texts git's objects do not have.

    Args:
        project: The folder that paths are relative to; there may be no repository.
    """

    def __init__(self, project: Path) -> None:
        self._project = project

    def hiding_filter(self, path: str, text: Text) -> str | None:
        """Return the filter that keeps a text out of git's objects; None if git has its lines.

        Where a filter applies, git is taken to have the lines only if HEAD shows it: HEAD has the
        same attributes, and at least half of the distinctive lines of HEAD's version are in the
        text. A new file is hidden until it is committed.

        Args:
            path: The file, relative to the project.
            text: Its text.
        """
        name = self.filters([path]).get(path)
        if name is None or _has_most(text, self._lines_under_filter(path)):
            return None
        return name

    def filters(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the names of the filters that attributes set, by file; files without are left out.

        Args:
            paths: Files, relative to the project; those outside it are left out.
        """
        places = {path: place for path in paths if (place := self._place(path)) is not None}
        by_root: dict[Path, set[str]] = {}
        for root, name in places.values():
            by_root.setdefault(root, set()).add(name)
        filters = {root: _filters_of(root, names) for root, names in by_root.items()}
        return {
            path: filters[root][name]
            for path, (root, name) in places.items()
            if name in filters[root]
        }

    def lines_in_head(self, path: str) -> frozenset[str] | None:
        """Return the distinctive lines of HEAD's version of a file; None if HEAD does not have it.

        Args:
            path: The file, relative to the project.
        """
        place = self._place(path)
        if place is None:
            return None
        root, name = place
        with GitObjects(root, limit=_MAX_FILE) as objects:
            content = objects.contents(f"{objects.head()}:{name}")
        return None if content is None else _lines(content)

    def _lines_under_filter(self, path: str) -> frozenset[str]:
        """Return as `lines_in_head`; none if HEAD does not have the attributes that are set now.

        All rules count: one that does not name a filter may set it through a macro.
        """
        place = self._place(path)
        if place is None:
            return frozenset()
        root, name = place
        with GitObjects(root, limit=_MAX_FILE) as objects:
            head = objects.head()
            if head is None or not all(
                _has_rules(objects, head, attributes, root)
                for attributes in attributes_in_tree(name)
            ):
                return frozenset()
            return _lines(objects.contents(f"{head}:{name}"))

    def _place(self, path: str) -> _StoredFile | None:
        """Return where git has a file; None for one outside the project or in no repository.

        Links are resolved: git has the text where the file is.
        """
        if not can_be_in_project(path):
            return None
        try:
            project = Path(os.path.realpath(self._project))
            file = Path(os.path.realpath(project / normal_path(path)))
            marker = nearest_marker(os.fspath(file.parent))
        except ValueError:  # no file can have the name
            return None
        if marker is None or not file.parent.is_relative_to(project):
            return None
        return marker.parent, file.relative_to(marker.parent).as_posix()


def _filters_of(root: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the filters of files by their paths from the top; all are unknown if git fails."""
    sources = {root / source for name in names for source in attributes_in_tree(name)}
    if any(map(is_special, sources)):  # git would wait for it
        return dict.fromkeys(names, UNKNOWN_FILTER)
    try:
        values = attribute_values(root, names, "filter")
    except HistoryUnavailable:
        sources.add(git_folders(root / ".git")[1] / "info/attributes")
        is_named = shutil.which("git") is not None or any(
            mentions(source, b"filter") for source in sources
        )
        return dict.fromkeys(names, UNKNOWN_FILTER) if is_named else {}
    return {
        name: value["filter"] for name, value in values.items() if value["filter"] not in NOT_SET
    }


def _has_rules(objects: GitObjects, commit: str, attributes: str, root: Path) -> bool:
    """Whether a commit has the rules of a file of attributes; not if either is not readable."""
    try:
        stored = objects.contents(f"{commit}:{attributes}")
        if stored is None and objects.certain_entry(commit, attributes) is None:
            stored = b""
        now = read_file(root / attributes, limit=_MAX_ATTRIBUTES) or b""
    except (HistoryUnavailable, UnreadableFile, ValueError):
        return False
    return stored is not None and _rules(now) == _rules(stored)


def _rules(attributes: bytes) -> list[bytes]:
    lines = (line.strip(b" \t\r") for line in attributes.split(b"\n"))
    return [line for line in lines if line and not line.startswith(b"#")]


def _lines(content: bytes | None) -> frozenset[str]:
    return frozenset() if content is None else distinctive_lines(Text.from_bytes(content).lines)


def distinctive_lines(lines: Iterable[str]) -> frozenset[str]:
    """Return the distinctive ones of some lines, without white space at their ends."""
    return frozenset(line.strip() for line in lines if is_distinctive(line))


def _has_most(text: Text, stored: frozenset[str]) -> bool:
    """Whether a text has at least half of some lines, of which there must be one."""
    return bool(stored) and 2 * len(stored & distinctive_lines(text.lines)) >= len(stored)

"""Which files a change is about, as git's objects tell it: those that differ, and what of it cannot be looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.history.diff import DiffEntry, DiffRange, diff_files
from vibes_lsp.history.objects import GitObjects, TreeEntry, list_tree
from vibes_lsp.history.repository import Repository, open_repository
from vibes_lsp.index.project_files import read_source
from vibes_lsp.store.layout import CONFIG_NAME, LOG_NAME, MANIFEST_NAME, AuditDir

_MAX_DEPTH: Final = 4
"""Submodules in submodules that are looked into."""
_OWN: Final = frozenset({CONFIG_NAME, LOG_NAME, MANIFEST_NAME, ".gitignore", ".gitattributes"})
_OWN_FOLDERS: Final = ("blobs/", "wal/", "spool/")
_OWN_ENDINGS: Final = (".json", ".jsonl", ".json.gz", ".lock", ".db", ".db-wal", ".db-shm")


@dataclass(frozen=True)
class ChangedFiles:
    """The files of a change.

    Attributes:
        repository: Where it was made.
        directory: The trail of the project.
        base: The commit before, a whole hash.
        head: The commit after.
        opaque: Submodules of the change whose text is not here; filled by `names`.
    """

    repository: Repository
    directory: AuditDir
    base: str
    head: str
    opaque: dict[str, None] = field(default_factory=dict)

    @cached_property
    def before(self) -> Mapping[str, TreeEntry]:
        """What the base holds of the project."""
        return list_tree(self.repository, self.base, self.directory.project)

    @cached_property
    def now(self) -> Mapping[str, TreeEntry]:
        """What HEAD holds of the project."""
        return list_tree(self.repository, self.head, self.directory.project)

    def names(self, blobs: GitObjects) -> frozenset[str]:
        """Return the files that differ between base and HEAD, or between base and disk, relative to the project; the trail's own are left out.

        Raises:
            HistoryUnavailable: Git cannot answer.
        """
        project = self.directory.project
        prefix = self.repository.prefix_of(project)
        found = {
            name
            for name, entry in self.now.items()
            if entry.is_file and self.before.get(name) != entry
        }
        listed = diff_files(self.repository, blobs, DiffRange(self.base, None), project)
        found |= {
            each.name.removeprefix(prefix)
            for each in listed
            if each.listed or not self._is_as_it_was(each, blobs, prefix)
        }
        for name, entry in self.now.items():
            if entry.is_submodule and self.before.get(name) != entry:
                found.update(self._inside(project / name, name, entry.id))
        return frozenset(name for name in found if not is_of_the_trail(self.directory, name))

    def _inside(self, folder: Path, name: str, commit: str, depth: int = 0) -> Iterator[str]:
        """Give the files of a submodule, if it is checked out as the change names it."""
        inner = open_repository(folder) if folder.is_dir() else None
        if (
            inner is None
            or inner.root.resolve() != folder.resolve()
            or inner.head() != commit
            or depth == _MAX_DEPTH
        ):
            self.opaque[name] = None
            return
        try:
            held = list_tree(inner, commit, inner.root)
        except HistoryUnavailable:
            self.opaque[name] = None
            return
        for below, entry in held.items():
            if entry.is_submodule:
                yield from self._inside(folder / below, f"{name}/{below}", entry.id, depth + 1)
            else:
                yield f"{name}/{below}"

    def _is_as_it_was(self, touched: DiffEntry, blobs: GitObjects, prefix: str) -> bool:
        """Whether a file that was touched has the lines that the base has: in a fresh clone many seem to have been touched."""
        before = None if touched.old is None else blobs.contents(touched.old)
        if before is None:
            return False
        try:
            now = read_source(self.directory.project, touched.name.removeprefix(prefix))
        except UnreadableFile:
            return False
        return now.lines == Text.from_bytes(before).lines


def is_of_the_trail(directory: AuditDir, name: str) -> bool:
    """Whether a file of the project is one that a trail consists of: what else is in its folder may be code."""
    first, _, inside = name.partition("/")
    if first != directory.path.name:
        return False
    return (
        inside in _OWN
        or (inside.startswith(_OWN_FOLDERS) and inside.endswith(_OWN_ENDINGS))
        or inside.endswith((".lock", ".db"))
    )

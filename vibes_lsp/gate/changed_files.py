"""Which files a change is about, as git's objects tell it: those that differ, and what of it cannot be looked at."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from vibes_lsp.anchors.text import Text, encode
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.history.diff import DiffEntry, DiffRange, diff_files
from vibes_lsp.history.objects import GitObjects, TreeEntry, list_tree
from vibes_lsp.history.repository import Repository, open_repository
from vibes_lsp.index.project_files import read_source
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.store.audit_dir import CONFIG_NAME, LOG_NAME, MANIFEST_NAME, AuditDir

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
        missing_submodules: Submodules of the change whose text is not here; filled by `names`.
    """

    repository: Repository
    directory: AuditDir
    base: str
    head: str
    missing_submodules: dict[str, None] = field(default_factory=dict)

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
            if each.is_reported or not self._is_as_it_was(each, blobs, prefix)
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
            self.missing_submodules[name] = None
            return
        try:
            held = list_tree(inner, commit, inner.root)
        except HistoryUnavailable:
            self.missing_submodules[name] = None
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


_POINTER: Final = "version https://git-lfs.github.com/spec/"
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass
class FileContents:
    """Reads files of a project; `differing` has those that are not on disk as HEAD has them.

    Attributes:
        project: The project's root.
        blobs: The objects of the repository; None where only the disk counts.
        head: HEAD's commit.
        base: The commit before the change.
        prefix: What git's names of the project's files begin with.
    """

    project: Path
    blobs: GitObjects | None = None
    head: str = ""
    base: str = ""
    prefix: str = ""
    differing: dict[str, None] = field(default_factory=dict)

    def on_disk(self, path: str) -> Text:
        """Return a file as it was checked out, or is being worked on.

        Raises:
            UnreadableFile: It cannot be read, or only stands for a text that is elsewhere.
        """
        text = read_source(self.project, path)
        if text.content.startswith(_POINTER):
            raise UnreadableFile(
                f"{path} is a pointer of Git LFS, and its text is not here",
                hint="fetch it with `git lfs pull`",
            )
        return text

    def in_head(self, path: str) -> Text | None:
        """Return a file as HEAD has it, where that has other lines than the one on disk; None where it has none of its own."""
        if self.blobs is None or not can_be_in_project(path):
            return None
        held = self.blobs.contents(f"{self.head}:{self.prefix}{normal_path(path)}")
        if held is None:
            return None
        text = Text.from_bytes(held)
        try:
            is_same = read_source(self.project, path).lines == text.lines
        except UnreadableFile:
            is_same = False
        if is_same or text.content.startswith(_POINTER):
            return None
        self.differing[path] = None
        return text

    def in_base(self, path: str) -> Text:
        """Return a file as it was before the change; empty where it was not."""
        held = None
        if self.blobs is not None and can_be_in_project(path):
            held = self.blobs.contents(f"{self.base}:{self.prefix}{normal_path(path)}")
        return Text("") if held is None else Text.from_bytes(held)

    def all_readings(self, path: str) -> Iterator[Text]:
        """Give the texts that a file is on disk and in HEAD, and may be to other programs."""
        yield from self._plain(path)
        yield from self.alternative_readings(path)

    def alternative_readings(self, path: str) -> Iterator[Text]:
        """Give the texts that a file may be to a program that ends lines otherwise, or decodes it otherwise."""
        for text in self._plain(path):
            yield from _readings(text)

    def _plain(self, path: str) -> Iterator[Text]:
        with suppress(UnreadableFile):
            yield self.on_disk(path)
        committed = self.in_head(path)
        if committed is not None:
            yield committed


def _readings(text: Text) -> Iterator[Text]:
    decoded = _decoded(text)
    if decoded is not None:
        yield decoded
    now = decoded or text
    lines = (
        now.content.splitlines()
    )  # also at a lone CR, a form feed, and what Unicode calls a line end
    if lines != now.lines:
        yield Text("\n".join([*lines, ""]))


def _decoded(text: Text) -> Text | None:
    """Return what a text is that was written with more than one byte for a letter; None where it was not."""
    if "\0" not in text.content:
        return None
    data = encode(text.content)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Text(data.decode(encoding, "replace"))
    return Text.from_bytes(data.replace(b"\0", b""))

"""The files that a branch changes, read from git's objects, and their contents.

`ChangedFiles` lists them; `FileContents` reads each one on disk, in HEAD and in the base.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

from vibes_lsp.anchors.text import Text, encode
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.git.diff import DiffEntry, DiffRange, TreeChange, diff_files, tree_changes
from vibes_lsp.git.project_files import read_source
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.store.audit_dir import AUDIT_FILES, AuditDir

_MAX_DEPTH: Final = 4
"""The deepest level of nested submodules that is searched."""


@dataclass(frozen=True)
class ChangedFiles:
    """The files that differ between a base and HEAD or the disk.

    Attributes:
        repository: The repository of the project.
        directory: The trail of the project.
        base: The base commit, a whole hash.
        head: The commit of HEAD.
        missing_submodules: Changed submodules that are not checked out; filled by `names`.
    """

    repository: Repository
    directory: AuditDir
    base: str
    head: str
    missing_submodules: dict[str, None] = field(default_factory=dict)

    @cached_property
    def committed(self) -> Mapping[str, TreeChange]:
        """What differs between the base and HEAD, by path relative to the project."""
        return tree_changes(self.repository, self.base, self.head, self.directory.project)

    def was_in_base(self, path: str) -> bool:
        """Whether the base has a file at a path relative to the project.

        Raises:
            HistoryUnavailable: Git cannot answer.
        """
        name = self.repository.prefix_of(self.directory.project) + path
        entry = self.repository.objects.certain_entry(self.base, name)
        return entry is not None and not entry.is_folder and not entry.is_submodule

    def content(self, commit: str, path: str) -> bytes | None:
        """Return a file of the base or of HEAD, relative to the project; None without one.

        Raises:
            HistoryUnavailable: Git cannot read it.
        """
        if not can_be_in_project(path):
            return None
        name = self.repository.prefix_of(self.directory.project) + normal_path(path)
        return self.repository.objects.certain_contents(commit, name)

    def names(self) -> frozenset[str]:
        """Return the changed files relative to the project, without those of the trail itself.

        Raises:
            HistoryUnavailable: Git cannot answer.
        """
        project = self.directory.project
        prefix = self.repository.prefix_of(project)
        now = {name: change.now for name, change in self.committed.items()}
        names = {name for name, entry in now.items() if entry is not None and entry.is_file}
        listed = diff_files(self.repository, DiffRange(self.base, None), project)
        names |= {
            difference.name.removeprefix(prefix)
            for difference in listed
            if difference.is_reported or not self._is_as_it_was(difference, prefix)
        }
        for name, entry in now.items():
            if entry is not None and entry.is_submodule:
                names.update(self._inside(project / name, name, entry.id))
        return frozenset(name for name in names if not is_of_the_trail(self.directory, name))

    def _inside(self, folder: Path, name: str, commit: str, depth: int = 0) -> Iterator[str]:
        """Yield the files of a submodule if it is checked out at this commit."""
        inner = open_repository(folder) if folder.is_dir() else None
        if inner is None:
            self.missing_submodules[name] = None
            return
        with closing(inner):
            head = inner.head()
        if inner.root.resolve() != folder.resolve() or head != commit or depth == _MAX_DEPTH:
            self.missing_submodules[name] = None
            return
        try:
            entries = tree_changes(inner, None, commit, inner.root)
        except HistoryUnavailable:
            self.missing_submodules[name] = None
            return
        for below, change in entries.items():
            if (entry := change.now) is not None and entry.is_submodule:
                yield from self._inside(folder / below, f"{name}/{below}", entry.id, depth + 1)
            else:
                yield f"{name}/{below}"

    def _is_as_it_was(self, touched: DiffEntry, prefix: str) -> bool:
        """Whether a file that git lists has the lines of the base; a fresh clone lists many."""
        before = None if touched.old is None else self.repository.objects.contents(touched.old)
        if before is None:
            return False
        try:
            now = read_source(self.directory.project, touched.name.removeprefix(prefix))
        except UnreadableFile:
            return False
        return now.lines == Text.from_bytes(before).lines


def is_of_the_trail(directory: AuditDir, name: str) -> bool:
    """Whether a file is the log, the manifest or the policy; all others may contain code."""
    first, _, inside = name.partition("/")
    return first == directory.path.name and inside in AUDIT_FILES


_POINTER: Final = "version https://git-lfs.github.com/spec/"
_MARKS: Final = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass
class FileContents:
    """Reads the versions of a file that the gate judges.

    Attributes:
        project: The project's root.
        changes: What the branch changes; None to read only the disk.
        differing: Files that differ between disk and HEAD; filled by `in_head`.
    """

    project: Path
    changes: ChangedFiles | None = None
    differing: dict[str, None] = field(default_factory=dict)

    def on_disk(self, path: str) -> Text:
        """Return a file of the work tree.

        Raises:
            UnreadableFile: It cannot be read, or is a Git LFS pointer.
        """
        text = read_source(self.project, path)
        if text.content.startswith(_POINTER):
            raise UnreadableFile(
                f"{path} is a Git LFS pointer and its content is not here",
                hint="run `git lfs pull`",
            )
        return text

    def in_head(self, path: str) -> Text | None:
        """Return a file as HEAD has it; None if it has the same lines on disk or does not exist.

        Raises:
            UnreadableFile: Git cannot read it.
        """
        if self.changes is None:
            return None
        try:
            content = self.changes.content(self.changes.head, path)
        except HistoryUnavailable as error:
            raise UnreadableFile(f"{path} cannot be read in HEAD: {error.message}") from None
        if content is None:
            return None
        text = Text.from_bytes(content)
        try:
            is_same = read_source(self.project, path).lines == text.lines
        except UnreadableFile:
            is_same = False
        if is_same or text.content.startswith(_POINTER):
            return None
        self.differing[path] = None
        return text

    def in_base(self, path: str) -> Text:
        """Return a file as the base has it; empty if it does not exist there or cannot be read.

        So what the base may have counts as new.
        """
        content = None
        if self.changes is not None:
            with suppress(HistoryUnavailable):
                content = self.changes.content(self.changes.base, path)
        return Text.from_bytes(content or b"")

    def all_readings(self, path: str) -> Iterator[Text]:
        """Yield a file on disk and in HEAD, and the alternative readings of both."""
        yield from self._plain(path)
        yield from self.alternative_readings(path)

    def alternative_readings(self, path: str) -> Iterator[Text]:
        """Yield how programs with other line ends or another encoding would read a file."""
        for text in self._plain(path):
            yield from _readings(text)

    def _plain(self, path: str) -> Iterator[Text]:
        for read in (self.on_disk, self.in_head):
            text = None
            with suppress(UnreadableFile):
                text = read(path)
            if text is not None:
                yield text


def _readings(text: Text) -> Iterator[Text]:
    decoded = _decoded(text)
    if decoded is not None:
        yield decoded
    now = decoded or text
    # splits also at a lone CR, a form feed and Unicode line ends
    lines = now.content.splitlines()
    if lines != now.lines:
        yield Text("\n".join([*lines, ""]))


def _decoded(text: Text) -> Text | None:
    """Return a UTF-16 or UTF-32 text decoded; None if it is neither."""
    if "\0" not in text.content:
        return None
    encoded = encode(text.content)
    for mark, encoding in _MARKS:
        if encoded.startswith(mark):
            return Text(encoded.decode(encoding, "replace"))
    return Text.from_bytes(encoded.replace(b"\0", b""))

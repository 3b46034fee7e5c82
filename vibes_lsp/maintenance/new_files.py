"""The files that waiting edits may have lines in: of a commit being made, or on disk."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from vibes_lsp.anchors.align import came_from
from vibes_lsp.anchors.text import Text
from vibes_lsp.git.objects import GitObjects
from vibes_lsp.git.patches import PatchHunk, staged_patch
from vibes_lsp.git.staging import CommitIndex
from vibes_lsp.model.hashing import sha256
from vibes_lsp.placing.hash_placement import HashedText
from vibes_lsp.placing.hunks import FileAtCommit

_EMPTY: Final = HashedText(())


class CommitFiles:
    """The files that a commit being made changes.

    Args:
        index: The index of the commit.
        entries: `MODE HASH` of the files that it changes, from the top of the work tree.
        prefix: The project's folder from there, with a final slash.
        trail: The folder of the trail from there, with a final slash.
    """

    def __init__(
        self, index: CommitIndex, entries: Mapping[str, str], prefix: str, trail: str
    ) -> None:
        self._objects = index.repository.objects
        self._index = index
        self._prefix = prefix
        self._entries = entries
        self._names = [
            name for name in entries if name.startswith(prefix) and not name.startswith(trail)
        ]
        self._parents: Sequence[str] = ()
        self._patches: list[dict[str, list[PatchHunk]]] = []

    def changed(self, asked: Collection[str], *, others: bool) -> list[str]:
        """Return those of the files that are asked about, or all; patches are read at once."""
        names = [name for name in self._names if others or name.removeprefix(self._prefix) in asked]
        if not names:
            return []
        self._parents = self._index.parents()
        self._patches = [
            {
                patch.path: patch.hunks
                for patch in staged_patch(
                    self._index.repository, parent, names, self._index.index_files[0]
                )
            }
            for parent in self._parents
        ]
        return [name.removeprefix(self._prefix) for name in names]

    def file(self, path: str) -> FileAtCommit | None:
        """Return a file as it is staged; None if it is removed, a link or a submodule."""
        name = self._prefix + path
        mode, _, blob = self._entries.get(name, "").partition(" ")
        content = self._objects.contents(blob) if mode.startswith("100") else None
        if content is None:
            return None
        text = Text.from_bytes(content)
        new = set(range(len(text.lines)))
        replacing: set[int] = set()
        for number, patch in enumerate(self._patches):
            hunks = patch.get(name, ())
            new &= {hunk.new_start + line for hunk in hunks for line in range(len(hunk.added))}
            if not number:
                replacing = {
                    hunk.new_start + line
                    for hunk in hunks
                    if hunk.removed
                    for line in range(len(hunk.added))
                }
        return FileAtCommit(path, text, sha256(content), new, replacing)

    def before(self, path: str) -> HashedText:
        """Return a file as HEAD has it."""
        return _in_head(self._objects, self._parents, self._prefix + path)


class DiskFiles:
    """The files on disk, against HEAD.

    Args:
        read: Returns a file as git would store it; None if there is none.
        objects: The repository's objects.
        head: The commit of HEAD; None without one.
        prefix: The project's folder from the top of the work tree, with a final slash.
    """

    def __init__(
        self,
        read: Callable[[str], bytes | None],
        objects: GitObjects | None,
        head: str | None,
        prefix: str,
    ) -> None:
        self._read = read
        self._objects = objects
        self._parents = [] if head is None else [head]
        self._prefix = prefix

    def changed(self, asked: Collection[str], *, others: bool) -> Collection[str]:  # noqa: ARG002
        """Return the files that are asked about."""
        return asked

    def file(self, path: str) -> FileAtCommit | None:
        """Return a file on disk."""
        content = self._read(path)
        if content is None:
            return None
        text = Text.from_bytes(content)
        origins = came_from(self.before(path).lines, text.lines)
        new: set[int] = set()
        replacing: set[int] = set()
        block: list[int] = []
        before = -1
        for number, origin in enumerate([*origins, len(self.before(path).lines)]):
            if origin < 0:
                block.append(number)
                continue
            new.update(block)
            if origin > before + 1:
                replacing.update(block)
            block, before = [], origin
        return FileAtCommit(path, text, sha256(content), new, replacing)

    def before(self, path: str) -> HashedText:
        """Return a file as HEAD has it."""
        return _in_head(self._objects, self._parents, self._prefix + path)


def _in_head(objects: GitObjects | None, parents: Sequence[str], name: str) -> HashedText:
    if objects is None or not parents:
        return _EMPTY
    content = objects.contents(f"{parents[0]}:{name}")
    return _EMPTY if content is None else HashedText(Text.from_bytes(content).lines)

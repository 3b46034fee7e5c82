"""Changes of a knowledge base that happen as a whole: files, audit events, removed proposals.

New files are first staged beside the proposals, where git ignores them, with a journal that lists
them. A seal then names the journal: from there on the change happens, and what a program that is
killed leaves undone, the next one does. The seal holds the inode and the change time of the
journal, so that a journal which a repository ships is none: no clone can have the same.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.knowledge.actors import checked_actor
from vibes_lsp.knowledge.audit_log import AuditEvent, append_lines, event_lines, repair_tail
from vibes_lsp.knowledge.knowledge_base import MAX_SOURCE, KnowledgeBase
from vibes_lsp.knowledge.objects import Kind, KnowledgeObject
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.store.files import (
    TEMPORARY_SUFFIX,
    flush_folder,
    link_file,
    make_folder,
    read_file,
    replace_file,
    write_temporary,
)

_logger = logging.getLogger(__name__)

_FOLDER: Final = ".change"
_JOURNAL: Final = "journal"
_SEAL: Final = "seal"
_TEMPORARY: Final = re.compile(rf"[0-9a-f]{{16}}{re.escape(TEMPORARY_SUFFIX)}")


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A file to be written.

    Attributes:
        kind: The kind of its object.
        id: The id of its object.
        is_content: Whether it is the captured bytes of a source, not an object.
        temporary: The name of the staged file.
        before: The hash of the file that it replaces; None for a new one.
    """

    kind: Kind
    id: str
    is_content: bool
    temporary: str
    before: str | None


@dataclass(slots=True)
class Change:
    """A change that is being put together; `changing` makes it happen.

    Attributes:
        knowledge: The knowledge base, locked.
        actor: Who changes it.
        moment: When.
    """

    knowledge: KnowledgeBase
    actor: str
    moment: datetime
    _files: dict[Path, StagedFile] = field(default_factory=dict)
    _written: set[tuple[Kind, str]] = field(default_factory=set)
    _removed: list[str] = field(default_factory=list)
    _events: list[AuditEvent] = field(default_factory=list)

    def exists(self, kind: Kind, identifier: str) -> bool:
        """Return whether an object is there, or will be."""
        return (kind, identifier) in self._written or self.knowledge.exists(kind, identifier)

    def create(self, kind: Kind, knowledge_object: KnowledgeObject) -> bool:
        """Write a new object unless its id is taken; return whether it is new.

        Raises:
            InvalidObject: It is too large, or its folder is a link.
            RefusedWrite: The folder is not writable, or the disk is full.
        """
        if self.exists(kind, knowledge_object.id):
            return False
        self.write(kind, knowledge_object.id, self.knowledge.dump(kind, knowledge_object))
        return True

    def replace(self, kind: Kind, knowledge_object: KnowledgeObject) -> None:
        """Write an object in place of the one with its id.

        Raises:
            InvalidObject: It is too large, or its folder is a link.
            RefusedWrite: The folder is not writable, or the disk is full.
        """
        self.write(kind, knowledge_object.id, self.knowledge.dump(kind, knowledge_object))

    def write(self, kind: Kind, identifier: str, content: bytes) -> None:
        """Write the file of an object, whose content the caller has checked.

        Raises:
            InvalidObject: Its folder is a link.
            RefusedWrite: The folder is not writable, or the disk is full.
        """
        self._stage(kind, identifier, content, is_content=False)
        self._written.add((kind, identifier))

    def write_content(self, source_id: str, content: bytes) -> None:
        """Write the captured bytes of a source unless they are there; others are replaced.

        Raises:
            InvalidObject: The folder is a link.
            RefusedWrite: The folder is not writable, or the disk is full.
        """
        path = self.knowledge.content_file(source_id)
        if path not in self._files and _hash_of(path) != source_id:
            self._stage(Kind.SOURCE, source_id, content, is_content=True)

    def remove_pending(self, identifier: str) -> None:
        """Remove a proposal that has a decision."""
        self._removed.append(identifier)

    def record(
        self,
        event: str,
        ids: Sequence[str],
        details: Mapping[str, Any] | None = None,
        *,
        actor: str | None = None,
    ) -> None:
        """Append an event to the audit log.

        Args:
            event: Its name, such as `claim.create`.
            ids: The objects concerned.
            details: What belongs to this event only.
            actor: Who did it, if not who makes the change.
        """
        self._events.append(
            AuditEvent(event, actor or self.actor, self.moment, tuple(ids), dict(details or {}))
        )

    def carry_out(self) -> None:
        """Write all of it; after a crash halfway, the next program does the rest.

        Raises:
            VibesError: The knowledge base cannot be written.
        """
        if not self._files and not self._removed:
            if self._events:
                append_lines(self.knowledge, event_lines(self.knowledge, self._events)[1])
            return
        size, lines = event_lines(self.knowledge, self._events)
        members = {
            "files": [
                [staged.kind.value, staged.id, staged.is_content, staged.temporary, staged.before]
                for staged in self._files.values()
            ],
            "removed": self._removed,
            "log_size": size,
            "log_lines": lines.decode(),
        }
        folder = _staging_folder(self.knowledge)
        journal = folder / _JOURNAL
        replace_file(write_temporary(folder, json.dumps(members).encode()), journal)
        replace_file(write_temporary(folder, _fingerprint(journal)), folder / _SEAL)
        _apply(self.knowledge, list(self._files.values()), self._removed)
        append_lines(self.knowledge, lines)
        _clean(self.knowledge)

    def _stage(self, kind: Kind, identifier: str, content: bytes, *, is_content: bool) -> None:
        path = _target(self.knowledge, kind, identifier, is_content=is_content)
        self.knowledge.make_folder_of(kind, path)
        staged = write_temporary(_staging_folder(self.knowledge), content)
        self._files[path] = StagedFile(kind, identifier, is_content, staged.name, _hash_of(path))


@contextmanager
def changing(knowledge: KnowledgeBase, actor: str, moment: datetime) -> Iterator[Change]:
    """Lock a knowledge base and yield a change, which happens at the end of the `with` block.

    Nothing happens if the block raises. A change that another program left halfway is done first.

    Raises:
        InvalidObject: The actor's name is empty, too long or invisible.
        VibesError: The knowledge base cannot be locked or written.
    """
    with knowledge.lock().acquire():
        _complete(knowledge)
        change = Change(knowledge, checked_actor(actor), moment)
        try:
            yield change
        except BaseException:
            _clean(knowledge)
            raise
        change.carry_out()


def complete_changes(knowledge: KnowledgeBase) -> None:
    """Do what a program that was killed left undone; cheap if there is nothing.

    Raises:
        VibesError: The knowledge base cannot be locked or written.
    """
    if (knowledge.path / Kind.PENDING / _FOLDER / _SEAL).exists():
        with knowledge.lock().acquire():
            _complete(knowledge)


def _complete(knowledge: KnowledgeBase) -> None:
    """Carry out the change of a program that was killed; the caller holds the lock."""
    folder = _left_folder(knowledge)
    try:
        if folder is None or not any(folder.iterdir()):
            return
    except OSError:
        return
    journal = _sealed_journal(folder)
    if journal is not None:
        files, members = journal
        _apply(knowledge, files, [str(identifier) for identifier in members["removed"]])
        lines, size = str(members["log_lines"]).encode(), int(members["log_size"])
        repair_tail(knowledge, size, lines)
    _clean(knowledge)


def _sealed_journal(folder: Path) -> tuple[list[StagedFile], Mapping[str, Any]] | None:
    """Return what a journal lists; None if there is none, or no program here sealed it."""
    journal = folder / _JOURNAL
    try:
        seal = read_file(folder / _SEAL, limit=1000)
        if seal is None or journal.is_symlink() or seal != _fingerprint(journal):
            return None
        members: Any = parse_object(read_file(journal) or b"")
        files = [
            StagedFile(Kind(kind), identifier, is_content, temporary, before)
            for kind, identifier, is_content, temporary, before in members["files"]
        ]
    except (OSError, UnreadableFile, MalformedJson, KeyError, TypeError, ValueError) as error:
        _logger.warning("an interrupted change cannot be completed: %s", type(error).__name__)
        return None
    return files, members


def _apply(knowledge: KnowledgeBase, files: Sequence[StagedFile], removed: Sequence[str]) -> None:
    """Give staged files their names, and remove proposals; what is done already stays as it is."""
    folder = knowledge.path / Kind.PENDING / _FOLDER
    touched = {folder}
    for staged in files:
        temporary = folder / staged.temporary
        if not _TEMPORARY.fullmatch(staged.temporary) or not temporary.is_file():
            continue
        path = _target(knowledge, staged.kind, staged.id, is_content=staged.is_content)
        knowledge.make_folder_of(staged.kind, path)
        touched.add(path.parent)
        if staged.before is None:
            link_file(temporary, path)
        elif _hash_of(path) == staged.before:
            replace_file(temporary, path, keeps_temporary=True)
        else:  # another program changed it after the crash: its work stays
            temporary.unlink(missing_ok=True)
    for changed in touched:
        flush_folder(changed)
    for identifier in removed:
        knowledge.remove_pending(identifier)


def _target(knowledge: KnowledgeBase, kind: Kind, identifier: str, *, is_content: bool) -> Path:
    if is_content:
        return knowledge.content_file(identifier)
    return knowledge.file_of(kind, identifier)


def _hash_of(path: Path) -> str | None:
    """Return the hash of a file; None if there is none.

    Raises:
        UnreadableFile: It is not a regular file, or cannot be read.
    """
    content = read_file(path, limit=MAX_SOURCE)
    return None if content is None else hashlib.sha256(content).hexdigest()


def _fingerprint(journal: Path) -> bytes:
    """Return what no copy of a file has: the system sets both values."""
    status = journal.stat()
    return f"{status.st_ino} {status.st_ctime_ns}\n".encode()


def _staging_folder(knowledge: KnowledgeBase) -> Path:
    proposed = knowledge.path / Kind.PENDING
    make_folder(proposed)
    make_folder(proposed / _FOLDER)
    return proposed / _FOLDER


def _left_folder(knowledge: KnowledgeBase) -> Path | None:
    """Return where changes are staged; None if a link leads there, and maybe elsewhere."""
    proposed = knowledge.path / Kind.PENDING
    folder = proposed / _FOLDER
    return None if proposed.is_symlink() or folder.is_symlink() else folder


def _clean(knowledge: KnowledgeBase) -> None:
    """Remove the seal first, so that what is left is no change, then the rest."""
    folder = _left_folder(knowledge)
    if folder is None:
        return
    with suppress(OSError):
        (folder / _SEAL).unlink(missing_ok=True)
        for path in list(folder.iterdir()):
            if path.name == _JOURNAL or path.name.endswith(TEMPORARY_SUFFIX):
                path.unlink(missing_ok=True)

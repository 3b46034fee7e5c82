"""Inline completions between their acceptance and the log: kept in `.ai-audit/spool/`, so that they outlive every program.

One that waits for more of it is in `spool/held/`; what one came to is in `spool/`, as for other requests that may come twice (`repeats`).
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pydantic import TypeAdapter

from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.model.canonical_json import canonical_json, parse_json
from vibes_lsp.model.members import Members
from vibes_lsp.recording.annotations import Contexts
from vibes_lsp.recording.paths import is_bookkeeping, project_path
from vibes_lsp.recording.results import Recorded
from vibes_lsp.recording.spooled import TrackedSpoolFiles, is_completion
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import make_folder, read_file, replace_file, write_temporary

_logger = logging.getLogger(__name__)

_MAX_FILE: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class HeldCompletion:
    """As much of a completion as was accepted so far.

    Attributes:
        path: The file.
        parts: The numbers of its parts.
        contexts: What its annotation names.
        timestamp: When the last part was accepted.
        action: What the annotation will say was done.
        lines: Where it stood when the last part was accepted; None while it was white space only.
        replaced: The lines that stood in its place before, without the blanks around them.
        records: The annotation and its edges as they are to be written if nothing changes.
    """

    path: str
    parts: tuple[int, ...]
    contexts: Contexts
    timestamp: str
    action: str
    lines: tuple[int, int] | None = None
    replaced: tuple[str, ...] = ()
    records: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Done:
    """What a completion came to.

    Attributes:
        held: It, as it was held at last.
        final: Whether nothing more of it can come.
        records: What was written.
        result: What its caller is told.
    """

    held: HeldCompletion
    final: bool
    records: tuple[dict[str, Any], ...]
    result: Recorded


_T = TypeVar("_T", HeldCompletion, Done)


@dataclass(frozen=True, slots=True)
class _Files(Generic[_T]):
    folder: Path
    form: TypeAdapter[_T]
    is_sound: Callable[[_T], bool]
    brought: TrackedSpoolFiles = field(default_factory=TrackedSpoolFiles)
    passed_over: set[str] = field(default_factory=set)

    def read(self, name: str) -> _T | None:
        """Return what is there; None for nothing, and for a file that is not ours, which is left alone."""
        try:
            data = read_file(self.folder / name, limit=_MAX_FILE)
            if data is None:
                return None
            value = self.form.validate_json(canonical_json(parse_json(data)))
        except (
            MalformedJson,
            UnreadableFile,
            ValueError,
        ):  # pydantic's errors are of the last kind
            value = None
        if value is not None and self.is_sound(value) and self.folder / name not in self.brought:
            return value
        if name not in self.passed_over:
            self.passed_over.add(name)
            _logger.warning(
                "%s is passed over: no program of ours wrote it here, or it is damaged",
                self.folder / name,
            )
        return None

    def write(self, name: str, value: _T) -> None:
        members: Members = self.form.dump_python(value, mode="json", by_alias=True)
        make_folder(self.folder)
        replace_file(
            write_temporary(self.folder, canonical_json(members), durable=False), self.folder / name
        )
        self.brought.not_this(self.folder / name)


@dataclass(frozen=True, slots=True)
class PendingStore:
    """The completions of one trail; the caller holds the lock of the requests."""

    directory: AuditDir
    held: _Files[HeldCompletion] = field(init=False)
    done: _Files[Done] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(
            self,
            "held",
            _Files(
                self.directory.pending_completions, TypeAdapter(HeldCompletion), self._may_be_held
            ),
        )
        object.__setattr__(
            self, "done", _Files(self.directory.spool, TypeAdapter(Done), self._may_be_done)
        )

    def waiting(self) -> Iterator[tuple[str, float, HeldCompletion]]:
        """Give what is held: the name of its file, the seconds since something of it was last accepted, and it."""
        try:
            paths = sorted(
                path
                for path in self.directory.pending_completions.iterdir()
                if path.suffix == ".json"
            )
        except OSError:  # nothing was ever held
            return
        for path in paths:
            with suppress(FileNotFoundError):  # another program was faster
                age = time.time() - path.stat().st_mtime
                held = self.held.read(path.name)
                if held is not None:
                    yield path.name, age, held

    def release(self, name: str) -> None:
        """Hold one no longer."""
        with suppress(
            PermissionError
        ):  # Windows, while a reader has it open: what it holds is recorded, and it goes next time
            (self.directory.pending_completions / name).unlink(missing_ok=True)

    def _may_be_held(self, held: HeldCompletion) -> bool:
        project = self.directory.project
        if project_path(project, held.path) != held.path or is_bookkeeping(project, held.path):
            return False
        if held.lines is None:
            return not held.records
        return is_completion(
            held.path, held.action, held.timestamp, held.contexts, held.records, lines=held.lines
        )

    def _may_be_done(self, done: Done) -> bool:
        held = done.held
        if not self._may_be_held(held):
            return False
        return not done.records or is_completion(
            held.path, held.action, held.timestamp, held.contexts, done.records
        )


def name_of(path: str, completion_id: str) -> str:
    """Return the name of the file that a completion is kept in."""
    digest = hashlib.sha256(
        f"inline-completion {path} {completion_id}".encode("utf-8", "surrogatepass")
    )
    return f"{digest.hexdigest()}.json"

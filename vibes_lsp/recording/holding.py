"""Inline completions between their acceptance and the log: kept in `.ai-audit/spool/`, so that they outlive every program.

One that waits for more of it is in `spool/held/`; what one came to is in `spool/`, as for other requests that may come twice (`repeats`).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.model.canonical import canonical
from vibes_lsp.model.members import Members
from vibes_lsp.recording.annotating import Contexts
from vibes_lsp.recording.results import Recorded
from vibes_lsp.store.disk import read_file
from vibes_lsp.store.durability import replace, write_temporary
from vibes_lsp.store.journal import make_folder
from vibes_lsp.store.layout import AuditDir

_MAX_FILE: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class Held:
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

    held: Held
    final: bool
    records: tuple[dict[str, Any], ...]
    result: Recorded


_T = TypeVar("_T", Held, Done)


@dataclass(frozen=True, slots=True)
class _Files(Generic[_T]):
    folder: Path
    form: TypeAdapter[_T]

    def read(self, name: str) -> _T | None:
        """Return what is there; None for nothing, and for a file that is not ours."""
        try:
            data = read_file(self.folder / name, limit=_MAX_FILE)
            return None if data is None else self.form.validate_json(data)
        except (UnreadableFile, ValidationError):
            return None

    def write(self, name: str, value: _T) -> None:
        members: Members = self.form.dump_python(value, mode="json", by_alias=True)
        make_folder(self.folder)
        replace(write_temporary(self.folder, canonical(members), durable=False), self.folder / name)


@dataclass(frozen=True, slots=True)
class Holding:
    """The completions of one trail; the caller holds the lock of the requests."""

    directory: AuditDir
    held: _Files[Held] = field(init=False)
    done: _Files[Done] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "held", _Files(self.directory.held, TypeAdapter(Held)))
        object.__setattr__(self, "done", _Files(self.directory.spool, TypeAdapter(Done)))

    def waiting(self) -> Iterator[tuple[str, float, Held]]:
        """Give what is held: the name of its file, the seconds since something of it was last accepted, and it."""
        try:
            paths = sorted(path for path in self.directory.held.iterdir() if path.suffix == ".json")
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
        with suppress(PermissionError):  # Windows, while a reader has it open: what it holds is recorded, and it goes next time
            (self.directory.held / name).unlink(missing_ok=True)


def name_of(path: str, completion_id: str) -> str:
    """Return the name of the file that a completion is kept in."""
    digest = hashlib.sha256(f"inline-completion {path} {completion_id}".encode("utf-8", "surrogatepass"))
    return f"{digest.hexdigest()}.json"

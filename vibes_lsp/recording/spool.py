"""The spool: what requests came to, and inline completions that are not in the log yet.

It is in `.ai-audit/spool/`, which git ignores. A request's records are stored there with its result
before they go to the log. So the same request again, in any process and after any crash, appends
what is missing and returns the same result (`docs/decisions/requests.md`). An
inline completion is such a request, known by its own id; while it waits for more parts it is in
`spool/held/`.

Records from here go to the log as this user's. Git ignores the folder, but a commit can contain
files there. So a file is accepted only if git does not track it, and if the use case itself could
have written all of its records.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pydantic import TypeAdapter

from vibes_lsp.errors import MalformedJson, UnreadableFile, VibesError
from vibes_lsp.git.repository import is_tracked
from vibes_lsp.model.canonical_json import canonical_json, parse_json
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.validation import record_problems
from vibes_lsp.model.vocabulary import RecordType
from vibes_lsp.patience import REQUEST_LOCK
from vibes_lsp.recording.inline_completions import InlineCompletion, could_be_recorded
from vibes_lsp.recording.paths import is_bookkeeping, project_path
from vibes_lsp.recording.results import Result
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import (
    MAX_FILE,
    make_folder,
    make_ignored_folder,
    read_file,
    replace_file,
    temporary_files,
    write_temporary,
)
from vibes_lsp.store.locks import FileLock, LockHandle

_logger = logging.getLogger(__name__)

RETENTION_SECONDS: Final = 7 * 24 * 3600
"""How long a completed request can be repeated."""

_DAY: Final = 24 * 3600
_CLEANED: Final = "forgotten"
"""An empty file: its modification time is that of the last cleanup."""

_LOCK: Final = "requests.lock"

_MAX_COMPLETION: Final = 16 << 20
"""Largest file of an inline completion, in bytes."""

R = TypeVar("R", bound=Result)
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class CompletedRequest(Generic[R]):
    """The records that a request wrote, and its result."""

    records: tuple[dict[str, Any], ...]
    result: R


@dataclass(frozen=True, slots=True)
class SpoolFiles(Generic[_T]):
    """The files of one kind, each with one value as JSON; the caller holds `Spool.lock`.

    Attributes:
        folder: Their folder.
        adapter: Their JSON.
        is_valid: Whether the use case itself could have written a value.
        tracked: Whether git tracks a file, by what it said before; it never tracks our own.
        limit: Bytes of the largest one.
        rejected: Those that were rejected, of which a warning was given.
    """

    folder: Path
    adapter: TypeAdapter[_T]
    is_valid: Callable[[_T], bool]
    tracked: dict[Path, bool]
    limit: int = MAX_FILE
    rejected: set[str] = field(default_factory=set)

    def read(self, name: str) -> _T | None:
        """Return a file's value; None where there is none, and for a file that is rejected."""
        path = self.folder / name
        try:
            content = read_file(path, limit=self.limit)
            if content is None:
                return None
            value = self.adapter.validate_json(canonical_json(parse_json(content)))
        except (MalformedJson, UnreadableFile, ValueError):  # pydantic's errors are ValueErrors
            value = None
        if value is not None and self.is_valid(value):
            if path not in self.tracked:
                self.tracked[path] = is_tracked(path)
            if not self.tracked[path]:
                return value
        if name not in self.rejected:
            self.rejected.add(name)
            _logger.warning(
                "%s is ignored: it is damaged, or this trail's programs did not write it", path
            )
        return None

    def write(self, name: str, value: _T) -> None:
        """Store a value by rename."""
        members: Members = self.adapter.dump_python(value, mode="json", by_alias=True)
        make_folder(self.folder)
        temporary = write_temporary(self.folder, canonical_json(members), durable=False)
        replace_file(temporary, self.folder / name)
        self.tracked[self.folder / name] = False


class Spool:
    """The spool of one trail.

    Attributes:
        pending: Inline completions that wait for more parts.
        completions: Inline completions that are in the log, or about to be.
    """

    def __init__(self, directory: AuditDir) -> None:
        self.directory: Final = directory
        self._tracked: Final[dict[Path, bool]] = {}
        self._requests: Final[dict[type[Result], SpoolFiles[Any]]] = {}
        adapter = TypeAdapter(InlineCompletion)
        self.pending: Final = SpoolFiles(
            directory.pending_completions,
            adapter,
            self._is_completion,
            self._tracked,
            _MAX_COMPLETION,
        )
        self.completions: Final = SpoolFiles(
            directory.spool, adapter, self._is_completion, self._tracked, _MAX_COMPLETION
        )

    def requests(self, kind: type[R]) -> SpoolFiles[CompletedRequest[R]]:
        """Return the completed requests with this type of result."""
        if kind not in self._requests:
            self._requests[kind] = SpoolFiles(
                self.directory.spool,
                _request_adapter(kind),  # type: ignore[arg-type]  # a class is hashable
                lambda value: _are_written_by(kind, value.records),
                self._tracked,
            )
        return self._requests[kind]

    def lock(self) -> LockHandle:
        """Wait for the lock that keeps two programs with one request apart; a context manager.

        Raises:
            RefusedWrite: Another program holds it too long.
        """
        make_ignored_folder(self.directory.spool)
        return FileLock(self.directory.spool / _LOCK, patience=REQUEST_LOCK).acquire()

    def list_pending(self) -> Iterator[tuple[str, float, InlineCompletion]]:
        """Yield the pending completions: name, seconds since the last part, and value."""
        try:
            paths = sorted(
                path
                for path in self.directory.pending_completions.iterdir()
                if path.suffix == ".json"
            )
        except OSError:  # there is no such folder yet
            return
        for path in paths:
            with suppress(FileNotFoundError):  # another program has recorded it
                age = abs(time.time() - path.stat().st_mtime)  # the clock may have been set back
                pending = self.pending.read(path.name)
                if pending is not None:
                    yield path.name, age, pending

    def remove_pending(self, name: str) -> None:
        """Remove a completion that is recorded now."""
        with suppress(PermissionError):  # Windows, while a reader has it open; removed next time
            (self.directory.pending_completions / name).unlink(missing_ok=True)

    def remove_old(self) -> None:
        """Remove requests that are too old to be repeated, and what killed programs left.

        One program a day does it.
        """
        folder = self.directory.spool
        cleaned = folder / _CLEANED
        if not folder.is_dir() or abs(_age(cleaned) or _DAY) < _DAY:
            return
        with suppress(OSError):
            cleaned.touch()
        try:
            requests = [path for path in folder.iterdir() if path.suffix == ".json"]
        except OSError:
            return
        left = map(temporary_files, (folder, self.directory.pending_completions))
        for path in chain(requests, *left):
            with suppress(OSError):  # Windows, while a reader has it open; removed next time
                if (_age(path) or 0) > RETENTION_SECONDS:
                    path.unlink(missing_ok=True)

    def _is_completion(self, completion: InlineCompletion) -> bool:
        project, path = self.directory.project, completion.path
        if project_path(project, path) != path or is_bookkeeping(project, path):
            return False
        return could_be_recorded(completion)


@cache
def _request_adapter(kind: type[Result]) -> TypeAdapter[Any]:
    return TypeAdapter(CompletedRequest[kind])  # type: ignore[valid-type]  # a class as a value


def request_name(kind: type[Result], request_id: str) -> str:
    """Return the file name of a request.

    It is derived from the name of the result's class, which must therefore not change. The same id
    for another type of request is another request.
    """
    return _name(f"{kind.__name__} {request_id}")


def completion_name(path: str, completion_id: str) -> str:
    """Return the file name of an inline completion."""
    return _name(f"inline-completion {path} {completion_id}")


def _name(identity: str) -> str:
    return f"{hashlib.sha256(identity.encode('utf-8', 'surrogatepass')).hexdigest()}.json"


def _age(path: Path) -> float | None:
    """Return the seconds since a file was written; None where there is none."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return None


def _are_written_by(kind: type[Result], records: Sequence[Members]) -> bool:
    """Return whether the use case with this type of result may have written the records."""
    return all(_type(record) in kind.record_types and _is_valid(record) for record in records)


def _type(record: Members) -> str | None:
    return text(record, "edge_type" if record.get("type") == RecordType.EDGE else "type")


def _is_valid(record: Members) -> bool:
    try:
        return not record_problems(record) and annotation_id(record) == record.get("annotation_id")
    except VibesError:
        return False

"""Requests that may come twice: the same id again changes nothing and returns the same result, in whatever process.

What a request writes is kept in `.ai-audit/spool/`, which git ignores, before it goes to the log; so a repeat after a crash in between
finishes the first one, with the same ids. See `docs/decisions/0008-idempotent-requests.md`.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeVar

from pydantic import TypeAdapter

from vibes_lsp.errors import MalformedJson, UnreadableFile
from vibes_lsp.model.canonical_json import canonical_json, parse_object
from vibes_lsp.model.members import JsonValue, Members
from vibes_lsp.recording.context import Draft
from vibes_lsp.recording.results import Result, as_json
from vibes_lsp.recording.spooled import TrackedSpoolFiles, are_written_by
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import make_ignored_folder, read_file, replace_file, write_temporary
from vibes_lsp.store.locks import LOCK_TIMEOUT, FileLock

_logger = logging.getLogger(__name__)

KEPT_SECONDS: Final = 7 * 24 * 3600
"""How long a request is remembered."""

_DAY: Final = 24 * 3600
_LOOKED: Final = "forgotten"
"""An empty file: when it was last touched, somebody looked for what is too old."""

LOCK: Final = "requests.lock"
"""Keeps two programs with one request apart."""
PATIENCE: Final = 6 * LOCK_TIMEOUT
"""Seconds to wait for it: who holds it may be waiting for the lock of the log, and for all who come before there."""

_R = TypeVar("_R", bound=Result)


@dataclass(frozen=True, slots=True)
class CompletedRequests:
    """Remembers the requests of one trail."""

    directory: AuditDir
    brought: TrackedSpoolFiles = field(default_factory=TrackedSpoolFiles)

    def once(
        self,
        kind: type[_R],
        request_id: str,
        decide: Callable[[], tuple[Draft, _R]],
        write: Callable[[list[Members], bool], None],
    ) -> _R:
        """Carry a request out, unless it was, and return its result.

        Args:
            kind: The result's type; ids are told apart by it.
            request_id: Given by the caller.
            decide: Makes the records and the result of a new request.
            write: Appends records, told whether some of them may be there already.

        Raises:
            RefusedWrite: The trail cannot be locked or written.
        """
        digest = hashlib.sha256(
            f"{kind.__name__} {request_id}".encode("utf-8", "surrogatepass")
        ).hexdigest()
        path = self._folder / f"{digest}.json"
        make_ignored_folder(self._folder)
        with FileLock(self._folder / LOCK, timeout=PATIENCE).acquire():
            known = self._read(path, kind)
            if known is not None:
                records, result = known
                write(records, True)  # noqa: FBT003  # a callable's arguments have no names
                return result
            draft, result = decide()
            members: Members = {"records": [*draft.records], "result": as_json(result)}
            replace_file(
                write_temporary(self._folder, canonical_json(members), durable=False), path
            )
            self.brought.not_this(path)
            write(draft.records, False)  # noqa: FBT003
        return result

    def forget_old(self) -> None:
        """Forget the requests that are too old to be repeated; once a day, whichever program it is."""
        looked = self._folder / _LOOKED
        if not self._folder.is_dir() or abs(_age(looked) or _DAY) < _DAY:
            return
        with suppress(OSError):
            looked.touch()
        try:
            paths = list(self._folder.iterdir())
        except OSError:
            return
        for path in paths:
            with suppress(OSError):  # Windows, while somebody reads it: it goes next time
                if path.suffix == ".json" and (_age(path) or 0) > KEPT_SECONDS:
                    path.unlink(missing_ok=True)

    def _read(self, path: Path, kind: type[_R]) -> tuple[list[Members], _R] | None:
        """Return what a request came to; None for a new one, and for a file that is not ours."""
        try:
            data = read_file(path)
            if data is None:
                return None
            members = parse_object(data)
            records, result = members.get("records"), members.get("result")
            if isinstance(records, list) and isinstance(result, dict):
                written = [each for each in records if isinstance(each, dict)]
                if are_written_by(kind, written) and path not in self.brought:
                    return written, _result(kind, result)
        except (MalformedJson, UnreadableFile, ValueError):
            pass
        _logger.warning(
            "%s is passed over: no program of ours wrote it here, or it is damaged", path
        )
        return None

    @property
    def _folder(self) -> Path:
        return self.directory.spool


def _age(path: Path) -> float | None:
    """Return the seconds since a file was written; None where there is none."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return None


def _result(kind: type[_R], members: dict[str, JsonValue]) -> _R:
    result: _R = TypeAdapter(kind).validate_json(canonical_json(members))
    return result

"""What is known of the attestation of each trail, and what is said about it on the audit files.

`vibes verify` and `vibes attest` run as processes of their own: no cryptography and no reading of
whole logs happens in the server. A result is kept until a file that it depends on changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from vibes_lsp.attestation.tiers import ATTESTATION_NAMES, TrustTier, attestation_path
from vibes_lsp.errors import AttestationCommandFailed
from vibes_lsp.lsp.state.child_process import run_vibes
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.members import Members, integer, objects, text, texts
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.file_stamps import FileStamp, are_settled, file_stamp

_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_MAX_TEXT: Final = 300
_NOT_HELD: Final = frozenset({"changed", "missing"})
_Stamps: TypeAlias = tuple[FileStamp | None, ...]


@dataclass(frozen=True, slots=True)
class AttestationState:
    """The attestation of a trail as last verified.

    Attributes:
        members: The result of `vibes verify --json`; empty without an attestation.
        problem: Why it could not be verified; empty if it was.
        stamps: The files that the result depends on, as they were before.
        verified_at: When that was.
    """

    members: Members = field(default_factory=dict)
    problem: str = ""
    stamps: _Stamps = ()
    verified_at: datetime = _NEVER

    @property
    def tier(self) -> str:
        """The trust tier, as `vibes verify` reports it."""
        return text(self.members, "tier") or TrustTier.NONE.value

    @property
    def holds(self) -> bool:
        """Whether nothing is known to be wrong."""
        return not self.problem and text(self.members, "result") != "FAIL"

    def files(self) -> list[Members]:
        """Return the result for each file."""
        return objects(self.members.get("files"))

    def file(self, name: str) -> Members | None:
        """Return the result for a file of the trail."""
        return next(
            (file for file in self.files() if (text(file, "name") or "").endswith(f"/{name}")), None
        )

    def summary(self, now: datetime) -> str:
        """Return the state in one line."""
        if self.problem:
            return f"attestation not verified: {self.problem}"
        if not self.members:
            return "not attested"
        if not self.holds:
            return f"the attestation does not hold: {self._first_fault()}"
        if self.tier == TrustTier.NONE.value:
            return f"attestation not verified: {self._first_reason()}"
        at = parse_timestamp(text(self.members, "attestedAt") or "")
        age = f", {describe_age(at, now)}" if at is not None else ""
        log = self.file("annotations.jsonl") or {}
        added = integer(log, "added") or 0
        growth = f"; {added:,} {'record' if added == 1 else 'records'} added since" if added else ""
        return f"{self.tier}{age}{growth}"

    def report(self, now: datetime) -> str:
        """Return everything as text, as `vibes verify` prints it."""
        return text(self.members, "report") or self.summary(now)

    def signature_results(self) -> list[Members]:
        """Return the result for each signature."""
        return objects(self.members.get("signatures"))

    def _first_fault(self) -> str:
        bad = [
            signature
            for signature in self.signature_results()
            if text(signature, "verdict") == "bad"
        ]
        if bad:
            return f"signature {_line(bad[0], 'keyId')}: {_line(bad[0], 'reason')}"
        for file in self.files():
            if text(file, "status") in _NOT_HELD:
                return f"{_line(file, 'name')}: {_line(file, 'reason')}"
        problems = texts(self.members, "problems")
        return single_line(problems[0], _MAX_TEXT) if problems else "see `vibes verify`"

    def _first_reason(self) -> str:
        checked = ((self.signature_results(), "verdict"), (self.files(), "status"))
        return next(
            (
                _line(member, "reason")
                for members, name in checked
                for member in members
                if text(member, name) == "unchecked"
            ),
            "see `vibes verify`",
        )

    def about(self, name: str, now: datetime) -> str | None:
        """Return what to say on an audit file in one line; None if there is nothing to say."""
        if name in ATTESTATION_NAMES:
            return self.summary(now)
        file = self.file(name)
        if self.problem or file is None:
            return None
        return f"{self.tier}: {_line(file, 'reason')}" if self.holds else _line(file, "reason")

    def fault_of(self, name: str) -> str | None:
        """Return what is wrong with an audit file; None if nothing is, or it only has grown."""
        if name in ATTESTATION_NAMES:
            return None if self.holds or self.problem else self._first_fault()
        file = self.file(name)
        if file is None or text(file, "status") not in _NOT_HELD:
            return None
        return f"{name} is not as it was attested: {_line(file, 'reason')}"


def _line(members: Members, name: str) -> str:
    return single_line(text(members, name) or "", _MAX_TEXT)


class Attestations:
    """Verifies the attestation of each trail, again only after a file has changed.

    Attributes:
        on_change: Called when there is a new result.
    """

    def __init__(self) -> None:
        self._known: dict[Path, AttestationState] = {}
        self._running: dict[Path, asyncio.Task[AttestationState]] = {}
        self.on_change: Callable[[AuditDir], None] = lambda _directory: None

    def last(self, directory: AuditDir) -> AttestationState | None:
        """Return the last result, which a change since may have outdated; None if there is none.

        An attestation that was never verified is verified in the background.
        """
        if attestation_path(directory) is None:
            self._known.pop(directory.path, None)
            return None
        known = self._known.get(directory.path)
        if known is None or not _is_current(known, directory):
            self._start(directory)
        return known

    async def verify(self, directory: AuditDir) -> AttestationState:
        """Return the result for the files as they are now; a failure is not kept."""
        if attestation_path(directory) is None:
            return AttestationState()
        known = self._known.get(directory.path)
        if known is not None and not known.problem and _is_current(known, directory):
            return known
        return await asyncio.shield(self._start(directory))

    def stop(self) -> None:
        """End the processes that run."""
        for task in self._running.values():
            task.cancel()

    def _start(self, directory: AuditDir) -> asyncio.Task[AttestationState]:
        task = self._running.get(directory.path)
        if task is None:
            task = asyncio.get_running_loop().create_task(self._verify(directory))
            self._running[directory.path] = task
            task.add_done_callback(partial(self._end, directory))
        return task

    def _end(self, directory: AuditDir, task: asyncio.Task[AttestationState]) -> None:
        del self._running[directory.path]
        if not task.cancelled() and task.result().stamps != _stamps_of(directory):
            self.last(directory)  # the process may have read a file before it changed

    async def _verify(self, directory: AuditDir) -> AttestationState:
        stamps, now = _stamps_of(directory), datetime.now(UTC)
        try:
            _, members = await run_vibes(directory, "verify")
            state = AttestationState(members, "", stamps, now)
        except AttestationCommandFailed as error:
            problem = single_line(error.message, _MAX_TEXT)
            state = AttestationState({}, problem, stamps, now)
        before = self._known.get(directory.path)
        self._known[directory.path] = state
        if before is None or (before.members, before.problem) != (state.members, state.problem):
            self.on_change(directory)
        return state


def _is_current(known: AttestationState, directory: AuditDir) -> bool:
    if known.stamps != _stamps_of(directory):
        return False
    verified_at = int(known.verified_at.timestamp() * 1e9)
    return are_settled(known.stamps, verified_at) or are_settled(known.stamps)


def _stamps_of(directory: AuditDir) -> _Stamps:
    """Return the stamps of all files that a verification reads."""
    keys = Path.home() / ".vibescheck" / "keys"
    paths = (
        *(directory.path / name for name in ATTESTATION_NAMES),
        *(directory.path / f"{name}.ots" for name in ATTESTATION_NAMES),
        directory.config,
        directory.manifest,
        directory.log,
        keys / "vibescheck.pub",
        keys / "trusted.json",
    )
    return tuple(map(file_stamp, paths))


def file_and_tier(state: AttestationState) -> Members:
    """Return the result of `vibes.verify` about a state."""
    now = datetime.now(UTC)
    return {
        "attested": bool(state.members or state.problem),
        "tier": state.tier,
        "holds": state.holds,
        "summary": state.summary(now),
        "report": state.report(now),
        "verification": state.members or None,
        "problem": state.problem or None,
    }

"""Repair what `vibes doctor` finds, where that is safe: nothing that a person wrote is changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime

from vibes_lsp.agents.agent import Scope, UserHome
from vibes_lsp.agents.all_agents import AGENTS
from vibes_lsp.agents.setup.agent_hooks import add_agent, inspect_agent
from vibes_lsp.agents.setup.configuration import PROGRAM
from vibes_lsp.agents.setup.hook_configuration import HookState
from vibes_lsp.checks.finding import pluralize
from vibes_lsp.doctor.recording import abandoned_files, wrong_modes
from vibes_lsp.errors import RefusedWrite, VibesError
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.maintenance.hook_installation import HookStatus, inspect_hook, install_hook
from vibes_lsp.model.members import Members
from vibes_lsp.patience import LOCK
from vibes_lsp.store.audit_dir import AuditDir


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair.

    Attributes:
        about: What was repaired.
        message: What was done, or why it failed.
        failed: Whether it failed.
    """

    about: str
    message: str
    failed: bool = False

    def as_json(self) -> Members:
        """Return the attributes by their names."""
        return asdict(self)


def apply_fixes(
    directory: AuditDir, home: UserHome, now: datetime, *, program: str = ""
) -> Iterator[Fix]:
    """Repair what can be repaired safely, and yield what was done.

    Permissions come first, and what waits comes last, because recording may depend on the rest.

    Args:
        directory: The trail.
        home: The person's home, with the configuration of agents.
        now: The current time.
        program: What hooks run where `vibes` may not be on PATH.
    """
    yield from _permissions(directory)
    yield from _temporary_files(directory, now)
    yield from _git_hook(directory, program)
    yield from _agent_hooks(directory, home, program)
    yield from _waiting_events(directory)


def _permissions(directory: AuditDir) -> Iterator[Fix]:
    for wrong in wrong_modes(directory):
        name = wrong.path.relative_to(directory.project).as_posix()
        try:
            wrong.path.chmod(wrong.mode)
            yield Fix("permissions", f"set those of {name} to {wrong.mode:03o}")
        except OSError as error:
            yield Fix("permissions", f"{name} cannot be changed: {error.strerror}", failed=True)


def _temporary_files(directory: AuditDir, now: datetime) -> Iterator[Fix]:
    removed = 0
    for path in abandoned_files(directory, now):
        try:
            path.unlink(missing_ok=True)
            removed += 1
        except OSError as error:
            name = path.relative_to(directory.project).as_posix()
            message = f"{name} cannot be removed: {error.strerror}"
            yield Fix("temporary files", message, failed=True)
    if removed:
        yield Fix(
            "temporary files",
            f"removed {pluralize(removed, 'file', 'files')} of ended programs",
        )


def _git_hook(directory: AuditDir, program: str) -> Iterator[Fix]:
    try:
        if inspect_hook(directory.project).status is not HookStatus.BROKEN:
            return
    except RefusedWrite:  # there is no repository
        return
    try:
        yield Fix(
            "git hook", f"installed again: {install_hook(directory.project, program=program).file}"
        )
    except VibesError as error:
        yield Fix("git hook", error.message, failed=True)


def _agent_hooks(directory: AuditDir, home: UserHome, program: str) -> Iterator[Fix]:
    for agent in AGENTS:
        report = inspect_agent(agent, directory.project, home)
        for scope in Scope:
            if report.state(scope) is not HookState.OUTDATED:
                continue
            wanted = PROGRAM if scope is Scope.PROJECT else program or PROGRAM
            try:
                done = add_agent(agent, scope, directory.project, home, program=wanted)
                names = ", ".join(str(file.path) for file in done.files)
                yield Fix(agent.name, f"hooks updated in {names}")
            except VibesError as error:
                yield Fix(agent.name, error.message, failed=True)


def _waiting_events(directory: AuditDir) -> Iterator[Fix]:
    try:
        number = fold_events(directory, patience=LOCK)
    except VibesError as error:
        yield Fix("waiting events", error.message, failed=True)
        return
    if number:
        yield Fix("waiting events", f"processed {pluralize(number, 'event', 'events')}")

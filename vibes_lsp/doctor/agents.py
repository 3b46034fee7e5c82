"""Diagnose each coding agent: installed, hooked up, trusted, and what became of its events."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from vibes_lsp.agents.agent import CodingAgent, Scope, TrustState, UserHome
from vibes_lsp.agents.all_agents import AGENTS
from vibes_lsp.agents.setup.agent_hooks import AgentReport, inspect_agent
from vibes_lsp.agents.setup.configuration import PROGRAM
from vibes_lsp.agents.setup.hook_configuration import HookState
from vibes_lsp.checks.finding import pluralize
from vibes_lsp.doctor.steps import Group, Health, Step
from vibes_lsp.ingest.event_log import (
    NO_AGENT,
    NOTHING_TO_RECORD,
    REPEATED,
    LoggedEvent,
    read_event_log,
)
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import read_beginning

_EXPECTED: Final = frozenset({NOTHING_TO_RECORD, REPEATED})
"""Outcomes of events that are as they should be."""


def agent_steps(directory: AuditDir, home: UserHome, now: datetime) -> Iterator[Step]:
    """Yield the steps for all agents that are here, hooked up, or have sent events."""
    logged = read_event_log(directory)
    absent: list[str] = []
    is_hooked = False
    for agent in AGENTS:
        report = inspect_agent(agent, directory.project, home)
        events = [event for event in logged if event.agent == agent.name]
        hooked = any(file.state not in (None, HookState.ABSENT) for file in report.files)
        if not (report.is_installed or hooked or events):
            absent.append(agent.name)
            continue
        is_hooked |= hooked
        yield _installed(report)
        yield from _hooks(report, directory.project, home)
        yield from _trust(report, is_proven=bool(events))
        yield from _events(agent, events, now, is_hooked=hooked)
    yield from _program(is_hooked=is_hooked)
    strange = [event for event in logged if event.agent == NO_AGENT]
    if strange:
        yield _step(
            "other payloads",
            Health.NOTE,
            f"{pluralize(len(strange), 'payload', 'payloads')} of no known agent, the last "
            f"{_age(strange[-1], now)}: {strange[-1].outcome}",
            "an agent that calls the hook may have a new version: update vibes-lsp",
        )
    if absent:
        yield _step("other agents", Health.OK, f"not on this machine: {', '.join(absent)}")


def _step(about: str, health: Health, message: str, hint: str = "") -> Step:
    return Step(Group.AGENTS, about, health, message, hint)


def _program(*, is_hooked: bool) -> Iterator[Step]:
    """Yield whether the hooks find this program."""
    about = "vibes on PATH"
    executable = shutil.which(PROGRAM)
    own = Path(sys.executable).parent
    if executable is None:
        yield _step(
            about,
            Health.PROBLEM if is_hooked else Health.NOTE,
            "it is not there, so hooks in the configuration of a project record nothing",
            f"add this folder to PATH: {own}",
        )
    elif Path(executable).resolve().parent != own and not _starts_this_python(Path(executable)):
        yield _step(
            about,
            Health.NOTE,
            f"hooks run another installation than this one: {executable}",
            "update both, or remove one",
        )


def _starts_this_python(program: Path) -> bool:
    line = read_beginning(program, 4096).partition(b"\n")[0]
    return line.rstrip() == b"#!" + os.fsencode(sys.executable)


def _installed(report: AgentReport) -> Step:
    agent = report.agent
    if report.program is None:
        folder = "; its folder is in the home folder" if report.has_folder else ""
        return _step(agent.name, Health.OK, f"its program is not on PATH{folder}")
    tried = f"; tried with {agent.tried}" if agent.tried else ""
    return _step(agent.name, Health.OK, f"installed: {report.program}{tried}")


def _hooks(report: AgentReport, project: Path, home: UserHome) -> Iterator[Step]:
    name, slug = report.agent.name, report.agent.slug
    is_found = False
    for scope in Scope:
        files = [file for file in report.files if file.scope is scope]
        for file in files:
            if file.state is None:
                is_found = True
                yield _step(name, Health.PROBLEM, file.problem, "repair the file, or remove it")
        state = report.state(scope)
        if state is HookState.ABSENT:
            continue
        is_found = True
        where = _shown(files[0].path if len(files) == 1 else files[0].path.parent, project, home)
        user = " --user" if scope is Scope.USER else ""
        if state is HookState.OUTDATED:
            yield _step(
                name,
                Health.PROBLEM,
                f"the hooks in {where} are not those of this version",
                f"run `vibes doctor --fix`, or `vibes init --agents {slug}{user}`",
            )
        else:
            by_hand = " by hand" if state is HookState.HANDWRITTEN else ""
            yield _step(name, Health.OK, f"hooked up{by_hand} in {where}")
    if not is_found:
        yield _step(name, Health.NOTE, "not hooked up", f"run `vibes init --agents {slug}`")


def _shown(path: Path, project: Path, home: UserHome) -> str:
    if path.is_relative_to(project):
        return path.relative_to(project).as_posix()
    if path.is_relative_to(home.path):
        return f"~/{path.relative_to(home.path).as_posix()}"
    return str(path)


def _trust(report: AgentReport, *, is_proven: bool) -> Iterator[Step]:
    """Yield whether the agent runs the hooks.

    Args:
        report: The agent.
        is_proven: Whether it has run them.
    """
    for trust in dict.fromkeys(report.trust.values()):
        if not trust.message:
            continue
        is_problem = trust.state is TrustState.MISSING and report.is_installed and not is_proven
        is_fine = trust.state in (TrustState.GIVEN, TrustState.NOT_NEEDED)
        health = Health.PROBLEM if is_problem else Health.OK if is_fine else Health.NOTE
        yield _step(report.agent.name, health, f"trust: {trust.message}", trust.hint)


def _events(
    agent: CodingAgent,
    events: Sequence[LoggedEvent],
    now: datetime,
    *,
    is_hooked: bool,
) -> Iterator[Step]:
    if not events:
        if is_hooked:
            yield _step(
                agent.name,
                Health.NOTE,
                "no event was received in this project",
                "start a new session in this project: agents read their hooks at the start",
            )
        return
    last = events[-1]
    yield _step(
        agent.name,
        Health.OK if last.recorded or last.outcome in _EXPECTED else Health.NOTE,
        f"last event {_age(last, now)}: {last.event or 'without a name'}: {last.outcome}",
    )
    lost = [event for event in events if not event.recorded and event.outcome not in _EXPECTED]
    if lost:
        reason, _ = Counter(event.outcome for event in lost).most_common(1)[0]
        yield _step(
            agent.name,
            Health.NOTE,
            f"{len(lost)} of the last {pluralize(len(events), 'event', 'events')} "
            f"{'was' if len(lost) == 1 else 'were'} not recorded, most often: {reason}",
        )


def _age(event: LoggedEvent, now: datetime) -> str:
    moment = parse_timestamp(event.received)
    return "at an unknown time" if moment is None else describe_age(moment, now)

"""A trail that satisfies every rule of the RFC, with the source files that it annotates."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypedDict

from tests.trails.writer import TrailWriter

if TYPE_CHECKING:
    from pathlib import Path

AUTH: Final = '''"""Sign-up."""

import re


def valid_email(address: str) -> bool:
    """Say whether an address looks like one."""
    return re.fullmatch(r"[^@ ]+@[^@ ]+[.][^@ ]+", address) is not None


def strong(password: str) -> bool:
    return len(password) >= 12 and password.lower() != password
'''

LIMITS_BEFORE: Final = """WINDOW = 3600
ATTEMPTS = 5


def exceeded(times: list[float], now: float) -> bool:
    recent = [time for time in times if now - time < WINDOW]
    return len(recent) >= ATTEMPTS
"""

LIMITS: Final = '"""Rate limits."""\n\n' + LIMITS_BEFORE

WORKER: Final = '''from limits import exceeded


def allow(times: list[float], now: float) -> bool:
    """Übergang: allow until the limit is reached."""
    return not exceeded(times, now)
'''

SOURCES: Final = MappingProxyType(
    {"src/auth.py": AUTH, "src/limits.py": LIMITS, "src/middleware.py": WORKER}
)
"""The source files that `complete` leaves."""

COMMIT: Final = "5eed" * 10
EARLIER_COMMIT: Final = "ba5e" * 10


class _Origin(TypedDict):
    environment: str
    command: str
    prompt: str | None
    session: str


@dataclass(frozen=True)
class CompleteTrail:
    """The result of `complete`. Members that a level does not record are None."""

    root: Path
    level: str
    writer: TrailWriter
    commit: str
    earlier_commit: str

    environment: str
    worker_environment: str
    reviewer_environment: str
    prompt: str | None
    second_prompt: str | None
    command: str
    read_command: str
    decision: str
    reasoning: str | None
    compressed_reasoning: str | None
    external_reasoning: str | None

    session: str
    worker_session: str
    delegation: str
    delegated_to: str

    created: str
    """`src/auth.py` 1-8, with the decision; reviewed."""
    modified: str
    """`src/auth.py` 11-12; informed by `read_command`."""
    function: str
    """`valid_email` in `src/auth.py`, lines 6-8."""
    worker_line: str
    """`src/middleware.py`, whole; made by the delegated session."""
    pending: str
    """`src/limits.py` 1-7 of an earlier text, without a commit: the first record."""
    committed: str
    """The same with `earlier_commit`: the second record of the lineage."""
    remapped: str
    """The same at 3-9 with `commit`: the current record of the lineage."""

    review: str
    informed_by: str
    causes: tuple[str, ...]
    """`caused_by` edges of `created`, `modified`, `function`, `worker_line` and `pending`."""

    @property
    def current(self) -> tuple[str, ...]:
        """The annotations that no edge supersedes."""
        return self.created, self.modified, self.function, self.worker_line, self.remapped

    @property
    def lineage(self) -> tuple[str, str, str]:
        """The records of one edit through back-fill and remap, oldest first."""
        return self.pending, self.committed, self.remapped


def complete(
    root: Path,
    level: str = "medium",
    *,
    commit: str = COMMIT,
    earlier_commit: str = EARLIER_COMMIT,
) -> CompleteTrail:
    """Write a trail that satisfies all of the RFC at a level, and the matching source files.

    Args:
        root: The project's folder, not necessarily a git repository.
        level: `low`, `medium` or `high`.
        commit: The commit of `SOURCES`.
        earlier_commit: An earlier commit, where `src/limits.py` is `LIMITS_BEFORE`.
    """
    for path, text in SOURCES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(text.encode())
    trail = TrailWriter(root, level=level)
    trail.config(tracked_extensions=[".py"], exclude_patterns=["**/vendor/**"])
    trail.housekeeping()
    reviewer = trail.reviewer_environment()
    has_prompts, has_reasoning = level != "low", level == "high"

    lead = trail.environment(tool="Maestro", tool_version="1.0.0", parameters={"temperature": 0.2})
    session = trail.session_start(
        environment=lead, description="Sign-up", agent_name="lead", agent_type="orchestrator"
    )
    prompt = (
        trail.prompt("Create a sign-up check for email and password.", files=["src/user.py"])
        if has_prompts
        else None
    )
    read = trail.command("src/user.py", type="file_read")
    command = trail.command("src/auth.py", type="file_write")
    decision = trail.decision(
        "How to check an address",
        [
            {
                "id": "regex",
                "description": "One expression",
                "pros": ["short"],
                "cons": ["lenient"],
            },
            {
                "id": "library",
                "description": "A parser",
                "pros": ["exact"],
                "cons": ["a dependency"],
            },
        ],
        selected="regex",
        rationale="A confirmation mail follows anyway.",
    )
    inline = (
        trail.reasoning("An address needs one @ and a dot after it.", tokens=12)
        if has_reasoning
        else None
    )
    packed = (
        trail.reasoning("Length first. " * 1000, form="compressed", tokens=3000)
        if has_reasoning
        else None
    )
    blob = (
        trail.reasoning("Windows slide. " * 8000, form="external", tokens=24000)
        if has_reasoning
        else None
    )
    mine: _Origin = {"environment": lead, "command": command, "prompt": prompt, "session": session}

    created = trail.line(
        "src/auth.py", 1, 8, **mine, reasoning=inline, decision=decision, commit=commit, text=AUTH
    )
    causes = [trail.cause(created, prompt or command, session=session)]
    modified = trail.line(
        "src/auth.py", 11, 12, **mine, action="modify", reasoning=packed, commit=commit, text=AUTH
    )
    causes.append(trail.cause(modified, prompt or command, session=session))
    informed = trail.informed(modified, read, session=session)
    function = trail.function(
        "src/auth.py",
        "valid_email",
        "valid_email(address: str) -> bool",
        **mine,
        reasoning=inline,
        commit=commit,
        text=AUTH,
        lines=(6, 8),
    )
    causes.append(trail.cause(function, prompt or command, session=session))

    second = (
        trail.prompt("Limit attempts: five an hour.", type="chat_message") if has_prompts else None
    )
    worker = trail.environment(
        parameters={"temperature": 1, "max_tokens": 4096}, tool_extensions=["filesystem"]
    )
    child = trail.session_start(
        environment=worker,
        parent=session,
        agent_name="worker-1",
        agent_type="claude-code",
        description="Limits",
    )
    delegation = trail.delegation(
        session,
        child,
        task="Limit attempts",
        files=["src/limits.py", "src/middleware.py"],
        parent_environment=lead,
        child_environment=worker,
    )
    delegated = trail.edge(
        "delegated_to",
        session,
        child,
        source_type="session",
        target_type="session",
        session=session,
    )
    theirs: _Origin = {
        "environment": worker,
        "command": command,
        "prompt": second,
        "session": child,
    }
    worker_line = trail.line(
        "src/middleware.py", 1, 6, **theirs, reasoning=blob, commit=commit, text=WORKER
    )
    causes.append(trail.cause(worker_line, second or command, session=child))
    trail.cause(worker_line, child, target_type="session", session=child)
    pending = trail.line("src/limits.py", 1, 7, **theirs, reasoning=blob, text=LIMITS_BEFORE)
    causes.append(trail.cause(pending, second or command, session=child))
    trail.session_end(child)
    trail.session_end(session)

    committed = trail.remap(pending, commit=earlier_commit, text=LIMITS_BEFORE)
    remapped = trail.remap(committed, commit=commit, start=3, end=9, text=LIMITS, reason="rewrite")
    review = trail.review(created, note="Fine.")
    return CompleteTrail(
        root=root,
        level=level,
        writer=trail,
        commit=commit,
        earlier_commit=earlier_commit,
        environment=lead,
        worker_environment=worker,
        reviewer_environment=reviewer,
        prompt=prompt,
        second_prompt=second,
        command=command,
        read_command=read,
        decision=decision,
        reasoning=inline,
        compressed_reasoning=packed,
        external_reasoning=blob,
        session=session,
        worker_session=child,
        delegation=delegation,
        delegated_to=delegated,
        created=created,
        modified=modified,
        function=function,
        worker_line=worker_line,
        pending=pending,
        committed=committed,
        remapped=remapped,
        review=review,
        informed_by=informed,
        causes=tuple(causes),
    )

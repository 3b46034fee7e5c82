"""Record an edit on the trail of its file, where the session belongs to another trail.

That trail gets a session of its own with the same id, tool and model. From a trail of the same
repository, such as that of another work tree, it gets the session's last prompt too. From another
project it gets none, unless the user's setting allows it: prompts may be private.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from vibes_lsp.errors import AuditDirNotFound
from vibes_lsp.git.process import user_setting
from vibes_lsp.git.repository_state import shared_repository
from vibes_lsp.model.hashing import sha256
from vibes_lsp.model.members import text
from vibes_lsp.model.vocabulary import PromptType
from vibes_lsp.recording.arguments import Model, Prompt, Tool, WrongArgument
from vibes_lsp.recording.context import Draft, RecordingContext
from vibes_lsp.recording.edges import latest_prompt
from vibes_lsp.recording.entries import Entries
from vibes_lsp.recording.recorder import Recorder
from vibes_lsp.recording.requests import (
    Origin,
    RecordAnnotation,
    RecordInlineCompletion,
    RecordPrompt,
    Request,
)
from vibes_lsp.recording.results import StartedSession
from vibes_lsp.recording.sessions import add_start
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir
from vibes_lsp.trail.records import LoggedSession, moment_of
from vibes_lsp.trail.trail import Trail

if TYPE_CHECKING:
    from vibes_lsp.trail.log_index import LogIndex

SETTING: Final = "vibes.record.acrossProjects"
"""The user's setting, one of git's: no project can change it."""
OFF_REASON: Final = f"{SETTING} is off, and its session belongs to another project"
_UNKNOWN_HERE: Final[tuple[str, ...]] = ("prompt_hash", "decision", "informed_by")
"""Members of an edit that may refer to the trail of its session."""
_PRIVATE: Final = ("prompt", "reasoning", "command")
"""Members of an edit that have texts of its session."""

_Q = TypeVar("_Q", bound=Request[Any])


class AcrossProjects(StrEnum):
    """What is recorded of an edit on the trail of another project than the session's.

    Attributes:
        OFF: Nothing.
        LINES: The edit with its tool and model.
        PROMPTS: The session's prompt and reasoning too.
    """

    OFF = "off"
    LINES = "lines"
    PROMPTS = "prompts"


def recorded_across(trail: AuditDir, home: AuditDir | None) -> AcrossProjects:
    """Return what a trail gets of a session that belongs to another trail, or to none.

    Args:
        trail: The trail of the edited file.
        home: The session's own trail.
    """
    if home is not None and shared_repository(trail.project, home.project):
        return AcrossProjects.PROMPTS
    try:
        return AcrossProjects(user_setting(SETTING) or AcrossProjects.LINES)
    except ValueError:  # an unknown value
        return AcrossProjects.LINES


@dataclass(frozen=True, slots=True)
class HomeSession:
    """A session in its own trail.

    Attributes:
        tool: Its tool.
        model: Its model.
        prompt: What it was asked last, if that is recorded.
        started: When it was started there.
    """

    tool: Tool
    model: Model
    prompt: Prompt | None
    started: datetime


def find_home_session(
    home: Trail, find: Callable[[LogIndex], LoggedSession | None]
) -> HomeSession | None:
    """Return a session of a trail; None if the trail has none, or is not readable.

    Args:
        home: The trail; it is refreshed.
        find: Returns the session in its log.
    """
    home.refresh()
    session = find(home.log)
    if session is None:
        return None
    environment = home.manifest.entry(session.text("environment_hash") or "") or {}
    names = [
        text(environment, name) or "unknown"
        for name in ("tool_name", "tool_version", "model_name", "model_version")
    ]
    key = latest_prompt(home, session.id)
    entry = {} if key is None else home.manifest.entry(key) or {}
    asked = text(entry, "prompt_text")
    prompt = Prompt(asked, PromptType.USER_INSTRUCTION) if asked else None
    started = moment_of(session.text("timestamp"))
    return HomeSession(Tool(names[0], names[1]), Model(names[2], names[3]), prompt, started)


def addressed_to_owner(request: _Q, folder: Path) -> tuple[AuditDir | None, _Q]:
    """Return the trail that owns the file of a request, links resolved; None without one.

    The request is returned with the file's absolute path, or as it is where no trail owns the file.

    Args:
        request: The request.
        folder: What a relative path of the request is relative to.
    """
    path = request.path
    if path is None:
        return None, request
    try:
        file = (folder / path).resolve()
        directory = find_audit_dir(file.parent)
    except (AuditDirNotFound, OSError, RuntimeError, ValueError):
        return None, request
    return directory, request.model_copy(update={"file": str(file), "uri": None})


def visiting_request(recorder: Recorder, homes: Iterable[Trail], request: _Q) -> _Q:
    """Return a request as the trail of its file can record it; the session is started there.

    A request about no edit, and one of the trail's own sessions, is returned as it is. A session
    that two trails have is that of the trail in which it was started first.

    Args:
        recorder: Records on the trail of the file.
        homes: The trails in which the session may have been started.
        request: The request.

    Raises:
        WrongArgument: The user's setting forbids it.
    """
    origin: Request[Any] = request
    if not isinstance(origin, RecordAnnotation | RecordInlineCompletion):
        return request
    session_id = origin.session_id
    if session_id is None:
        return request
    started = _session_start(recorder, session_id)
    for home in homes:
        session = find_home_session(home, lambda log: log.session(session_id))
        if session is not None and (started is None or session.started <= started):
            kept = recorded_across(recorder.directory, home.directory)
            if kept is AcrossProjects.OFF:
                raise WrongArgument("session_id", OFF_REASON)
            start_once(recorder, session_id, session.tool, session.model)
            withheld = _UNKNOWN_HERE
            if kept is AcrossProjects.LINES:
                withheld = (*_UNKNOWN_HERE, *_PRIVATE)
            else:
                copy_prompt(recorder, session_id, session.prompt)
            fields = Origin.model_fields
            return request.model_copy(update={name: fields[name].default for name in withheld})
    return request


def start_once(recorder: Recorder, session_id: str, tool: Tool, model: Model) -> None:
    """Start a session whose id is known elsewhere, unless it was."""

    def decide(context: RecordingContext) -> tuple[Draft, StartedSession]:
        draft = Draft(context.timestamp)
        session = context.trail.log.session(session_id)
        if session is None:
            environment = Entries(context).environment(tool, model)
            add_start(draft, context, session_id, environment)
        else:
            environment = context.environment_of(session)
        return draft, StartedSession(session_id, environment)

    recorder.write_derived(StartedSession, decide)


def copy_prompt(recorder: Recorder, session_id: str, prompt: Prompt | None) -> None:
    """Record what a session was asked last in its own trail, once."""
    if prompt is not None:
        digest = sha256(prompt.text.encode("utf-8", "surrogatepass"))
        visit = f"{session_id} visit {digest}"
        recorder.execute(RecordPrompt(session_id=session_id, prompt=prompt, request_id=visit))


def _session_start(recorder: Recorder, session_id: str) -> datetime | None:
    """Return when a session was started on the recorder's trail; None if the trail has none."""
    session = recorder.read(lambda context: context.trail.log.session(session_id))
    return None if session is None else moment_of(session.text("timestamp"))

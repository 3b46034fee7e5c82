"""The event model that the payloads of all agents are read into: what an agent did. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

UNKNOWN: Final = "unknown"
"""A tool's version or a model that nothing names."""


class Agent(StrEnum):
    """The agents whose payloads are read; the value is the recorded tool name."""

    CLAUDE_CODE = "Claude Code"
    CODEX = "Codex"
    GEMINI_CLI = "Gemini CLI"
    COPILOT_CLI = "Copilot CLI"
    QWEN_CODE = "Qwen Code"
    OPENCODE = "opencode"
    CLINE = "Cline"
    CURSOR = "Cursor"
    WINDSURF = "Windsurf"
    COPILOT_VSCODE = "Copilot in VS Code"
    AMP = "Amp"


@dataclass(frozen=True, slots=True)
class DiffHunk:
    """A hunk of a diff.

    Attributes:
        new_start: Its first line in the text after the edit, 1-based.
        lines: Pairs of a tag (space, `-` or `+`) and a line without its end.
    """

    new_start: int
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PatchChunk:
    """A chunk of an `apply_patch` patch, which has no line numbers.

    Attributes:
        headers: The lines after `@@`, after which the chunk is searched.
        lines: As in `DiffHunk`.
        at_end: Whether the chunk is at the end of the file.
    """

    headers: tuple[str, ...]
    lines: tuple[tuple[str, str], ...]
    at_end: bool = False


def lines_before(part: DiffHunk | PatchChunk) -> list[str]:
    """Return the lines of a part of a diff or patch before the edit."""
    return [line for tag, line in part.lines if tag != "+"]


def lines_after(part: DiffHunk | PatchChunk) -> list[str]:
    """Return the lines of a part of a diff or patch after the edit."""
    return [line for tag, line in part.lines if tag != "-"]


@dataclass(frozen=True, slots=True)
class FileEdit:
    """An edit of one file, as far as its payload describes it; None is unknown.

    Attributes:
        path: The file, absolute.
        creates: Whether the file did not exist, or had no text, before.
        may_overwrite: Whether nothing in the payload proves `creates`.
        deletes: Whether the file was deleted.
        before: The whole text before.
        after: The whole text after.
        old: The text that was replaced.
        new: The text that replaced it.
        replace_all: Whether every occurrence was replaced.
        hunks: The payload's own diff.
        chunks: The payload's own patch without line numbers.
        changed_by_person: Whether a person changed the proposal before it was written.
        may_be_unsaved: Whether the agent reports the edit before it is on the disk.
    """

    path: str
    creates: bool = False
    deletes: bool = False
    before: str | None = None
    after: str | None = None
    old: str | None = None
    new: str | None = None
    replace_all: bool = False
    hunks: tuple[DiffHunk, ...] = ()
    chunks: tuple[PatchChunk, ...] = ()
    changed_by_person: bool = False
    may_overwrite: bool = False
    may_be_unsaved: bool = False


@dataclass(frozen=True, slots=True)
class SessionStarted:
    """A session started or was resumed."""


@dataclass(frozen=True, slots=True)
class SessionEnded:
    """A session ended."""


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A session answered a prompt; its subagents may go on in the background."""


@dataclass(frozen=True, slots=True)
class PromptSubmitted:
    """A session was asked something."""

    text: str


@dataclass(frozen=True, slots=True)
class FilesEdited:
    """Files were edited by one tool call."""

    edits: tuple[FileEdit, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A question to a person, the options that were offered, and the one that was chosen.

    Attributes:
        question: The question.
        options: Each option with what it means.
        selected: The chosen option.
    """

    question: str
    options: tuple[tuple[str, str], ...]
    selected: str


@dataclass(frozen=True, slots=True)
class ChoicesMade:
    """A person chose between options that the agent offered."""

    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A shell command was run.

    Attributes:
        text: The command.
        exit_code: Its exit code; None where the payload does not say it.
        output: What it printed.
        duration: How long it ran, in milliseconds; None where the payload does not say it.
    """

    text: str
    exit_code: int | None = None
    output: str | None = None
    duration: int | None = None


@dataclass(frozen=True, slots=True)
class FilesRead:
    """Files were read."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AnnotationShown:
    """An annotation that an agent was told of, in a file relative to the project."""

    id: str
    path: str


@dataclass(frozen=True, slots=True)
class ProvenanceAsked:
    """The agent asked what is known of code, and was told of these annotations."""

    shown: tuple[AnnotationShown, ...]


Action: TypeAlias = (
    SessionStarted
    | SessionEnded
    | TurnEnded
    | PromptSubmitted
    | ChoicesMade
    | FilesEdited
    | CommandRun
    | FilesRead
    | ProvenanceAsked
)


@dataclass(frozen=True, slots=True)
class SessionKey:
    """A session by the agent's own ids.

    Attributes:
        id: The session; unique for its agent.
        parent: The session that delegated to it.
        agent_type: What kind of subagent it is.
    """

    id: str
    parent: str | None = None
    agent_type: str | None = None


@dataclass(frozen=True, slots=True)
class Visit:
    """The agent's folder belongs to another trail than the edited file, or to none.

    Attributes:
        home: The audit directory of the agent's folder.
        keeps_prompt: Whether the prompt and reasoning of the session are recorded.
    """

    home: Path | None
    keeps_prompt: bool


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """One thing that an agent did.

    Attributes:
        agent: The agent.
        session: The session in which it happened.
        identity: The same for two reports of one event of a session, and for no two events; empty
            where the payload has nothing to tell two events apart.
        folder: The agent's current folder; empty where the payload does not say it.
        action: What happened.
        model: The model, where the payload names it.
        version: The agent's version, where the payload names it.
        transcript: The agent's session file.
        call_id: The tool call, as the session file names it.
        moment: When it happened, as the payload says it (ISO 8601).
        call_content: The tool call itself, where the payload does not identify it.
        reasoning: What the model thought before it, if it is to be recorded.
        method: How it was found, where no hook reported it.
        visit: What is known of its session where that belongs to another trail.
    """

    agent: Agent
    session: SessionKey
    identity: str
    folder: str
    action: Action
    model: str | None = None
    version: str | None = None
    transcript: str | None = None
    call_id: str | None = None
    moment: str | None = None
    call_content: str | None = None
    reasoning: str | None = None
    method: str | None = None
    visit: Visit | None = None

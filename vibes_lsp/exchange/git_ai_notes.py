"""Parse the authorship logs of git-ai: which AI sessions wrote which lines of a commit. Pure.

The format is git-ai's standard 3.0.0. A log is as untrusted as the push that brought it: what
cannot be read is left out and counted, and a person's lines are never an AI's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from vibes_lsp.agents.events import Agent
from vibes_lsp.errors import MalformedJson
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.members import Members, mapping, objects, text

NOTES_REF: Final = "refs/notes/ai"
MAX_NOTE: Final = 16 << 20
"""Largest note that is read, in bytes."""
_VERSION: Final = re.compile(r"authorship/3\.\d{1,9}\.\d{1,9}")
_DIVIDER: Final = "---"
_ENTRY: Final = re.compile(r"  ([!-~]{1,200}) ([0-9,-]+)")
_RANGE: Final = re.compile(r"(\d{1,9})(?:-(\d{1,9}))?")
_HUMAN: Final = "h_"
_MAX_PROMPT: Final = 1 << 16
"""Characters of the messages of a session that are imported as its prompt."""


_TOOLS: Final = {
    "claude": Agent.CLAUDE_CODE.value,
    "codex": Agent.CODEX.value,
    "gemini": Agent.GEMINI_CLI.value,
    "opencode": Agent.OPENCODE.value,
    "cline": Agent.CLINE.value,
    "cursor": "Cursor",
    "windsurf": "Windsurf",
    "amp": "Amp",
    "droid": "Droid",
    "github-copilot": "GitHub Copilot",
}
"""The names of tools as agents' events are recorded with, by those of git-ai."""


class InvalidNote(ValueError):
    """A note that is no authorship log of a version that can be read."""


@dataclass(frozen=True, slots=True)
class AgentSession:
    """A session of an AI agent.

    Attributes:
        tool: The tool, as git-ai names it.
        conversation: The tool's own id of it.
        model: The model; empty if unknown.
        prompt: What its user wrote, which only old logs have.
        url: Where its transcript is, which only old logs have.
    """

    tool: str
    conversation: str
    model: str
    prompt: str | None = None
    url: str | None = None

    @property
    def tool_name(self) -> str:
        """The name of the tool as agents' events are recorded with."""
        return _TOOLS.get(self.tool, self.tool)


@dataclass(frozen=True, slots=True)
class Attestation:
    """Lines of a file with the key of their author: first and last lines, inclusive."""

    key: str
    ranges: tuple[tuple[int, int], ...]

    @property
    def is_human(self) -> bool:
        """Whether a person typed the lines."""
        return self.key.startswith(_HUMAN)


@dataclass(frozen=True, slots=True)
class AuthorshipLog:
    """The log of a commit.

    Attributes:
        files: What it attests, by path from the top of the work tree.
        sessions: The sessions that it describes, by key.
        broken_lines: Number of lines that cannot be read.
    """

    files: Mapping[str, Sequence[Attestation]]
    sessions: Mapping[str, AgentSession]
    broken_lines: int = 0


@dataclass(frozen=True, slots=True)
class AttributedLines:
    """Lines with the same author: the key, first and last line, inclusive."""

    key: str
    start: int
    end: int


def parse_note(note: bytes) -> AuthorshipLog:
    """Return the authorship log in a note.

    Raises:
        InvalidNote: It is none, or of another version.
    """
    attested, divider, rest = note.decode("utf-8", "surrogateescape").partition(f"\n{_DIVIDER}\n")
    if not divider:
        if not attested.startswith(f"{_DIVIDER}\n"):  # a log that attests nothing
            raise InvalidNote("the note has no divider '---'")
        attested, rest = "", attested[len(_DIVIDER) + 1 :]
    try:
        metadata = parse_object(rest.encode("utf-8", "surrogateescape"))
    except MalformedJson as error:
        raise InvalidNote("the metadata of the note is not a JSON object") from error
    version = text(metadata, "schema_version") or ""
    if not _VERSION.fullmatch(version):
        raise InvalidNote("the version of the note is not authorship/3")
    files, broken = _parse_attestations(attested.split("\n"))
    sessions = dict(_sessions(metadata))
    return AuthorshipLog(files, sessions, broken)


def _parse_attestations(lines: Iterable[str]) -> tuple[dict[str, list[Attestation]], int]:
    files: dict[str, list[Attestation]] = {}
    broken = 0
    path: str | None = None
    for raw_line in lines:
        line = raw_line.rstrip()
        if not line:
            continue
        if not line.startswith("  "):
            quoted = len(line) > 1 and line[0] == line[-1] == '"'
            path = line[1:-1] if quoted else line
            continue
        entry = _ENTRY.fullmatch(line)
        ranges = None if entry is None else _parse_ranges(entry[2])
        if entry is None or ranges is None or path is None:
            broken += 1
        else:
            files.setdefault(path, []).append(Attestation(entry[1], ranges))
    return files, broken


def _parse_ranges(range_list: str) -> tuple[tuple[int, int], ...] | None:
    """Return the line ranges of an entry; None if one of them is invalid."""
    ranges: list[tuple[int, int]] = []
    for part in range_list.split(","):
        match = _RANGE.fullmatch(part)
        if match is None:
            return None
        start = int(match[1])
        end = start if match[2] is None else int(match[2])
        if not 1 <= start <= end:
            return None
        ranges.append((start, end))
    return tuple(ranges)


def _sessions(metadata: Members) -> Iterator[tuple[str, AgentSession]]:
    for name in ("prompts", "sessions"):
        for key, value in mapping(metadata, name).items():
            if not isinstance(value, dict) or key.startswith(_HUMAN):
                continue
            agent = mapping(value, "agent_id")
            tool, conversation = text(agent, "tool"), text(agent, "id")
            if tool and conversation:
                yield (
                    key,
                    AgentSession(
                        tool,
                        conversation,
                        text(agent, "model") or "",
                        _prompt(value) if name == "prompts" else None,
                        text(value, "messages_url"),
                    ),
                )


def _prompt(record: Members) -> str | None:
    """Return what the user wrote in a session, from the messages that old logs have."""
    asked = [
        content
        for message in objects(record.get("messages"))
        if message.get("type") == "user" and (content := text(message, "text")) and content.strip()
    ]
    return "\n\n".join(asked)[:_MAX_PROMPT] or None


def attributed_lines(attestations: Sequence[Attestation], length: int) -> list[AttributedLines]:
    """Return the AI's lines of a file, in order.

    Of several attestations of a line the last one counts, but one of a person always wins. Each
    line is looked at once, however many attestations there are.

    Args:
        attestations: Those of the file, in the order of the log.
        length: The number of lines that the file has in the commit; those beyond are left out.
    """
    keys: list[str | None] = [None] * (length + 2)
    following = list(range(length + 2))

    def free(line: int) -> int:
        """Return the first line from one on that has no author yet."""
        while following[line] != line:
            following[line] = following[following[line]]
            line = following[line]
        return line

    people = [attestation for attestation in attestations if attestation.is_human]
    others = [attestation for attestation in attestations if not attestation.is_human]
    for attestation in (*people, *reversed(others)):
        for start, end in attestation.ranges:
            line = free(min(start, length + 1))
            while line <= min(end, length):
                keys[line] = attestation.key
                following[line] = line + 1
                line = free(line + 1)
    return [
        AttributedLines(key, numbers[0], numbers[-1])
        for key, run in groupby(range(1, length + 1), lambda line: keys[line])
        if key is not None and not key.startswith(_HUMAN)
        for numbers in [list(run)]
    ]


def beyond(attestations: Sequence[Attestation], length: int) -> bool:
    """Whether attestations name lines after the end of a file.

    Then they are about another version of it: some rewrites of history keep old line numbers.
    """
    return any(end > length for attestation in attestations for _, end in attestation.ranges)

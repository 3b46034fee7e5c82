"""Recording an edit: lines or a function that an AI created, changed, removed or reviewed, with what it says about why (RFC 7.3, 7.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from vibes_lsp.anchors.create_anchors import create_anchors
from vibes_lsp.anchors.functions import find_function
from vibes_lsp.anchors.text import Text
from vibes_lsp.index.locate_annotations import locate_on_lines
from vibes_lsp.model.members import Members, texts
from vibes_lsp.model.vocabulary import Action, AssuranceLevel, ContextType, NodeType, RecordType
from vibes_lsp.recording.arguments import Function, Origin, WrongArgument
from vibes_lsp.recording.checking import check_argument
from vibes_lsp.recording.context import Draft, Node, RecordingContext, present
from vibes_lsp.recording.edges import (
    add_causes,
    add_informants,
    add_replaced,
    informants,
    latest_prompt,
    unused_reads,
)
from vibes_lsp.recording.entries import Entries
from vibes_lsp.recording.paths import required_path, source_text
from vibes_lsp.recording.results import Recorded
from vibes_lsp.recording.risk import custom_signals, risk_members
from vibes_lsp.risk.signals import CustomSignal

ACTIONS: Final = (Action.CREATE, Action.MODIFY, Action.DELETE, Action.REVIEW)
"""What an AI can have done; the other two actions are for remaps (RFC 7.9)."""


@dataclass(frozen=True, slots=True)
class Edit:
    """What happened where.

    Attributes:
        path: The file, absolute or relative to the project.
        action: What the AI did.
        lines: First and last line, 1-based and inclusive; for a function only where it cannot be found by its name.
        function: The function that the edit is about, instead of lines.
        text: The file's text, where it is not saved: after the edit, for a deletion before it. None for what is on disk.
    """

    path: str
    action: str
    lines: tuple[int, int] | None = None
    function: Function | None = None
    text: str | None = None


def annotate(situation: RecordingContext, edit: Edit, origin: Origin) -> tuple[Draft, Recorded]:
    """Return an annotation with its edges.

    Raises:
        WrongArgument: Something is missing or not what it may be.
        UnknownId: A session, a decision or something that informed the AI is named and not there.
        UnreadableFile: No text was given and the file cannot be read.
    """
    path = required_path(situation.project, edit.path)
    if edit.action not in ACTIONS:
        raise WrongArgument("action", f"is one of {', '.join(ACTIONS)}, not {edit.action!r}")
    if not situation.config.tracking.tracks(path):
        return Draft(situation.timestamp), Recorded(None, untracked=True)
    text = Text(edit.text) if edit.text is not None else source_text(situation.project, path)
    start, end = _range(edit, path, text)
    check_argument("origin", origin, Origin, within=False)
    contexts = write_contexts(situation, _with_prompt(situation, origin))
    draft = compose(
        situation, edit.action, contexts, LineSpan(path, text, start, end), edit.function
    )
    return draft, result_of(draft.records, contexts)


@dataclass(frozen=True, slots=True)
class LineSpan:
    """Lines of a text, 1-based and inclusive."""

    path: str
    text: Text
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Contexts:
    """What an annotation names, all written.

    Attributes:
        hashes: The members that name entries; None for what there is not.
        informants: What the AI had looked at.
        session_id: The session that it belongs to, if any.
        withheld: What the project leaves out.
        masked: Number of secrets masked.
        left_out: Files outside the project that were named.
        signals: What the caller says of its risk.
    """

    hashes: Mapping[str, str | None]
    informants: tuple[Node, ...] = ()
    session_id: str | None = None
    withheld: tuple[str, ...] = ()
    masked: int = 0
    left_out: tuple[str, ...] = ()
    signals: tuple[CustomSignal, ...] = ()

    def causes(self) -> list[Node | None]:
        """Return what may have triggered the edit, the nearest first; tool and model are always known."""
        prompt, command = self._entry("prompt_hash"), self._entry("command_hash")
        return [
            prompt,
            command,
            Node(self.session_id, NodeType.SESSION) if self.session_id else None,
            self._entry("environment_hash"),
        ]

    def joined(self, later: Contexts) -> Contexts:
        """Return what this and a later part of one edit name: the last that says something counts."""
        return Contexts(
            {**self.hashes, **{name: key for name, key in later.hashes.items() if key is not None}},
            tuple(dict.fromkeys((*self.informants, *later.informants))),
            later.session_id or self.session_id,
            tuple(dict.fromkeys((*self.withheld, *later.withheld))),
            max(self.masked, later.masked),
            tuple(dict.fromkeys((*self.left_out, *later.left_out))),
            later.signals or self.signals,
        )

    def _entry(self, name: str) -> Node | None:
        key = self.hashes.get(name)
        return None if key is None else Node(key, NodeType.CONTEXT)


def write_contexts(situation: RecordingContext, origin: Origin) -> Contexts:
    """Write the entries that an annotation names, and return their hashes.

    Raises:
        WrongArgument: Something is missing or not what it may be.
        UnknownId: A session, a decision or something that informed the AI is named and not there.
    """
    check_argument("origin", origin, Origin, within=False)
    entries = Entries(situation)
    signals = custom_signals(origin.signals, entries)
    environment, model = _environment(situation, entries, origin)
    decision = origin.decision
    if isinstance(decision, str) and not situation.has_entry(decision, ContextType.DECISION):
        raise WrongArgument("decision", f"no decision has the hash {decision!r}")
    nodes = informants(situation, entries, origin.informed_by)
    keeps_prompt = situation.level != AssuranceLevel.LOW
    keeps_reasoning = situation.level == AssuranceLevel.HIGH
    prompt, reasoning = origin.prompt, origin.reasoning
    known = _known_prompt(situation, origin)
    hashes = {
        "environment_hash": environment,
        "command_hash": entries.command(origin.command) if origin.command else None,
        "prompt_hash": (entries.prompt(prompt) if prompt else known) if keeps_prompt else None,
        "reasoning_hash": entries.reasoning(reasoning, model)
        if reasoning and keeps_reasoning
        else None,
        "decision_hash": entries.decision(decision)
        if decision is not None and not isinstance(decision, str)
        else decision,
    }
    if keeps_prompt:
        files = prompt.context_files if prompt else _files_of(situation, known)
        nodes += [Node(entries.read([file]), NodeType.CONTEXT) for file in entries.files(files)]
    if origin.session_id is not None:
        nodes += unused_reads(situation.trail, origin.session_id)
    keeps = (("prompt", prompt or known, keeps_prompt), ("reasoning", reasoning, keeps_reasoning))
    return Contexts(
        hashes,
        tuple(nodes),
        origin.session_id,
        tuple(name for name, given, kept in keeps if given and not kept),
        entries.masked,
        tuple(dict.fromkeys(entries.left_out)),
        signals,
    )


def compose(
    situation: RecordingContext,
    action: str,
    contexts: Contexts,
    lines: LineSpan,
    function: Function | None = None,
) -> Draft:
    """Return the annotation of some lines, or of a function that stands there, and then its edges."""
    anchors = create_anchors(lines.text, lines.start, lines.end)
    place_members: Members = (
        {
            "type": RecordType.LINE.value,
            "file_path": lines.path,
            "line_start": lines.start,
            "line_end": lines.end,
        }
        if function is None
        else {
            "type": RecordType.FUNCTION.value,
            "file_path": lines.path,
            "function_name": function.name,
            "function_signature": function.signature,
        }
    )
    draft = Draft(situation.timestamp, contexts.session_id)
    record: Members = {
        **told(place_members, action, contexts, situation.timestamp),
        "assurance_level": situation.level.value,
        **present(
            {
                "anchor_context": anchors.context,
                "anchor_hash": anchors.hash,
                "file_content_hash": anchors.file_hash,
            }
        ),
    }
    risk = risk_members(
        situation, record, (lines.end - lines.start + 1, len(lines.text.lines)), contexts.signals
    )
    annotation = add_annotation(draft, {**record, **risk}, contexts)
    if action != Action.REVIEW:
        known = situation.whereabouts.of(lines.path, lines.text)
        older = locate_on_lines(
            situation.trail, lines.path, lines.text, (lines.start, lines.end), known
        )
        add_replaced(
            draft,
            annotation,
            older,
            kind=str(place_members["type"]),
            start=lines.start,
            end=lines.end,
        )
    return draft


def told(place: Members, action: str, contexts: Contexts, timestamp: str) -> Members:
    """Return what an annotation says of where, what, by whom and when; not what was measured in the text."""
    return {
        **present({**place, **contexts.hashes}),
        "action": str(action),
        "timestamp": timestamp,
        "commit_hash": None,  # until it is committed (R4)
        **present({"session_id": contexts.session_id}),
    }


def add_annotation(draft: Draft, record: Members, contexts: Contexts) -> Node:
    """Add an annotation with the edges that say what it came from.

    Raises:
        WrongArgument: It is not what the RFC asks for.
    """
    annotation = Node(draft.add(record), NodeType.ANNOTATION)
    add_causes(draft, annotation, contexts.causes())
    add_informants(draft, annotation, contexts.informants)
    return annotation


def result_of(records: Sequence[Members], contexts: Contexts) -> Recorded:
    """Return the result for an annotation and the edges that follow it."""
    ids = [str(record["annotation_id"]) for record in records]
    unscored = (
        contexts.signals and "risk_factors" not in records[0]
    )  # the project scores no risk, or weighs nothing
    return Recorded(
        ids[0],
        tuple(ids[1:]),
        dict(records[0]),
        masked=contexts.masked,
        withheld=(*contexts.withheld, *(("signals",) if unscored else ())),
        left_out=contexts.left_out,
    )


def _with_prompt(situation: RecordingContext, origin: Origin) -> Origin:
    """Return an origin that names the session's latest prompt, unless it says itself what was asked (RFC 9.1)."""
    if origin.prompt is not None or origin.prompt_hash is not None or origin.session_id is None:
        return origin
    if situation.level == AssuranceLevel.LOW:
        return origin
    return replace(origin, prompt_hash=latest_prompt(situation.trail, origin.session_id))


def _known_prompt(situation: RecordingContext, origin: Origin) -> str | None:
    if origin.prompt_hash is None:
        return None
    if origin.prompt is not None:
        raise WrongArgument("prompt_hash", "is given beside a prompt; give one of them")
    if not situation.has_entry(origin.prompt_hash, ContextType.PROMPT):
        raise WrongArgument("prompt_hash", f"no prompt has the hash {origin.prompt_hash!r}")
    return origin.prompt_hash


def _files_of(situation: RecordingContext, prompt: str | None) -> list[str]:
    """Return the files that a recorded prompt was given with."""
    entry = None if prompt is None else situation.entry_of(prompt)
    return list(texts(entry or {}, "prompt_context_files"))


def _environment(situation: RecordingContext, entries: Entries, origin: Origin) -> tuple[str, str]:
    """Return the hash of the environment and the name of its model."""
    session = None if origin.session_id is None else situation.session(origin.session_id)
    if origin.tool is not None and origin.model is not None:
        return entries.environment(origin.tool, origin.model), origin.model.name
    if (origin.tool is None) != (origin.model is None):
        raise WrongArgument(
            "model" if origin.model is None else "tool",
            "is required, as tool and model are given together",
        )
    if session is None:
        raise WrongArgument("session_id", "is required, or tool and model instead of it")
    environment = situation.environment_of(session)
    name = (situation.entry_of(environment) or {}).get("model_name")
    return environment, name if isinstance(name, str) else "unknown"


def _range(edit: Edit, path: str, text: Text) -> tuple[int, int]:
    """Return the lines that an edit is about."""
    lines = edit.lines
    if lines is None and edit.function is not None:
        found = find_function(text, path, edit.function.name, edit.function.signature)
        if found is None:
            raise WrongArgument(
                "function", f"{edit.function.name!r} is not found in {path}; give its lines as well"
            )
        lines = found.start, found.end
    if lines is None:
        raise WrongArgument("line_start", "is required, or a function")
    start, end = lines
    if not 1 <= start <= end <= len(text.lines):
        raise WrongArgument(
            "line_start", f"lines {start} to {end} are not in {path}, which has {len(text.lines)}"
        )
    return start, end

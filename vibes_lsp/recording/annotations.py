"""Record an edit: lines or a function that an AI created, changed, removed or reviewed (RFC 7.3).

The annotation gets the entries that it names, its anchors, its risk and its edges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.functions import find_function
from vibes_lsp.anchors.line_hashes import join_hashes
from vibes_lsp.anchors.text import Text, encode
from vibes_lsp.model.members import Members, mapping, text, texts
from vibes_lsp.model.vocabulary import (
    Action,
    AssuranceLevel,
    ContextType,
    EdgeType,
    NodeType,
    RecordType,
)
from vibes_lsp.placing.live_risk import prompt_length, temperature_of
from vibes_lsp.placing.locate_annotations import locate_on_lines
from vibes_lsp.recording.arguments import Function, WrongArgument
from vibes_lsp.recording.context import Draft, Node, RecordingContext, present
from vibes_lsp.recording.edges import (
    add_replaced,
    answers_about,
    informants,
    latest_prompt,
    unused_reads,
)
from vibes_lsp.recording.entries import Entries, lines_with_secrets
from vibes_lsp.recording.paths import requested_text, required_path
from vibes_lsp.recording.requests import Origin, RecordAnnotation
from vibes_lsp.recording.results import HIDDEN, Recorded
from vibes_lsp.risk.scoring import compute_score
from vibes_lsp.risk.signals import CustomSignal, Measurements, factors_as_recorded
from vibes_lsp.store.kept_texts import keep_text

_SCORE_DIGITS: Final = 4


def record_annotation(
    context: RecordingContext, request: RecordAnnotation, *, evidence: str | None = None
) -> tuple[Draft, Recorded]:
    """Return an annotation with its edges.

    Args:
        context: The trail.
        request: The edit.
        evidence: What the edit is known by, if by less than a report of it (R32).

    Raises:
        WrongArgument: An argument does not fit the file or the trail.
        UnknownId: A session, a decision or an informant is not in the trail.
        UnreadableFile: No text was given and the file cannot be read.
    """
    path = required_path(context.project, request.required_path)
    if not context.config.tracking.tracks(path):
        return Draft(context.timestamp), Recorded(None, untracked=True)
    source = requested_text(context.project, path, request.text)
    start, end = _range(request, path, source)
    contexts = write_contexts(context, request, prompt_hash=_prompt_hash(context, request))
    span = LineSpan(path, source, start, end)
    draft = draft_annotation(
        context, request.action, contexts, span, request.function, evidence=evidence
    )
    return draft, recorded(draft.records, contexts)


@dataclass(frozen=True, slots=True)
class LineSpan:
    """Lines of a text, 1-based and inclusive."""

    path: str
    text: Text
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Contexts:
    """What an annotation refers to; the entries are written.

    Attributes:
        hashes: The members that name entries; None where there is no entry.
        informants: What the AI had read.
        session_id: The annotation's session, if any.
        withheld: What the project's assurance level leaves out.
        masked: Number of secrets masked.
        left_out: Files outside the project that were named.
        signals: The caller's risk signals.
    """

    hashes: Mapping[str, str | None]
    informants: tuple[Node, ...] = ()
    session_id: str | None = None
    withheld: tuple[str, ...] = ()
    masked: int = 0
    left_out: tuple[str, ...] = ()
    signals: tuple[CustomSignal, ...] = ()

    @property
    def cause(self) -> Node | None:
        """The nearest cause of the edit."""
        session = Node(self.session_id, NodeType.SESSION) if self.session_id else None
        nearer = self._entry("prompt_hash") or self._entry("command_hash")
        return nearer or session or self._entry("environment_hash")

    def merged(self, later: Contexts) -> Contexts:
        """Return the contexts of this and a later part of one edit; the later value wins."""
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


def write_contexts(
    context: RecordingContext, origin: Origin, *, prompt_hash: str | None = None
) -> Contexts:
    """Write the entries that an annotation refers to.

    Args:
        context: The trail.
        origin: Who wrote the edit, and why.
        prompt_hash: The prompt of an origin that has none.

    Raises:
        WrongArgument: Something is missing, or a hash names no entry of its type.
        UnknownId: A session or an informant is not in the trail.
    """
    entries = Entries(context)
    environment, model = _environment(context, entries, origin)
    decision = origin.decision
    if isinstance(decision, str) and not context.has_entry(decision, ContextType.DECISION):
        raise WrongArgument("decision", f"no decision has the hash {decision!r}")
    nodes = informants(context, entries, origin.informed_by)
    keeps_prompt = context.level != AssuranceLevel.LOW
    keeps_reasoning = context.level == AssuranceLevel.HIGH
    prompt, reasoning = origin.prompt, origin.reasoning
    known = _recorded_prompt(context, origin, origin.prompt_hash or prompt_hash)
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
        files = prompt.context_files if prompt else _files_of(context, known)
        nodes += [Node(entries.read([file]), NodeType.CONTEXT) for file in entries.files(files)]
    if origin.session_id is not None:
        nodes += unused_reads(context.trail, origin.session_id)
    keeps = (("prompt", prompt or known, keeps_prompt), ("reasoning", reasoning, keeps_reasoning))
    signals = tuple(
        CustomSignal(signal.signal, signal.value, entries.clean_or_none(signal.reason))
        for signal in origin.signals
    )
    return Contexts(
        hashes,
        tuple(nodes),
        origin.session_id,
        tuple(name for name, value, kept in keeps if value and not kept),
        entries.masked,
        tuple(dict.fromkeys(entries.left_out)),
        signals,
    )


def draft_annotation(
    context: RecordingContext,
    action: str,
    contexts: Contexts,
    span: LineSpan,
    function: Function | None = None,
    *,
    evidence: str | None = None,
) -> Draft:
    """Return the annotation of lines, or of the function on them, followed by its edges."""
    anchors = context.anchors(span.path, span.text, span.start, span.end)
    if anchors.file_hash is not None:
        keep_text(context.trail.directory, anchors.file_hash, encode(span.text.content))
    place_members: Members = (
        {
            "type": RecordType.LINE.value,
            "file_path": span.path,
            "line_start": span.start,
            "line_end": span.end,
        }
        if function is None
        else {
            "type": RecordType.FUNCTION.value,
            "file_path": span.path,
            "function_name": function.name,
            "function_signature": function.signature if anchors.hash is not None else None,
        }
    )
    draft = Draft(context.timestamp, contexts.session_id)
    record: Members = {
        **unmeasured_members(place_members, action, contexts, context.timestamp),
        "assurance_level": context.level.value,
        **present(
            {
                "anchor_context": anchors.context,
                "anchor_hash": anchors.hash,
                "file_content_hash": anchors.file_hash,
                "line_hashes": None if evidence else _line_hashes(context, action, anchors, span),
                "evidence": evidence,
            }
        ),
    }
    risk = _risk_members(
        context, record, (span.end - span.start + 1, len(span.text.lines)), contexts.signals
    )
    session = contexts.session_id
    answers = [] if session is None else answers_about(context.trail, session, span.path)
    informants = (*contexts.informants, *answers)
    annotation = add_annotation(draft, {**record, **risk}, replace(contexts, informants=informants))
    if action != Action.REVIEW:
        older = locate_on_lines(context.trail, span.path, span.text, (span.start, span.end))
        add_replaced(
            draft,
            annotation,
            older,
            kind=str(place_members["type"]),
            start=span.start,
            end=span.end,
        )
    return draft


def _line_hashes(
    context: RecordingContext, action: str, anchors: Anchors, span: LineSpan
) -> str | None:
    """Return the hashes of what an edit wrote or removed (R32); None where anchors are withheld."""
    if anchors.hash is None or action == Action.REVIEW:
        return None
    lines = span.text.lines[span.start - 1 : span.end]
    return join_hashes(lines, lines_with_secrets(context, lines))


def unmeasured_members(place: Members, action: str, contexts: Contexts, timestamp: str) -> Members:
    """Return the members of an annotation that do not follow from the text."""
    return {
        **present({**place, **contexts.hashes}),
        "action": str(action),
        "timestamp": timestamp,
        "commit_hash": None,  # until it is committed (R4)
        **present({"session_id": contexts.session_id}),
    }


def add_annotation(draft: Draft, record: Members, contexts: Contexts) -> Node:
    """Add an annotation with the edges to its cause and its informants.

    Raises:
        WrongArgument: The record violates the RFC.
    """
    annotation = Node(draft.add(record), NodeType.ANNOTATION)
    cause = contexts.cause
    if cause is not None:
        draft.edge(EdgeType.CAUSED_BY, annotation, cause)
    for informant in contexts.informants:
        draft.edge(EdgeType.INFORMED_BY, annotation, informant)
    return annotation


def recorded(records: Sequence[Members], contexts: Contexts) -> Recorded:
    """Return the result for an annotation and the edges that follow it."""
    ids = [str(record["annotation_id"]) for record in records]
    # The project does not score risk, or its policy gives these signals no weight.
    unscored = contexts.signals and "risk_factors" not in records[0]
    withheld = ("signals",) if unscored else ()
    if "anchor_hash" not in records[0]:
        withheld = (*withheld, HIDDEN)
    return Recorded(
        ids[0],
        tuple(ids[1:]),
        dict(records[0]),
        masked=contexts.masked,
        withheld=(*contexts.withheld, *withheld),
        left_out=contexts.left_out,
    )


def _prompt_hash(context: RecordingContext, origin: Origin) -> str | None:
    """Return the session's latest prompt for an origin that names none (RFC 9.1)."""
    if origin.prompt is not None or origin.prompt_hash is not None or origin.session_id is None:
        return None
    if context.level == AssuranceLevel.LOW:
        return None
    return latest_prompt(context.trail, origin.session_id)


def _recorded_prompt(context: RecordingContext, origin: Origin, key: str | None) -> str | None:
    if key is None:
        return None
    if origin.prompt is not None:
        raise WrongArgument("prompt_hash", "must not be given together with a prompt")
    if not context.has_entry(key, ContextType.PROMPT):
        raise WrongArgument("prompt_hash", f"no prompt has the hash {key!r}")
    return key


def _files_of(context: RecordingContext, prompt: str | None) -> list[str]:
    """Return the context files of a recorded prompt."""
    entry = None if prompt is None else context.entry_of(prompt)
    return list(texts(entry or {}, "prompt_context_files"))


def _environment(context: RecordingContext, entries: Entries, origin: Origin) -> tuple[str, str]:
    """Return the hash of the environment and the name of its model."""
    session = None if origin.session_id is None else context.session(origin.session_id)
    if origin.tool is not None and origin.model is not None:
        return entries.environment(origin.tool, origin.model), origin.model.name
    if (origin.tool is None) != (origin.model is None):
        raise WrongArgument(
            "model" if origin.model is None else "tool",
            "is required, as tool and model are given together",
        )
    if session is None:
        raise WrongArgument("session_id", "is required, or tool and model instead of it")
    environment = context.environment_of(session)
    name = (context.entry_of(environment) or {}).get("model_name")
    return environment, name if isinstance(name, str) else "unknown"


def _range(request: RecordAnnotation, path: str, source: Text) -> tuple[int, int]:
    """Return the lines that an edit is about."""
    lines, function = request.lines, request.function
    if lines is None and function is not None:
        match = find_function(source, path, function.name, function.signature)
        if match is None:
            raise WrongArgument(
                "function", f"{function.name!r} is not found in {path}; give its lines as well"
            )
        lines = match.start, match.end
    if lines is None:
        raise WrongArgument("line_start", "is required, or a function")
    start, end = lines
    if not 1 <= start <= end <= len(source.lines):
        raise WrongArgument(
            "line_start", f"lines {start} to {end} are not in {path}, which has {len(source.lines)}"
        )
    return start, end


def _risk_members(
    context: RecordingContext,
    record: Members,
    lines: tuple[int, int],
    custom: tuple[CustomSignal, ...],
) -> Members:
    """Return the risk members (RFC 10.4.4, R21); none while the project scores no risk (R27).

    Args:
        context: The trail and its policy.
        record: The annotation so far.
        lines: How many lines the edit has, and how many the file has.
        custom: The caller's own signals.
    """
    policy = context.config.policy
    if not policy.computes_scores:
        return {}
    environment = _entry(context, text(record, "environment_hash"))
    session, path = text(record, "session_id"), text(record, "file_path") or ""
    score = compute_score(
        Measurements(
            temperature=temperature_of(mapping(environment, "model_parameters")),
            action=text(record, "action"),
            lines=lines[0],
            total_lines=lines[1],
            files=len(context.trail.files_of_session(session) | {path}) if session else None,
            level=context.level.value,
            prompt=prompt_length(_entry(context, text(record, "prompt_hash"))),
            model=text(environment, "model_name"),
            custom=custom,
        ),
        policy,
    )
    if score is None:
        return {}
    return {
        "risk_score": round(score.value, _SCORE_DIGITS),
        "risk_factors": factors_as_recorded(score.factors),
    }


def _entry(context: RecordingContext, key: str | None) -> Members:
    return ({} if key is None else context.entry_of(key)) or {}

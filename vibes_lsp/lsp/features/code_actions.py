"""Code actions at an annotation or claim: review it, correct its location, show more about it.

No action edits text; each runs one command. An automatic request gets only actions that resolve
a diagnostic.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from lsprotocol import types

from vibes_lsp.anchors.location import State
from vibes_lsp.lsp.documents.knowledge_texts import proposal_text
from vibes_lsp.lsp.protocol.conversion import lines_of, to_characters
from vibes_lsp.lsp.protocol.extensions import (
    CLIENT_KB_CONTRADICT,
    CLIENT_KB_PROPOSE,
    CLIENT_KB_REJECT,
    CLIENT_KB_SUPERSEDE,
    CLIENT_REJECT_WITH_NOTE,
    CommandName,
    has_client_command,
)
from vibes_lsp.lsp.state.knowledge_bases import DocumentKnowledge, PlacedCitation
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot, owns_line
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.vocabulary import Action, RecordType, Verdict
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.placements import describe_edit, describe_lines, lsp_range

REVIEW: Final = "vibes.review"
CORRECT: Final = "vibes.correct"
SHOW: Final = "vibes.show"
KNOWLEDGE: Final = "vibes.knowledge"
_RESOLVED: Final = ("text_document", "code_action", "resolve_support", "properties")
_QUICK_FIX: Final = types.CodeActionKind.QuickFix.value
_KINDS: Final = (_QUICK_FIX, REVIEW, CORRECT, SHOW, KNOWLEDGE)
_MAX_PLACEMENTS: Final = 50
_MAX_LOST: Final = 3
_MAX_CITATIONS: Final = 8
_TEXT: Final = 50
_WRITING: Final = frozenset(
    {
        CommandName.REVIEW,
        CommandName.REANCHOR,
        CommandName.MARK_LOST,
        CLIENT_REJECT_WITH_NOTE,
        CommandName.KB,
        CommandName.KB_REANCHOR,
    }
)


def register(server: Server) -> None:
    """Answer `textDocument/codeAction` and `codeAction/resolve`."""

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=list(_KINDS), resolve_provider=True),
    )
    async def actions(
        ls: Server, params: types.CodeActionParams
    ) -> list[types.Command | types.CodeAction]:
        if not ls.settings.code_actions:
            return []
        knowledge = await ls.knowledge.about(params.text_document.uri)
        snapshot = ls.projects.snapshot(params.text_document.uri)
        if snapshot is not None and snapshot.trail.is_indexing:
            if params.context.trigger_kind == types.CodeActionTriggerKind.Automatic:
                return []  # there are no diagnostics to resolve yet
            await ls.projects.until_indexed([params.text_document.uri])
            snapshot = ls.projects.snapshot(params.text_document.uri)
        is_selection = _selects_lines(ls, params)
        offered = (
            [] if snapshot is None else list(_Actions(ls, snapshot, params, is_selection).all())
        )
        if knowledge is not None:
            offered += _KnowledgeActions(ls, knowledge, params, is_selection).all()
        requested = [action for action in offered if _is_requested(action, params.context)]
        if "command" in (ls.declared(*_RESOLVED) or ()):
            return list(requested)
        resolved = [_with_command(action) for action in requested]
        if ls.declared("text_document", "code_action", "code_action_literal_support") is None:
            return [action.command for action in resolved if action.command is not None]
        return list(resolved)

    @server.feature(types.CODE_ACTION_RESOLVE)
    def resolve(_ls: Server, action: types.CodeAction) -> types.CodeAction:
        return _with_command(action)


def _selects_lines(ls: Server, params: types.CodeActionParams) -> bool:
    """Whether a range selects lines: several, or all text of one.

    A part of a line is where the cursor is: Helix always selects a character, or the line break.
    """
    document = ls.documents.get(params.text_document.uri)
    start, end = params.range.start, params.range.end
    if document is None or start == end:
        return False
    line = next(iter(document.lines(start.line + 1, start.line + 1)), "")
    first = to_characters(line, start.character, ls.documents.encoding)
    if end.line > start.line:
        return bool(line[first:].strip()) or end != types.Position(start.line + 1, 0)
    selected = line[first : to_characters(line, end.character, ls.documents.encoding)].strip()
    return bool(selected) and selected == line.strip()


@dataclass(frozen=True, slots=True)
class _Actions:
    """The code actions at a range.

    Attributes:
        ls: The server.
        snapshot: The document.
        params: What the client asks.
        is_selection: Whether a person selected the lines.
    """

    ls: Server
    snapshot: DocumentSnapshot
    params: types.CodeActionParams
    is_selection: bool

    def all(self) -> Iterator[types.CodeAction]:
        first, last = lines_of(self.params.range)
        placements = [
            placement
            for placement in self.snapshot.placements
            if not placement.is_history and placement.located.touches(first, last)
        ][:_MAX_PLACEMENTS]
        placements.sort(
            key=lambda placement: (
                not owns_line(placement, first),
                not placement.is_claim,
                placement.located.start or 0,
            )
        )
        reviewable = [
            placement for placement in placements if placement.is_claim and not placement.is_guess
        ]
        if reviewable:
            yield from self._reviews(reviewable)
        if placements and placements[0].is_claim:
            yield from self._corrections(placements[0])
        if self.is_selection:
            yield from self._reanchor_lost()
        if placements:
            yield from self._shows(placements[0])

    def _reviews(self, placements: Sequence[Placement]) -> Iterator[types.CodeAction]:
        count = f": {len(placements)} annotations" if len(placements) > 1 else ""
        verdicts = {_current_verdict(self.snapshot, placement) for placement in placements}
        subject = {
            "uri": self.snapshot.uri,
            "annotationIds": [placement.current.id for placement in placements],
        }
        approved = {**subject, "verdict": Verdict.APPROVED.value}
        rejected = {**subject, "verdict": Verdict.REJECTED.value}
        risks = _problems(self.params, "risk-")
        if verdicts != {Verdict.APPROVED}:
            kind = _QUICK_FIX if risks else REVIEW
            yield _action(f"Mark reviewed{count}", kind, CommandName.REVIEW, approved, risks)
        if verdicts != {Verdict.REJECTED}:
            if has_client_command(self.ls.client_capabilities, CLIENT_REJECT_WITH_NOTE):
                name = f"Reject with note…{count}"
                yield _action(name, REVIEW, CLIENT_REJECT_WITH_NOTE, rejected)
            else:
                yield _action(f"Reject{count}", REVIEW, CommandName.REVIEW, rejected)
        file = {"uri": self.snapshot.uri, "verdict": Verdict.APPROVED.value, "scope": "file"}
        yield _action("Mark reviewed: whole file", REVIEW, CommandName.REVIEW, file)
        for scope, member in (("prompt", "prompt_hash"), ("session", "session_id")):
            if any(placement.current.text(member) is not None for placement in placements):
                name = f"Mark reviewed: all of this {scope}"
                yield _action(name, REVIEW, CommandName.REVIEW, {**approved, "scope": scope})

    def _corrections(self, placement: Placement) -> Iterator[types.CodeAction]:
        located = placement.located
        if placement.current.type != RecordType.LINE or placement.lineage.action == Action.DELETE:
            return
        first, last = located.start or 1, located.end or 1
        if self.is_selection:
            first, last = lines_of(self.params.range)
        if not located.sure:
            yield self._reanchor(placement, "Re-anchor here", first, last)
        if located.is_doubtful:
            yield _action("Mark lost", CORRECT, CommandName.MARK_LOST, self._argument(placement))

    def _reanchor_lost(self) -> Iterator[types.CodeAction]:
        """Offer lost annotations for the selected lines: they have none of their own."""
        lost = [
            placement
            for placement in self.snapshot.placements
            if placement.located.state == State.LOST
            and placement.is_claim
            and placement.may_own_lines
        ]
        for placement in lost[-_MAX_LOST:]:
            name = f"{single_line(describe_edit(placement), 40)} {placement.current.id[:8]}"
            yield self._reanchor(
                placement, f"Re-anchor here: lost {name}", *lines_of(self.params.range)
            )

    def _reanchor(self, placement: Placement, name: str, first: int, last: int) -> types.CodeAction:
        lines = _lines(self.snapshot.uri, self.snapshot.version, first, last)
        title = f"{name} ({describe_lines(first, last)})"
        arguments = {**lines, **self._argument(placement)}
        return _action(title, CORRECT, CommandName.REANCHOR, arguments)

    def _shows(self, placement: Placement) -> Iterator[types.CodeAction]:
        argument = self._argument(placement)
        if self.ls.settings.show_prompts and self.snapshot.report.prompt(placement) is not None:
            yield _action("Show prompt", SHOW, CommandName.SHOW_PROMPT, argument)
        yield _action("Show history", SHOW, CommandName.SHOW_HISTORY, argument)
        yield _action("Open audit record", SHOW, CommandName.OPEN_RECORD, argument)
        file = {"uri": self.snapshot.uri, "show": True}
        yield _action("Show AI changes since HEAD", SHOW, CommandName.CHANGES, file)

    def _argument(self, placement: Placement) -> dict[str, Any]:
        return {"uri": self.snapshot.uri, "annotationId": placement.current.id}


@dataclass(frozen=True, slots=True)
class _KnowledgeActions:
    """What can be done about claims at a range, also in files without a trail.

    Attributes:
        ls: The server.
        knowledge: What the knowledge base says about the document.
        params: What the client asks.
        is_selection: Whether a person selected the lines.
    """

    ls: Server
    knowledge: DocumentKnowledge
    params: types.CodeActionParams
    is_selection: bool

    def all(self) -> Iterator[types.CodeAction]:
        """Yield the actions: what is at the lines first, then what can be added."""
        if self.knowledge.is_of_knowledge_base:
            yield from self._of_file()
            return
        here = self.knowledge.at(*lines_of(self.params.range))[:_MAX_CITATIONS]
        proposals = dict.fromkeys(
            proposal_id for placed in here for proposal_id in placed.citation.proposals
        )
        for identifier in list(proposals)[:_MAX_CITATIONS]:
            yield from self._decisions(identifier)
        for placed in here:
            if not placed.is_as_quoted:
                yield from self._reanchor(placed, "")
        claims = dict.fromkeys(claim_id for placed in here for claim_id in placed.citation.claims)
        for identifier in list(claims)[:_MAX_CITATIONS]:
            yield from self._changes(identifier)
        if self.is_selection:
            lost = [
                placed_citation
                for placed_citation in self.knowledge.placed
                if placed_citation.located.start is None
            ]
            for placed in lost[:_MAX_LOST]:
                yield from self._reanchor(placed, " lost")
        if self._can(CLIENT_KB_PROPOSE):
            name = "Propose a claim about the selection…"
            title = name if self.is_selection else "Propose a claim about this line…"
            yield _action(title, KNOWLEDGE, CLIENT_KB_PROPOSE, self._lines())

    def _of_file(self) -> Iterator[types.CodeAction]:
        """Yield what can be done about the object of a file of the knowledge base."""
        folder, _, name = self.knowledge.path.removeprefix(".vouch/").partition("/")
        identifier = name.rpartition(".")[0]
        if folder == "proposed":
            yield from self._decisions(identifier)
        elif folder == "claims":
            yield from self._changes(identifier)

    def _decisions(self, identifier: str) -> Iterator[types.CodeAction]:
        proposal = self.knowledge.snapshot.proposal(identifier)
        if proposal is None:
            return
        text = _quoted(proposal_text(proposal))
        yield self._call(f"Approve: {text}", "kb.approve", proposal_id=identifier)
        if self._can(CLIENT_KB_REJECT):
            arguments = {"uri": self.knowledge.uri, "proposalId": identifier}
            yield _action(f"Reject with reason…: {text}", KNOWLEDGE, CLIENT_KB_REJECT, arguments)

    def _changes(self, identifier: str) -> Iterator[types.CodeAction]:
        claim = self.knowledge.snapshot.claim(identifier)
        if claim is None:
            return
        text = _quoted(claim["text"])
        yield self._call(f"Confirm claim: {text}", "kb.confirm", id=identifier)
        for verb, command in (
            ("Supersede", CLIENT_KB_SUPERSEDE),
            ("Contradict", CLIENT_KB_CONTRADICT),
        ):
            if self._can(command):
                arguments = {**self._lines(), "claimId": identifier}
                yield _action(f"{verb} claim…: {text}", KNOWLEDGE, command, arguments)
        yield self._call(f"Archive claim: {text}", "kb.archive", id=identifier)

    def _reanchor(self, placed: PlacedCitation, state: str) -> Iterator[types.CodeAction]:
        """Yield new evidence on the selected lines, else where the old is now."""
        start, end = placed.located.start, placed.located.end
        is_given = self.is_selection or start is None or end is None
        first, last = lines_of(self.params.range) if is_given else (start or 1, end or 1)
        resolved = _problems(self.params, f"evidence-{placed.located.state.value}")
        kind = _QUICK_FIX if resolved else KNOWLEDGE
        for identifier in placed.citation.claims:
            claim = self.knowledge.snapshot.claim(identifier)
            if claim is not None:
                title = f"Re-anchor{state} evidence of {_quoted(claim['text'])}"
                evidence = {"claimId": identifier, "evidenceId": placed.citation.evidence["id"]}
                yield _action(
                    f"{title} ({describe_lines(first, last)})",
                    kind,
                    CommandName.KB_REANCHOR,
                    {**self._lines(first, last), **evidence},
                    resolved,
                )

    def _call(self, title: str, method: str, **params: str) -> types.CodeAction:
        arguments = {"uri": self.knowledge.uri, "method": method, "params": params}
        return _action(title, KNOWLEDGE, CommandName.KB, arguments)

    def _lines(self, *lines: int) -> dict[str, Any]:
        """Return the argument for some lines, by default those of the request."""
        first, last = lines or lines_of(self.params.range)
        return _lines(self.knowledge.uri, self.knowledge.version, first, last)

    def _can(self, command: str) -> bool:
        return has_client_command(self.ls.client_capabilities, command)


def _quoted(text: object) -> str:
    """Return untrusted text for a title, which some clients would draw icons in."""
    return f"“{single_line(text, _TEXT)}”".replace("$(", "$ (")


def _problems(params: types.CodeActionParams, code: str) -> list[types.Diagnostic]:
    """Return the diagnostics of this server that an action may resolve, by the start of a code."""
    return [
        diagnostic
        for diagnostic in params.context.diagnostics
        if diagnostic.source == "vibes" and str(diagnostic.code).startswith(code)
    ]


def _lines(uri: str, version: int | None, first: int, last: int) -> dict[str, Any]:
    """Return the argument for lines of a document, in its version if it is open."""
    lines = {"uri": uri, "range": lsp_range(first, last)}
    return lines if version is None else {**lines, "version": version}


def _current_verdict(snapshot: DocumentSnapshot, placement: Placement) -> str | None:
    """Return the verdict of a person on the current text; None when there is none."""
    review = snapshot.report.review(placement)
    if review is None or review["kind"] != "human" or review["stale"]:
        return None
    return str(review["verdict"])


def _is_requested(action: types.CodeAction, context: types.CodeActionContext) -> bool:
    if context.only is None:
        is_automatic = context.trigger_kind == types.CodeActionTriggerKind.Automatic
        return not is_automatic or bool(action.diagnostics)
    kinds = [
        kind.value if isinstance(kind, types.CodeActionKind) else kind for kind in context.only
    ]
    return any(not kind or f"{action.kind}.".startswith(f"{kind}.") for kind in kinds)


def _action(
    title: str,
    kind: str,
    command: str,
    arguments: dict[str, Any],
    diagnostics: Sequence[types.Diagnostic] = (),
) -> types.CodeAction:
    """Return an action; `_with_command` gives it the command that its data names."""
    data = {"command": str(command), "arguments": arguments}
    return types.CodeAction(title, kind, list(diagnostics) or None, data=data)


def _with_command(action: types.CodeAction) -> types.CodeAction:
    """Add the command of an action; one that writes gets a request id, so that it is idempotent."""
    members = action.data if isinstance(action.data, dict) else {}
    command, arguments = members.get("command"), members.get("arguments")
    if isinstance(command, str) and isinstance(arguments, dict):
        request = {"requestId": str(uuid4())} if command in _WRITING else {}
        action.command = types.Command(action.title, command, arguments=[{**arguments, **request}])
    return action

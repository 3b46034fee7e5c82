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
from vibes_lsp.lsp.conversion import lines_of, range_members, to_characters
from vibes_lsp.lsp.extensions import CLIENT_REJECT_WITH_NOTE, CommandName, has_client_command
from vibes_lsp.lsp.knowledge_actions import KnowledgeActions
from vibes_lsp.lsp.placed_evidence import DocumentKnowledge
from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.snapshots import DocumentSnapshot, owns_line
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.vocabulary import Action, RecordType, Verdict
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.placements import describe_edit, describe_lines

REVIEW: Final = "vibes.review"
CORRECT: Final = "vibes.correct"
SHOW: Final = "vibes.show"
KNOWLEDGE: Final = "vibes.knowledge"
_QUICK_FIX: Final = types.CodeActionKind.QuickFix.value
_KINDS: Final = (_QUICK_FIX, REVIEW, CORRECT, SHOW, KNOWLEDGE)
_MAX_PLACEMENTS: Final = 50
_MAX_LOST: Final = 3
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


@dataclass(frozen=True, slots=True)
class _Action:
    """A code action before it is encoded for the client."""

    title: str
    kind: str
    command: str
    arguments: dict[str, Any]
    diagnostics: Sequence[types.Diagnostic] = ()


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
        found = [] if snapshot is None else list(_Actions(ls, snapshot, params, is_selection).all())
        if knowledge is not None:
            found += _knowledge_actions(ls, knowledge, params, is_selection)
        requested = [each for each in found if _is_requested(each, params.context)]
        if ls.declared("text_document", "code_action", "code_action_literal_support") is None:
            return [_command(each) for each in requested]
        return [_code_action(ls, each) for each in requested]

    @server.feature(types.CODE_ACTION_RESOLVE)
    def resolve(_ls: Server, action: types.CodeAction) -> types.CodeAction:
        data = action.data if isinstance(action.data, dict) else {}
        command, arguments = data.get("command"), data.get("arguments")
        if isinstance(command, str) and isinstance(arguments, dict):
            action.command = _run(action.title, command, arguments)
        return action


def _knowledge_actions(
    ls: Server,
    knowledge: DocumentKnowledge,
    params: types.CodeActionParams,
    is_selection: bool,  # noqa: FBT001
) -> Iterator[_Action]:
    """Yield what can be done about claims, also in files without a trail."""
    actions = KnowledgeActions(
        knowledge, ls.client_capabilities, *lines_of(params.range), is_selection
    )
    for each in actions.all():
        resolved = [
            diagnostic
            for diagnostic in params.context.diagnostics
            if diagnostic.source == "vibes" and diagnostic.code == each.resolves
        ]
        kind = _QUICK_FIX if resolved else KNOWLEDGE
        yield _Action(each.title, kind, each.command, each.arguments, resolved)


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

    def all(self) -> Iterator[_Action]:
        first, last = lines_of(self.params.range)
        placements = [
            each
            for each in self.snapshot.placements
            if not each.is_history and each.located.touches(first, last)
        ][:_MAX_PLACEMENTS]
        placements.sort(
            key=lambda each: (
                not owns_line(each, first),
                not each.is_claim,
                each.located.start or 0,
            )
        )
        reviewable = [each for each in placements if each.is_claim and not each.is_guess]
        if reviewable:
            yield from self._reviews(reviewable)
        if placements and placements[0].is_claim:
            yield from self._corrections(placements[0])
        if self.is_selection:
            yield from self._reanchor_lost()
        if placements:
            yield from self._shows(placements[0])

    def _reviews(self, placements: Sequence[Placement]) -> Iterator[_Action]:
        count = f": {len(placements)} annotations" if len(placements) > 1 else ""
        verdicts = {_current_verdict(self.snapshot, each) for each in placements}
        these = {
            "uri": self.snapshot.uri,
            "annotationIds": [each.current.id for each in placements],
        }
        approved = {**these, "verdict": Verdict.APPROVED.value}
        rejected = {**these, "verdict": Verdict.REJECTED.value}
        risks = [
            each
            for each in self.params.context.diagnostics
            if each.source == "vibes" and str(each.code).startswith("risk-")
        ]
        if verdicts != {Verdict.APPROVED}:
            kind = _QUICK_FIX if risks else REVIEW
            yield _Action(f"Mark reviewed{count}", kind, CommandName.REVIEW, approved, risks)
        if verdicts != {Verdict.REJECTED}:
            if has_client_command(self.ls.client_capabilities, CLIENT_REJECT_WITH_NOTE):
                name = f"Reject with note…{count}"
                yield _Action(name, REVIEW, CLIENT_REJECT_WITH_NOTE, rejected)
            else:
                yield _Action(f"Reject{count}", REVIEW, CommandName.REVIEW, rejected)
        file = {"uri": self.snapshot.uri, "verdict": Verdict.APPROVED.value, "scope": "file"}
        yield _Action("Mark reviewed: whole file", REVIEW, CommandName.REVIEW, file)
        for scope, member in (("prompt", "prompt_hash"), ("session", "session_id")):
            if any(each.current.text(member) is not None for each in placements):
                name = f"Mark reviewed: all of this {scope}"
                yield _Action(name, REVIEW, CommandName.REVIEW, {**approved, "scope": scope})

    def _corrections(self, placement: Placement) -> Iterator[_Action]:
        located = placement.located
        if placement.current.type != RecordType.LINE or placement.lineage.action == Action.DELETE:
            return
        first, last = located.start or 1, located.end or 1
        if self.is_selection:
            first, last = lines_of(self.params.range)
        if not located.sure:
            yield self._reanchor(placement, "Re-anchor here", first, last)
        if located.is_doubtful:
            yield _Action("Mark lost", CORRECT, CommandName.MARK_LOST, self._argument(placement))

    def _reanchor_lost(self) -> Iterator[_Action]:
        """Offer lost annotations for the selected lines: they have none of their own."""
        lost = [
            each
            for each in self.snapshot.placements
            if each.located.state == State.LOST and each.is_claim and each.may_own_lines
        ]
        for each in lost[-_MAX_LOST:]:
            name = f"{single_line(describe_edit(each), 40)} {each.current.id[:8]}"
            yield self._reanchor(each, f"Re-anchor here: lost {name}", *lines_of(self.params.range))

    def _reanchor(self, placement: Placement, name: str, first: int, last: int) -> _Action:
        version = {} if self.snapshot.version is None else {"version": self.snapshot.version}
        return _Action(
            f"{name} ({describe_lines(first, last)})",
            CORRECT,
            CommandName.REANCHOR,
            {**self._argument(placement), "range": range_members(first, last), **version},
        )

    def _shows(self, placement: Placement) -> Iterator[_Action]:
        argument = self._argument(placement)
        if self.ls.settings.show_prompts and self.snapshot.report.prompt(placement) is not None:
            yield _Action("Show prompt", SHOW, CommandName.SHOW_PROMPT, argument)
        yield _Action("Show history", SHOW, CommandName.SHOW_HISTORY, argument)
        yield _Action("Open audit record", SHOW, CommandName.OPEN_RECORD, argument)
        file = {"uri": self.snapshot.uri, "show": True}
        yield _Action("Show AI changes since HEAD", SHOW, CommandName.CHANGES, file)

    def _argument(self, placement: Placement) -> dict[str, Any]:
        return {"uri": self.snapshot.uri, "annotationId": placement.current.id}


def _current_verdict(snapshot: DocumentSnapshot, placement: Placement) -> str | None:
    """Return the verdict of a person on the current text; None when there is none."""
    review = snapshot.report.review(placement)
    if review is None or review["kind"] != "human" or review["stale"]:
        return None
    return str(review["verdict"])


def _is_requested(action: _Action, context: types.CodeActionContext) -> bool:
    if context.only is None:
        is_automatic = context.trigger_kind == types.CodeActionTriggerKind.Automatic
        return not is_automatic or bool(action.diagnostics)
    kinds = [
        each.value if isinstance(each, types.CodeActionKind) else each for each in context.only
    ]
    return any(
        not kind or action.kind == kind or action.kind.startswith(f"{kind}.") for kind in kinds
    )


def _code_action(ls: Server, action: _Action) -> types.CodeAction:
    diagnostics = list(action.diagnostics) or None
    resolved = ls.declared("text_document", "code_action", "resolve_support", "properties") or ()
    if "command" in resolved:
        data = {"command": str(action.command), "arguments": action.arguments}
        return types.CodeAction(action.title, action.kind, diagnostics, data=data)
    return types.CodeAction(action.title, action.kind, diagnostics, command=_command(action))


def _command(action: _Action) -> types.Command:
    return _run(action.title, action.command, action.arguments)


def _run(name: str, command: str, arguments: dict[str, Any]) -> types.Command:
    """Return a command; one that writes gets a request id, so that it is idempotent."""
    request = {"requestId": str(uuid4())} if command in _WRITING else {}
    return types.Command(name, str(command), arguments=[{**arguments, **request}])

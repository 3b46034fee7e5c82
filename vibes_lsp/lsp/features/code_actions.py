"""Code actions at an annotation: review it, correct its place, show where it comes from. Nothing is edited; each runs one command.

What a cursor that rests asks for is only what settles a diagnostic; the rest is for who opens the menu.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from lsprotocol import types

from vibes_lsp.anchors.location import State
from vibes_lsp.index.placements import Placement
from vibes_lsp.lsp.messages import own_capability
from vibes_lsp.lsp.projects import StillReading
from vibes_lsp.lsp.server import CommandFailed, Server
from vibes_lsp.lsp.snapshots import DocumentSnapshot
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.vocabulary import Action, RecordType, Verdict
from vibes_lsp.reports.placements import describe_edit

REVIEW: Final = "vibes.review"
CORRECT: Final = "vibes.correct"
SHOW: Final = "vibes.show"
ASK_FOR_NOTE: Final = "vibes.ui.rejectWithNote"
"""A command of the client's own that asks for a note and then runs `vibes.review`; used where `experimental.vibes.commands` names it."""

_KINDS: Final = (types.CodeActionKind.QuickFix.value, REVIEW, CORRECT, SHOW)
_MAX_TOUCHED: Final = 50
_MAX_LOST: Final = 3
_WRITING: Final = frozenset({"vibes.review", "vibes.reanchor", "vibes.markLost", ASK_FOR_NOTE})


@dataclass(frozen=True, slots=True)
class _Offer:
    """An action before the client has chosen it."""

    title: str
    kind: str
    command: str
    arguments: dict[str, Any]
    settles: Sequence[types.Diagnostic] = ()


def register(server: Server) -> None:
    """Answer `textDocument/codeAction` and `codeAction/resolve`."""

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=list(_KINDS), resolve_provider=True),
    )
    def actions(
        ls: Server, params: types.CodeActionParams
    ) -> list[types.Command | types.CodeAction]:
        try:
            snapshot = (
                ls.projects.snapshot(params.text_document.uri) if ls.settings.code_actions else None
            )
        except StillReading as error:
            if params.context.trigger_kind == types.CodeActionTriggerKind.Automatic:
                return []  # it settles diagnostics, of which there are none yet
            raise CommandFailed(error) from error
        if snapshot is None:
            return []
        offers = [
            each for each in _Offers(ls, snapshot, params).all() if _is_wanted(each, params.context)
        ]
        return (
            [_action(ls, each) for each in offers]
            if _knows_actions(ls)
            else [_command(each) for each in offers]
        )

    @server.feature(types.CODE_ACTION_RESOLVE)
    def resolve(_ls: Server, action: types.CodeAction) -> types.CodeAction:
        data = action.data if isinstance(action.data, dict) else {}
        command, arguments = data.get("command"), data.get("arguments")
        if isinstance(command, str) and isinstance(arguments, dict):
            action.command = _run(action.title, command, arguments)
        return action


@dataclass(frozen=True, slots=True)
class _Offers:
    """Works out what can be done at a range."""

    ls: Server
    snapshot: DocumentSnapshot
    params: types.CodeActionParams

    @property
    def _lines(self) -> tuple[int, int]:
        start, end = self.params.range.start, self.params.range.end
        return start.line + 1, max(start.line + 1, end.line + (end.character > 0))

    @property
    def _is_selection(self) -> bool:
        return self.params.range.start != self.params.range.end

    def all(self) -> Iterator[_Offer]:
        first, last = self._lines
        touched = [
            each
            for each in self.snapshot.placements
            if not each.is_history and _is_in(each, first, last)
        ][:_MAX_TOUCHED]
        touched.sort(
            key=lambda each: (
                not any(start <= first <= end for start, end in each.owned_ranges),
                not each.is_claim,
                each.located.start or 0,
            )
        )
        judged = [each for each in touched if each.is_claim and not each.is_guess]
        if judged:
            yield from self._reviews(judged)
        if touched and touched[0].is_claim:
            yield from self._corrections(touched[0])
        if self._is_selection:
            yield from self._lost()
        if touched:
            yield from self._shows(touched[0])

    def _reviews(self, touched: Sequence[Placement]) -> Iterator[_Offer]:
        several = f": {len(touched)} annotations" if len(touched) > 1 else ""
        verdicts = {_verdict(self.snapshot, each) for each in touched}
        these = {"uri": self.snapshot.uri, "annotationIds": [each.current.id for each in touched]}
        settled = [
            each
            for each in self.params.context.diagnostics
            if each.source == "vibes" and str(each.code).startswith("risk-")
        ]
        kind = types.CodeActionKind.QuickFix.value if settled else REVIEW
        if verdicts != {Verdict.APPROVED}:
            yield _Offer(
                f"Mark reviewed{several}",
                kind,
                "vibes.review",
                {**these, "verdict": Verdict.APPROVED.value},
                settled,
            )
        if verdicts != {Verdict.REJECTED}:
            rejected = {**these, "verdict": Verdict.REJECTED.value}
            if ASK_FOR_NOTE in self._own_commands:
                yield _Offer(f"Reject with note…{several}", REVIEW, ASK_FOR_NOTE, rejected)
            else:
                yield _Offer(f"Reject{several}", REVIEW, "vibes.review", rejected)
        approved = {**these, "verdict": Verdict.APPROVED.value}
        whole = {"uri": self.snapshot.uri, "verdict": Verdict.APPROVED.value, "scope": "file"}
        yield _Offer("Mark reviewed: whole file", REVIEW, "vibes.review", whole)
        for scope, member in (("prompt", "prompt_hash"), ("session", "session_id")):
            if any(each.current.text(member) is not None for each in touched):
                yield _Offer(
                    f"Mark reviewed: all of this {scope}",
                    REVIEW,
                    "vibes.review",
                    {**approved, "scope": scope},
                )

    def _corrections(self, placement: Placement) -> Iterator[_Offer]:
        located = placement.located
        if placement.current.type != RecordType.LINE or placement.lineage.action == Action.DELETE:
            return
        first, last = self._lines if self._is_selection else (located.start or 1, located.end or 1)
        if not located.sure:
            yield self._reanchor(placement, "Re-anchor here", first, last)
        if located.is_doubtful:
            yield _Offer("Mark lost", CORRECT, "vibes.markLost", self._one(placement))

    def _lost(self) -> Iterator[_Offer]:
        """A lost annotation has no lines to stand at, so it is offered wherever lines are selected for it."""
        lost = [
            each
            for each in self.snapshot.placements
            if each.located.state == State.LOST and each.is_claim and each.may_own_lines
        ]
        for each in lost[-_MAX_LOST:]:
            yield self._reanchor(
                each,
                f"Re-anchor here: lost {single_line(describe_edit(each), 40)} {each.current.id[:8]}",
                *self._lines,
            )

    def _reanchor(self, placement: Placement, said: str, first: int, last: int) -> _Offer:
        lines = {
            "start": {"line": first - 1, "character": 0},
            "end": {"line": last, "character": 0},
        }
        version = {} if self.snapshot.version is None else {"version": self.snapshot.version}
        return _Offer(
            f"{said} (lines {first}-{last})",
            CORRECT,
            "vibes.reanchor",
            {**self._one(placement), "range": lines, **version},
        )

    def _shows(self, placement: Placement) -> Iterator[_Offer]:
        one = self._one(placement)
        if self.ls.settings.show_prompts and self.snapshot.report.prompt(placement) is not None:
            yield _Offer("Show prompt", SHOW, "vibes.showPrompt", one)
        yield _Offer("Show history", SHOW, "vibes.showHistory", one)
        yield _Offer("Open audit record", SHOW, "vibes.openRecord", one)
        yield _Offer(
            "Show AI changes since HEAD",
            SHOW,
            "vibes.changes",
            {"uri": self.snapshot.uri, "show": True},
        )

    def _one(self, placement: Placement) -> dict[str, Any]:
        return {"uri": self.snapshot.uri, "annotationId": placement.current.id}

    @property
    def _own_commands(self) -> Sequence[object]:
        """The commands that the client says it has, of those that we would use."""
        named = own_capability(self.ls.client_capabilities, "commands")
        return named if isinstance(named, list | tuple) else ()


def _is_in(placement: Placement, first: int, last: int) -> bool:
    start, end = placement.located.start, placement.located.end
    return start is not None and end is not None and start <= last and first <= end


def _verdict(snapshot: DocumentSnapshot, placement: Placement) -> str | None:
    """Return what a person found of the text as it is now; None when nobody looked."""
    review = snapshot.report.review(placement)
    return (
        str(review["verdict"])
        if review is not None and review["kind"] == "human" and not review["stale"]
        else None
    )


def _is_wanted(offer: _Offer, context: types.CodeActionContext) -> bool:
    if context.only is not None:
        kinds = [
            each.value if isinstance(each, types.CodeActionKind) else each for each in context.only
        ]
        return any(
            not each or offer.kind == each or offer.kind.startswith(f"{each}.") for each in kinds
        )
    return context.trigger_kind != types.CodeActionTriggerKind.Automatic or bool(offer.settles)


def _knows_actions(ls: Server) -> bool:
    document = ls.client_capabilities.text_document
    return (
        document is not None
        and document.code_action is not None
        and document.code_action.code_action_literal_support is not None
    )


def _resolves(ls: Server) -> bool:
    document = ls.client_capabilities.text_document
    support = (
        document.code_action.resolve_support
        if document is not None and document.code_action is not None
        else None
    )
    return support is not None and "command" in support.properties


def _action(ls: Server, offer: _Offer) -> types.CodeAction:
    settles = list(offer.settles) or None
    if _resolves(ls):
        return types.CodeAction(
            offer.title,
            offer.kind,
            settles,
            data={"command": offer.command, "arguments": offer.arguments},
        )
    return types.CodeAction(offer.title, offer.kind, settles, command=_command(offer))


def _command(offer: _Offer) -> types.Command:
    return _run(offer.title, offer.command, offer.arguments)


def _run(said: str, command: str, arguments: dict[str, Any]) -> types.Command:
    """Return a command; one that writes has an id, so that carrying it out twice changes nothing."""
    request = {"requestId": str(uuid4())} if command in _WRITING else {}
    return types.Command(said, command, arguments=[{**arguments, **request}])

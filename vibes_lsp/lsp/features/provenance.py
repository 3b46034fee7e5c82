"""Placements for clients that draw them: `vibes/provenance`, `vibes.lookup`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from lsprotocol import types

from vibes_lsp.errors import AuditDirNotFound, UnreadableFile
from vibes_lsp.lsp.documents.rendering import lens_text, line_text
from vibes_lsp.lsp.protocol.conversion import lines_of
from vibes_lsp.lsp.protocol.extensions import PROVENANCE, CommandName, ProvenanceParams
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.members import Members
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.blame import line_kinds, ranges_by_kind
from vibes_lsp.reports.placement_texts import age_and_reasons, display_name
from vibes_lsp.reports.placements import describe_location
from vibes_lsp.reports.review_queue import needs_review
from vibes_lsp.store.trail_search import AUDIT_DIR_NAME

_MAX_SUBJECT: Final = 200


@dataclass(frozen=True, slots=True)
class LookupArguments:
    """The argument of `vibes.lookup`.

    Attributes:
        uri: The file.
        range: Only placements with a line in this range.
        lines: Whether to add the kind of each line.
    """

    uri: str
    range: types.Range | None = None
    lines: bool = False


def register(server: Server) -> None:
    """Answer the request and offer the commands."""

    @server.command(CommandName.LOOKUP)
    async def lookup(ls: Server, arguments: LookupArguments) -> dict[str, Any]:
        """Return `{uri, version, placements}`, the annotations of a file.

        `provisional: true` until git history was looked up for this state. With `lines` also
        `lines: [{line, annotationId, kind}]`, kind `ai`, `claimed` or `edited`.
        """
        await ls.projects.until_indexed([arguments.uri])
        snapshot, within = _snapshot(ls, arguments.uri), arguments.range
        chosen = [
            placement
            for placement in snapshot.placements
            if within is None or placement.located.touches(*lines_of(within))
        ]
        return _answer(ls, snapshot, chosen, lines=arguments.lines)

    @server.feature(PROVENANCE)
    async def provenance(ls: Server, params: ProvenanceParams) -> dict[str, Any]:
        """Return the same as `vibes.lookup`; with `runs` the lines that each placement owns.

        While a large log is indexed, there are no placements, and `indexing: true`; then
        `vibes/provenanceChanged` comes. An open audit file has no placements.
        """
        uri = params.textDocument.uri
        document = ls.documents.get(uri) if f"/{AUDIT_DIR_NAME}/" in uri else None
        if document is not None and ls.projects.audit_file(uri) is not None:
            empty = {"uri": uri, "version": document.version, "placements": []}
            return {**empty, "lines": []} if params.lines else empty
        snapshot = _snapshot(ls, uri)
        answer = _answer(ls, snapshot, snapshot.placements, lines=bool(params.lines))
        if params.runs:
            answer |= _with_runs(ls, snapshot, answer["placements"], params.previousResultId)
        return answer


def _snapshot(ls: Server, uri: str) -> DocumentSnapshot:
    """Return a file with its placements.

    Raises:
        AuditDirNotFound: No trail owns it.
        UnreadableFile: It cannot be read, or is part of a trail.
    """
    snapshot = ls.projects.snapshot(uri)
    if snapshot is None:
        if ls.projects.owner(uri) is None:
            raise AuditDirNotFound(
                f"no audit directory owns {uri[:200]}", hint="run `vibes doctor` to see why"
            )
        raise UnreadableFile(
            f"{uri[:200]} cannot be read, or is part of an audit trail",
            hint="open the file, or name another",
        )
    return snapshot


def _answer(
    ls: Server, snapshot: DocumentSnapshot, chosen: Sequence[Placement], *, lines: bool
) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "uri": snapshot.uri,
        "version": snapshot.version,
        "placements": [_described(ls, snapshot, placement) for placement in chosen],
    }
    if snapshot.is_provisional:
        answer["provisional"] = True
    if snapshot.trail.is_indexing:
        answer["indexing"] = True
    if lines:
        answer["lines"] = line_kinds(chosen)
    return answer


def _described(ls: Server, snapshot: DocumentSnapshot, placement: Placement) -> Members:
    """Return a placement with the members that only editors get."""
    now = datetime.now(UTC)
    facts = snapshot.report.placement(placement, with_prompts=ls.settings.show_prompts)
    members: Members = {
        **facts,
        **age_and_reasons(facts, now),
        "displayName": display_name(placement, snapshot.text),
        "stateText": describe_location(placement, origin=single_line(placement.moved_from, 60)),
        "label": lens_text([(placement, facts)], now),
        "lineText": line_text(placement, facts, now),
        "waits": needs_review(placement, facts),
    }
    subject = snapshot.subject(str(facts.get("commitHash")))
    if subject is not None:
        members["commitSubject"] = single_line(subject, _MAX_SUBJECT)
    return members


def _with_runs(
    ls: Server, snapshot: DocumentSnapshot, answered: Sequence[Members], previous: str | None
) -> dict[str, Any]:
    """Return placements with the lines that each owns, or what changed since an answer.

    Only answers about open documents are kept: no message says when a closed file is done with.
    """
    placements: list[Members] = [
        {**facts, "runs": ranges_by_kind(placement)}
        for facts, placement in zip(answered, snapshot.placements, strict=True)
    ]
    if ls.documents.get(snapshot.uri) is None:
        return {"placements": placements}
    return ls.answers.answer(snapshot.uri, placements, previous)

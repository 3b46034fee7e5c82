"""Where each annotation of a document is now: the request `vibes/provenance`, and the command `vibes.lookup`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lsprotocol import types

from vibes_lsp.anchors.location import LocatedRange
from vibes_lsp.errors import AuditDirNotFound, UnreadableFile
from vibes_lsp.index.placements import Placement
from vibes_lsp.lsp.description import label, line_text
from vibes_lsp.lsp.messages import PROVENANCE, ProvenanceParams
from vibes_lsp.lsp.server import Server, answered
from vibes_lsp.lsp.snapshots import DocumentSnapshot
from vibes_lsp.model.members import Members
from vibes_lsp.reports.blame import line_kinds, ranges_by_kind
from vibes_lsp.reports.review_queue import needs_review


@dataclass(frozen=True, slots=True)
class LookupArguments:
    """What `vibes.lookup` takes: a file; a range of it, whose annotations alone are meant; whether to go line by line."""

    uri: str
    range: types.Range | None = None
    lines: bool = False


def register(server: Server) -> None:
    """Offer both."""

    @server.command("vibes.lookup")
    def lookup(ls: Server, arguments: LookupArguments) -> dict[str, Any]:
        def answer() -> dict[str, Any]:
            snapshot = _snapshot(ls, arguments.uri)
            within = arguments.range
            chosen = [
                each
                for each in snapshot.placements
                if within is None or _touches(each.located, within)
            ]
            return _answer(ls, snapshot, chosen, lines=arguments.lines)

        return answered(answer)

    @server.feature(PROVENANCE)
    def provenance(ls: Server, params: ProvenanceParams) -> dict[str, Any]:
        def answer() -> dict[str, Any]:
            snapshot = _snapshot(ls, params.textDocument.uri)
            told = _answer(ls, snapshot, snapshot.placements, lines=bool(params.lines))
            return (
                {**told, **_in_runs(ls, snapshot, told["placements"], params.previousResultId)}
                if params.runs
                else told
            )

        return answered(answer)


def _snapshot(ls: Server, uri: str) -> DocumentSnapshot:
    """Return a file as it is now.

    Raises:
        AuditDirNotFound: No trail owns it.
        UnreadableFile: It cannot be read, or is part of a trail.
        StillReading: A thread is still reading the trail.
    """
    snapshot = ls.projects.snapshot(uri)
    if snapshot is None:
        if ls.projects.owner(uri) is None:
            raise AuditDirNotFound(
                f"no audit directory owns {uri[:200]}", hint="`vibes doctor` says why nothing shows"
            )
        raise UnreadableFile(
            f"{uri[:200]} cannot be read, or is part of an audit trail",
            hint="open the file, or name another",
        )
    return snapshot


def _answer(
    ls: Server, snapshot: DocumentSnapshot, chosen: Sequence[Placement], *, lines: bool
) -> dict[str, Any]:
    placements = [
        _placement(snapshot, each, with_prompts=ls.settings.show_prompts) for each in chosen
    ]
    result: dict[str, Any] = {
        "uri": snapshot.uri,
        "version": snapshot.version,
        "placements": placements,
    }
    if snapshot.is_provisional:
        result["provisional"] = True
    if lines:
        result["lines"] = line_kinds(chosen)
    return result


def _placement(snapshot: DocumentSnapshot, placement: Placement, *, with_prompts: bool) -> Members:
    """Return a placement with what only editors ask for."""
    facts = snapshot.report.placement(placement, with_prompts=with_prompts)
    said = {
        "label": label(snapshot, placement, facts),
        "lineText": line_text(snapshot, placement, facts),
    }
    return {**facts, **said, "waits": needs_review(placement, facts)}


def _in_runs(
    ls: Server, snapshot: DocumentSnapshot, told: Sequence[Members], previous: str | None
) -> dict[str, Any]:
    """Return placements with the lines that each owns, without what the client knows; what is not open is never closed, and so not kept."""
    placements: list[Members] = [
        {**facts, "runs": ranges_by_kind(placement)}
        for facts, placement in zip(told, snapshot.placements, strict=True)
    ]
    return (
        ls.answers.give(snapshot.uri, placements, previous)
        if ls.documents.get(snapshot.uri) is not None
        else {"placements": placements}
    )


def _touches(located: LocatedRange, within: types.Range) -> bool:
    """Whether a placement has a line in a range; the range's end at character 0 does not count its line, unless it is empty."""
    first, last = within.start, within.end
    stop = last.line if last.character == 0 and last.line > first.line else last.line + 1
    return (
        located.start is not None
        and located.end is not None
        and located.start <= stop
        and located.end >= first.line + 1
    )

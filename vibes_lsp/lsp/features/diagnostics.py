"""Diagnostics: risk and doubt at the annotated lines, and in the audit files everything that `checks` finds.

A client that pulls is answered, all others are told; never both. A trail is checked in a thread, since it takes a while.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from lsprotocol import types

from vibes_lsp.anchors.location import State
from vibes_lsp.checks.context import open_context
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.checks.report import check_trail
from vibes_lsp.errors import UnreadableFile
from vibes_lsp.index.placements import Placement
from vibes_lsp.lsp.description import READING
from vibes_lsp.lsp.documents import Encoding, columns
from vibes_lsp.lsp.projects import StillReading
from vibes_lsp.lsp.server import Server
from vibes_lsp.lsp.settings import Settings
from vibes_lsp.lsp.snapshots import DocumentSnapshot
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.json_positions import find_member
from vibes_lsp.model.members import JsonValue
from vibes_lsp.model.vocabulary import Action, Band
from vibes_lsp.reports.placements import describe_edit, describe_location, model_name
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import read_file

SOURCE: Final = "vibes"
_SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_AT_THE_TOP: Final = types.Range(types.Position(0, 0), types.Position(0, 0))
_MAX_SHOWN: Final = 200
_MAX_RELATED: Final = 10
_MAX_LINE: Final = 10_000
_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\[\]{}]+|.')

_WORD: Final = re.compile(r"[\w.:-]+|.")


def register(server: Server) -> None:
    """Answer `textDocument/diagnostic`; only for clients that ask."""

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False),
    )
    async def pull(
        ls: Server, params: types.DocumentDiagnosticParams
    ) -> types.RelatedFullDocumentDiagnosticReport:
        return types.RelatedFullDocumentDiagnosticReport(
            await diagnostics_of(ls, params.text_document.uri)
        )


def is_pulled(capabilities: types.ClientCapabilities) -> bool:
    """Whether the client pulls diagnostics: it can, and can be told to pull again when a risk was reviewed."""
    workspace, document = capabilities.workspace, capabilities.text_document
    can_refresh = (
        workspace is not None
        and workspace.diagnostics is not None
        and bool(workspace.diagnostics.refresh_support)
    )
    return can_refresh and document is not None and document.diagnostic is not None


def clear(ls: Server, uri: str) -> None:
    """Remove the published diagnostics of a document that was closed."""
    if not is_pulled(ls.client_capabilities):
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))


async def push(ls: Server, uri: str) -> None:
    """Publish the diagnostics of an open document to a client that does not pull.

    A check that a later one has overtaken publishes nothing: it may be of an older text, other settings or
    another trail. Nothing is published while the user types; the pause that follows does it.
    """
    if is_pulled(ls.client_capabilities):
        return
    document = ls.documents.get(uri)
    if document is None or document.is_typing:
        return
    is_last = ls.begin_diagnostics(uri)
    found = await diagnostics_of(ls, uri, is_wanted=is_last)
    if is_last():
        ls.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri, found, document.version)
        )


async def diagnostics_of(
    ls: Server, uri: str, is_wanted: Callable[[], bool] = lambda: True
) -> list[types.Diagnostic]:
    """Return the diagnostics of a document, which may be one of the audit files.

    Args:
        ls: The server.
        uri: The document.
        is_wanted: Asked before a check begins that had to wait for another; when it says no, there are none.
    """
    if not ls.settings.diagnostics:
        return []
    try:
        snapshot = ls.projects.snapshot(uri)
    except StillReading:
        return [
            types.Diagnostic(
                _AT_THE_TOP,
                READING,
                types.DiagnosticSeverity.Hint,
                StillReading.code,
                source=SOURCE,
            )
        ]
    if snapshot is not None:
        return _with_related(ls, snapshot, _risks(snapshot, ls.settings)) + _doubts(snapshot)
    owner = ls.projects.owner(uri)
    if owner is None:
        return []
    project, path = owner
    directory = project.directory
    if path.split("/")[0] != directory.path.name:
        return []
    async with ls.checking:
        if not is_wanted():
            return []
        return await asyncio.get_running_loop().run_in_executor(
            ls.thread_pool, _findings, directory, path, ls.documents.encoding
        )


def _risks(
    snapshot: DocumentSnapshot, settings: Settings
) -> list[tuple[Placement, types.Diagnostic]]:
    """Risk from the chosen band up, unless a person approved the very text (R6).

    Nothing while PRISM is off, and nothing about what is no item (`Placement.is_claim`), what only may be here, what is removed (R27) or
    in files that the project does not track (R26).
    """
    config = snapshot.trail.config
    risk = config.config.risk_scoring
    if risk is None or not risk.enabled or not config.tracking.tracks(snapshot.path):
        return []
    bands = list(Band)
    found = []
    for placement in snapshot.placements:
        facts = snapshot.report.placement(placement)
        band, review = facts["band"], facts["review"]
        if (
            band is None
            or not placement.is_claim
            or placement.is_guess
            or placement.lineage.action == Action.DELETE
            or bands.index(Band(str(band))) < bands.index(settings.minimum_band)
        ):
            continue
        reviewed = _reviewed(review)
        if reviewed is None:
            continue
        figures = snapshot.report.describe_risk(facts)
        message = f"risk {figures}: {single_line(describe_edit(placement), 60)} by {single_line(model_name(facts), 60)}, {reviewed}"
        found += [
            (placement, each)
            for each in _at(placement, message, types.DiagnosticSeverity.Warning, f"risk-{band}")
        ]
    return found


def _with_related(
    ls: Server, snapshot: DocumentSnapshot, found: list[tuple[Placement, types.Diagnostic]]
) -> list[types.Diagnostic]:
    """Add to each risk the other ranges of the same prompt in the file, for clients that show them: what is to be looked at with it."""
    document = ls.client_capabilities.text_document
    published = document.publish_diagnostics if document is not None else None
    if published is None or not published.related_information:
        return [diagnostic for _, diagnostic in found]
    for placement, diagnostic in found:
        prompt = placement.current.text("prompt_hash")
        others = (
            each
            for each in snapshot.placements
            if each is not placement and each.is_claim and _is_of(each, prompt)
        )
        related = [
            types.DiagnosticRelatedInformation(
                types.Location(snapshot.uri, place),
                f"of the same prompt: {single_line(describe_edit(each), 60)}",
            )
            for each in others
            if (place := _place(each)) is not None
        ]
        diagnostic.related_information = related[:_MAX_RELATED] or None
    return [diagnostic for _, diagnostic in found]


def _is_of(placement: Placement, prompt: str | None) -> bool:
    return prompt is not None and placement.current.text("prompt_hash") == prompt


def _reviewed(review: JsonValue) -> str | None:
    """Say why a review does not settle the matter; None when it does: a person approved the text as it is now (R6)."""
    if not isinstance(review, dict):
        return "not reviewed"
    verdict = str(review["verdict"] or "reviewed")
    if review["stale"]:
        return f"{verdict}, but changed since"
    if review["kind"] != "human":
        return f"{verdict}, but not by a person"
    return None if verdict == "approved" else verdict


def _doubts(snapshot: DocumentSnapshot) -> list[types.Diagnostic]:
    """Ambiguous locator as hints, which editors show faintly; what could not be found as one hint on the first line."""
    found = []
    for placement in snapshot.placements:
        if placement.located.ambiguous and placement.is_claim:
            found += _at(
                placement,
                f"{single_line(describe_edit(placement), 60)}: {describe_location(placement)}",
                types.DiagnosticSeverity.Hint,
                "ambiguous",
            )
    lost = sum(
        each.located.state == State.LOST and each.is_claim and each.replaced_by is None
        for each in snapshot.placements
    )
    if lost:
        words = (
            "annotation of this file could not be found"
            if lost == 1
            else "annotations of this file could not be found"
        )
        found.append(
            types.Diagnostic(
                _AT_THE_TOP, f"{lost} {words}", types.DiagnosticSeverity.Hint, "lost", source=SOURCE
            )
        )
    return found


def _at(
    placement: Placement, message: str, severity: types.DiagnosticSeverity, code: str
) -> list[types.Diagnostic]:
    place = _place(placement)
    return (
        [] if place is None else [types.Diagnostic(place, message, severity, code, source=SOURCE)]
    )


def _place(placement: Placement) -> types.Range | None:
    start, end = placement.located.start, placement.located.end
    return (
        None
        if start is None or end is None
        else types.Range(types.Position(start - 1, 0), types.Position(end, 0))
    )


def _findings(directory: AuditDir, path: str, encoding: Encoding) -> list[types.Diagnostic]:
    report = check_trail(open_context(directory, datetime.now(UTC)))
    mine = [finding for finding in report.findings if finding.file == path][:_MAX_SHOWN]
    lines = _lines(directory, path) if mine else []
    return [_finding(finding, lines, encoding) for finding in mine]


def _lines(directory: AuditDir, path: str) -> list[str]:
    try:
        return (read_file(directory.project / path) or b"").decode("utf-8", "replace").split("\n")
    except UnreadableFile:  # which is what was found
        return []


def _field(line: str, field: str | None) -> tuple[int, int]:
    """Return where a member's name, or the element of an array, begins and ends in a line; the whole line where it is not."""
    path = field.split(".") if field is not None else []
    place = find_member(line, path)
    start = place[1] - 1 if place is not None else line.find(f'"{path[-1]}"') if path else -1
    found = _TOKEN.match(line, start) if start >= 0 else None
    return (0, len(line)) if found is None else found.span()


def _from(line: str, column: int) -> tuple[int, int]:
    """Return the word or the character at a column, which is 1-based."""
    found = _WORD.match(line, column - 1)
    return (0, len(line)) if found is None else found.span()


def _finding(finding: Finding, lines: list[str], encoding: Encoding) -> types.Diagnostic:
    number = max(0, min((finding.line or 1) - 1, len(lines) - 1))
    line = lines[number][:_MAX_LINE] if lines else ""
    begin, stop = (
        _field(line, finding.field) if finding.column is None else _from(line, finding.column)
    )
    start, end = (columns(line, offset, encoding) for offset in (begin, stop))
    place = types.Range(types.Position(number, start), types.Position(number, end))
    return types.Diagnostic(
        place,
        single_line(finding.message, 300),
        _SEVERITIES[finding.severity],
        finding.check.id,
        source=SOURCE,
    )

"""Diagnostics and `vibes.check`: risks and doubtful locations, findings in audit files.

Diagnostics are pulled by clients that can refresh, and published to all others, never both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from lsprotocol import types

from vibes_lsp.anchors.location import State
from vibes_lsp.checks.finding import pluralize
from vibes_lsp.lsp.documents.audit_files import location_now
from vibes_lsp.lsp.documents.config_file import config_document, findings_in_config
from vibes_lsp.lsp.documents.knowledge_texts import state_words
from vibes_lsp.lsp.documents.rendering import INDEXING
from vibes_lsp.lsp.protocol.conversion import FIRST_LINE, Encoding, range_in_line
from vibes_lsp.lsp.protocol.extensions import CommandName, ProjectArguments
from vibes_lsp.lsp.protocol.open_documents import Document
from vibes_lsp.lsp.state.knowledge_bases import KNOWLEDGE_DIR, DocumentKnowledge, PlacedCitation
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot
from vibes_lsp.lsp.state.trail_checks import check_project
from vibes_lsp.model.escaping import single_line
from vibes_lsp.model.json_positions import find_member
from vibes_lsp.model.members import JsonValue, Members, integer, objects, text
from vibes_lsp.model.vocabulary import Action, Band
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.placement_texts import code_token
from vibes_lsp.reports.placements import describe_edit, describe_location, main_reasons

if TYPE_CHECKING:
    from vibes_lsp.knowledge.file_checks import FileFault
    from vibes_lsp.knowledge.object_format import Span

_WARNING, _INFORMATION = types.DiagnosticSeverity.Warning, types.DiagnosticSeverity.Information
_HINT: Final = types.DiagnosticSeverity.Hint
_SEVERITIES: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": _WARNING,
    "note": _INFORMATION,
    "info": _INFORMATION,
}
"""By the words of `checks` and those of the knowledge base."""
_MAX_FINDINGS: Final = 200
"""Findings about one file that are shown at most."""
_MAX_RELATED: Final = 10
_MAX_CLAIMS: Final = 200
_MAX_FILES: Final = 20
_TEXT: Final = 80
_MESSAGE: Final = 300
_MAX_LINE: Final = 10_000
_JSON_TOKEN: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[^\s,\[\]{}]+|.')
_WORD: Final = re.compile(r"[\w.:-]+|.")
_FIRST_WORD: Final = re.compile(r"\s*(\S+)")
_problem: Final = partial(types.Diagnostic, source="vibes")


def register(server: Server) -> None:
    """Offer `vibes.check`, and say what is to be published."""
    server.diagnostics_of = partial(diagnostics_of, server)

    @server.command(CommandName.CHECK)
    async def check(ls: Server, arguments: ProjectArguments) -> dict[str, Any]:
        """Return the report of `vibes check --json`."""
        directory = ls.find_project(arguments.uri).directory
        async with ls.checking:
            return await check_project(ls, directory)


def register_pull(server: Server) -> None:
    """Answer `textDocument/diagnostic`; only for clients that pull."""

    @server.feature(
        types.TEXT_DOCUMENT_DIAGNOSTIC,
        types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False),
    )
    async def pull(
        ls: Server, params: types.DocumentDiagnosticParams
    ) -> types.RelatedFullDocumentDiagnosticReport:
        diagnostics = await diagnostics_of(ls, params.text_document.uri)
        return types.RelatedFullDocumentDiagnosticReport(diagnostics)


async def diagnostics_of(
    ls: Server, uri: str, is_wanted: Callable[[], bool] = lambda: True
) -> list[types.Diagnostic]:
    """Return the diagnostics of a document, which may be a file of a trail or knowledge base.

    Args:
        ls: The server.
        uri: The document.
        is_wanted: Called before a check that had to wait; the check is skipped on False.
    """
    if not ls.settings.diagnostics or ls.documents.is_refused(uri):
        return []
    knowledge = await ls.knowledge.about(uri)
    claims = [] if knowledge is None else await _knowledge_diagnostics(ls, knowledge)
    return await _trail_diagnostics(ls, uri, is_wanted) + claims


async def _trail_diagnostics(
    ls: Server, uri: str, is_wanted: Callable[[], bool]
) -> list[types.Diagnostic]:
    snapshot = ls.projects.snapshot(uri)
    if snapshot is not None and snapshot.trail.is_indexing:
        return [_problem(FIRST_LINE, INDEXING, _HINT, "indexing")]
    if snapshot is not None:
        return _risks(ls, snapshot) + _location_hints(snapshot, ls.documents.encoding)
    owner = ls.projects.owner(uri)
    if owner is None:
        return []
    project, path = owner
    if path.split("/")[0] != project.directory.path.name:
        return []
    config = config_document(ls, uri)
    if config is not None:
        findings = [finding.as_json() for finding in findings_in_config(config, path)]
    else:
        async with ls.checking:
            if not is_wanted():
                return []
            report = await check_project(ls, project.directory)
        findings = [
            finding for finding in objects(report["findings"]) if text(finding, "file") == path
        ]
    document, encoding = ls.documents.get(uri), ls.documents.encoding
    faults = [_fault(document, finding, encoding) for finding in findings[:_MAX_FINDINGS]]
    return _attestation_faults(ls, uri) + faults


def _attestation_faults(ls: Server, uri: str) -> list[types.Diagnostic]:
    """Return what is wrong with the attestation of an audit file; growth is not (R24)."""
    about = ls.attestation_about(uri)
    fault = None if about is None else about[0].fault_of(about[1])
    return [] if fault is None else [_problem(FIRST_LINE, fault, _WARNING, "attestation")]


def _risks(ls: Server, snapshot: DocumentSnapshot) -> list[types.Diagnostic]:
    """Return risks from the chosen band up that no person approved for the current text (R6).

    None while PRISM is off, and none for placements that claim no code (`Placement.is_claim`),
    ambiguous guesses, deletions (R27) and files that the project does not track (R26).
    """
    config = snapshot.trail.config
    risk = config.config.risk_scoring
    if risk is None or not risk.enabled or not config.tracking.tracks(snapshot.path):
        return []
    diagnostics = []
    for placement in snapshot.placements:
        facts = snapshot.report.placement(placement)
        band = facts["band"]
        if (
            band is None
            or not placement.is_claim
            or placement.is_guess
            or placement.lineage.action == Action.DELETE
            or not Band(str(band)).reaches(ls.settings.minimum_band)
        ):
            continue
        review = _open_review(facts["review"])
        if review is None:
            continue
        reasons = [single_line(reason, 120) for reason in main_reasons(facts, with_review=False)]
        why = f": {'; '.join(reasons)}" if reasons else ""
        message = f"risk {snapshot.report.describe_risk(facts)}, {review}{why}"
        place = _place(snapshot, placement, ls.documents.encoding)
        if place is not None:
            related = _related(ls, snapshot, placement)
            problem = _problem(
                place, message, _WARNING, f"risk-{band}", related_information=related
            )
            diagnostics.append(problem)
    return diagnostics


def _related(
    ls: Server, snapshot: DocumentSnapshot, placement: Placement
) -> list[types.DiagnosticRelatedInformation] | None:
    """Return the other ranges of a placement's prompt, for clients with related information."""
    prompt = placement.current.text("prompt_hash")
    declared = ls.declared("text_document", "publish_diagnostics", "related_information")
    if prompt is None or not declared:
        return None
    related = [
        types.DiagnosticRelatedInformation(
            place, f"of the same prompt: {single_line(describe_edit(related_placement), 60)}"
        )
        for related_placement in snapshot.placements
        if related_placement is not placement
        and related_placement.is_claim
        and related_placement.current.text("prompt_hash") == prompt
        and (place := location_now(snapshot, related_placement, ls.documents.encoding)) is not None
    ]
    return related[:_MAX_RELATED] or None


def _open_review(review: JsonValue) -> str | None:
    """Return why a review leaves a risk open; None if a person approved the text (R6)."""
    if not isinstance(review, dict):
        return "not reviewed"
    verdict = str(review["verdict"] or "reviewed")
    if review["stale"]:
        return f"{verdict}, but changed since"
    if review["kind"] != "human":
        return f"{verdict}, but not by a person"
    return None if verdict == "approved" else verdict


def _location_hints(snapshot: DocumentSnapshot, encoding: Encoding) -> list[types.Diagnostic]:
    """Return a hint at each ambiguous location, and one for all lost annotations."""
    hints = []
    for placement in snapshot.placements:
        if placement.located.ambiguous and placement.is_claim:
            place = _place(snapshot, placement, encoding)
            message = f"{single_line(describe_edit(placement), 60)}: {describe_location(placement)}"
            if place is not None:
                hints.append(_problem(place, message, _HINT, "ambiguous"))
    lost = sum(
        annotation.located.state == State.LOST
        and annotation.is_claim
        and annotation.replaced_by is None
        for annotation in snapshot.placements
    )
    if lost:
        noun = "annotation" if lost == 1 else "annotations"
        message = f"{lost} {noun} of this file could not be found"
        hints.append(_problem(FIRST_LINE, message, _HINT, "lost"))
    return hints


def _place(
    snapshot: DocumentSnapshot, placement: Placement, encoding: Encoding
) -> types.Range | None:
    """Return the name, or the first word of code, of an annotation; None where it is lost.

    Only that is underlined: the extent of an annotation is in the marks of the editor.
    """
    token = code_token(placement, snapshot.text)
    if token is None:
        return None
    lines = snapshot.text.lines
    line = lines[token.line - 1] if token.line <= len(lines) else ""
    return range_in_line(line, token.line - 1, (token.start, token.end), encoding)


def _fault(document: Document | None, finding: Members, encoding: Encoding) -> types.Diagnostic:
    """Return a finding about an audit file, at the member or word of the open text."""
    number, column = max(integer(finding, "line") or 1, 1), integer(finding, "column")
    lines = () if document is None else document.lines(number, number)
    line = "".join(lines)[:_MAX_LINE]
    if column is None:
        span = _member_span(line, text(finding, "field"))
    else:
        word = _WORD.match(line, column - 1)
        span = (0, len(line)) if word is None else word.span()
    return _problem(
        range_in_line(line, number - 1, span, encoding),
        single_line(finding.get("message"), _MESSAGE),
        _SEVERITIES[text(finding, "severity") or "note"],
        text(finding, "check"),
    )


def _member_span(line: str, member: str | None) -> tuple[int, int]:
    """Return where a member's name or an array element is in a line; else the whole line."""
    path = member.split(".") if member is not None else []
    place = find_member(line, path)
    start = place[1] - 1 if place is not None else line.find(f'"{path[-1]}"') if path else -1
    token = _JSON_TOKEN.match(line, start) if start >= 0 else None
    return (0, len(line)) if token is None else token.span()


async def _knowledge_diagnostics(
    ls: Server, knowledge: DocumentKnowledge
) -> list[types.Diagnostic]:
    """Return what is wrong about claims in a document, or in a file of the knowledge base."""
    if knowledge.is_of_knowledge_base:
        return await _of_file(ls, knowledge)
    stale = [placed for placed in knowledge.placed if placed.is_stale and placed.citation.claims]
    return [_stale(ls, knowledge, placed) for placed in stale[:_MAX_CLAIMS]]


def _stale(ls: Server, knowledge: DocumentKnowledge, placed: PlacedCitation) -> types.Diagnostic:
    """Return that the evidence of claims is not as it was quoted, at its first word."""
    texts = [
        f"“{single_line(claim['text'], _TEXT)}”"
        for identifier in placed.citation.claims[:2]
        if (claim := knowledge.snapshot.claim(identifier)) is not None
    ]
    more = len(placed.citation.claims) - len(texts)
    claims = ", ".join(texts) + (f" and {more} more" if more else "")
    if not texts:
        claims = pluralize(more, "claim that cannot be read", "claims that cannot be read")
    is_lost = placed.located.state == State.LOST
    what = "could not be found" if is_lost else "was edited since it was quoted"
    place = _first_word(ls, knowledge.uri, placed.located.start)
    message, code = f"evidence of {claims} {what}", f"evidence-{placed.located.state.value}"
    return _problem(place, message, _INFORMATION, code)


def _first_word(ls: Server, uri: str, line: int | None) -> types.Range:
    document = ls.documents.get(uri)
    if line is None or document is None:
        return FIRST_LINE
    text = "".join(document.lines(line, line))
    word = _FIRST_WORD.match(text)
    span = word.span(1) if word is not None else (0, 0)
    return range_in_line(text, line - 1, span, ls.documents.encoding)


async def _of_file(ls: Server, knowledge: DocumentKnowledge) -> list[types.Diagnostic]:
    """Return the faults of an open file of the knowledge base, and what its evidence has become."""
    # Imported late: a server without a knowledge base does not load pydantic's models.
    from vibes_lsp.knowledge.file_checks import check_file  # noqa: PLC0415
    from vibes_lsp.knowledge.object_format import MemberSpans  # noqa: PLC0415
    from vibes_lsp.knowledge.objects import Kind, kind_and_id  # noqa: PLC0415

    document = ls.documents.get(knowledge.uri)
    if document is None:
        return []
    text, path = document.content, knowledge.path.removeprefix(f"{KNOWLEDGE_DIR}/")
    work = partial(check_file, knowledge.snapshot, path, text, datetime.now(UTC))
    lines = text.split("\n")
    diagnostics = [_file_fault(ls, lines, fault) for fault in await ls.run_in_thread(work)]
    kind, identifier = kind_and_id(path) or (None, "")
    claim = knowledge.snapshot.claim(identifier) if kind is Kind.CLAIM else None
    if claim is None:
        return diagnostics
    spans = MemberSpans(text)
    await ls.run_in_thread(partial(spans.of, ("evidence",)))  # parses the text
    places = await _evidence_of(ls, knowledge, claim["id"])
    for number, evidence in enumerate(claim["evidence"]):
        placed = places.get(evidence)
        if placed is not None and not placed[1].is_as_quoted:
            state = placed[1].located.state.value
            message = single_line(f"{placed[0]}: {state_words(placed[1])}", _MESSAGE)
            place = _span_range(ls, lines, spans.of(("evidence", number)))
            diagnostics.append(_problem(place, message, _INFORMATION, f"evidence-{state}"))
    return diagnostics


async def _evidence_of(
    ls: Server, knowledge: DocumentKnowledge, claim: str
) -> dict[str, tuple[str, PlacedCitation]]:
    """Return the evidence of a claim that is placed in files, with the file of each."""
    files = ls.knowledge.citing(knowledge, lambda citation: claim in citation.claims, _MAX_FILES)
    return {
        str(placed.citation.evidence["id"]): (file.path, placed)
        async for file in files
        for placed in file.placed
        if claim in placed.citation.claims
    }


def _file_fault(ls: Server, lines: list[str], fault: FileFault) -> types.Diagnostic:
    message, code = single_line(fault.message, _MESSAGE), fault.code.replace("_", "-")
    return _problem(_span_range(ls, lines, fault.span), message, _SEVERITIES[fault.severity], code)


def _span_range(ls: Server, lines: list[str], span: Span) -> types.Range:
    line = lines[span.line] if span.line < len(lines) else ""
    end = len(line) if span.end is None else span.end
    return range_in_line(line, span.line, (span.start, end), ls.documents.encoding)

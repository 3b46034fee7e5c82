"""What the audit trail says about the lines that claims cite: an AI's or not, reviewed or not.

A claim is only as good as its evidence. Lines that an AI wrote and no person approved are its own
word, so a claim that cites nothing else rests on no one's check.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from vibes_lsp.anchors.location import State
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import AuditDirNotFound, UnreadableFile
from vibes_lsp.git.project_files import read_content
from vibes_lsp.git.repository import nearest_ancestor
from vibes_lsp.knowledge.ai_lines import AiLines, CountAiLines, count_ai_lines, no_ai_lines
from vibes_lsp.knowledge.citations import (
    Citation,
    KnowledgeSnapshot,
    current_evidence,
    file_of_source,
)
from vibes_lsp.knowledge.evidence_lines import EvidenceLines, place_evidence
from vibes_lsp.knowledge.objects import CLOSED, Kind
from vibes_lsp.knowledge.provenance_sources import PROVENANCE_MEMBER
from vibes_lsp.placing.live_risk import Scorer
from vibes_lsp.placing.placements import Placement
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.reports.blame import blame_file
from vibes_lsp.reports.placements import is_settled
from vibes_lsp.store.audit_dir import AuditDir, find_audit_dir
from vibes_lsp.store.config import load_config
from vibes_lsp.trail.trail import Trail

_PROVEN: Final = frozenset({State.EXACT, State.MOVED})


@dataclass(frozen=True, slots=True)
class EvidenceAuthorship:
    """Who wrote the lines of one piece of evidence, where they are now.

    Attributes:
        id: The evidence, or a source that is cited as a whole.
        path: The file, relative to the project of the knowledge base; None if it names no lines.
        state: How the lines were found; None if it names none.
        lines: First and last line now; None if they are not found.
        ai: Those of its lines that an AI wrote.
        is_trail: Whether the source is the trail itself, and so an AI's word.
        is_precise: Whether it names lines that its source has, or all of the source.
    """

    id: str
    path: str | None = None
    state: State | None = None
    lines: tuple[int, int] | None = None
    ai: AiLines = field(default_factory=AiLines)
    is_trail: bool = False
    is_precise: bool = True

    @property
    def is_ai_written(self) -> bool:
        """Whether an AI wrote at least one of its lines, as far as the trail says."""
        return bool(self.ai) or self.is_trail

    @property
    def is_unreviewed(self) -> bool:
        """Whether it has lines that an AI wrote and no person approved."""
        return self.ai.unreviewed > 0 or self.is_trail

    @property
    def supports(self) -> bool:
        """Whether it is more than an AI's word: what it names is found, and none is unreviewed."""
        return self.is_precise and not self.is_unreviewed and self.state is not State.LOST

    def as_json(self) -> dict[str, Any]:
        """Return it with the names of `vibes kb provenance report --json`."""
        return {
            "evidence_id": self.id,
            "path": self.path,
            "state": None if self.state is None else self.state.value,
            "line_start": None if self.lines is None else self.lines[0],
            "line_end": None if self.lines is None else self.lines[1],
            "ai_written": self.is_ai_written,
            "verified_lines": self.ai.verified,
            "claimed_lines": self.ai.claimed,
            "unreviewed_lines": self.ai.unreviewed,
            "annotation_ids": list(self.ai.annotations),
            "from_trail": self.is_trail,
        }


@dataclass(frozen=True, slots=True)
class ClaimAuthorship:
    """A claim with who wrote what it cites.

    Attributes:
        claim: The claim's members.
        evidence: What it cites.
    """

    claim: Mapping[str, Any]
    evidence: tuple[EvidenceAuthorship, ...]

    @property
    def is_ai_written(self) -> bool:
        """Whether an AI wrote some of its evidence."""
        return any(authorship.is_ai_written for authorship in self.evidence)

    @property
    def rests_on_unreviewed(self) -> bool:
        """Whether it cites lines that an AI wrote and no person approved, and nothing else."""
        return any(authorship.is_unreviewed for authorship in self.evidence) and not any(
            authorship.supports for authorship in self.evidence
        )

    def as_json(self) -> dict[str, Any]:
        """Return it with the names of `vibes kb provenance report --json`."""
        return {
            "claim_id": self.claim["id"],
            "text": self.claim["text"],
            "status": self.claim["status"],
            "ai_written": self.is_ai_written,
            "rests_on_unreviewed": self.rests_on_unreviewed,
            "evidence": [authorship.as_json() for authorship in self.evidence],
        }


def authorship_of_claims(
    snapshot: KnowledgeSnapshot, claim_id: str | None = None
) -> list[ClaimAuthorship]:
    """Return open claims with who wrote what they cite, by id.

    Files are read as they are on disk, and located with git's history and without caches.

    Args:
        snapshot: The knowledge base.
        claim_id: Only this claim.
    """
    chosen = [
        claim
        for identifier, claim in sorted(snapshot.objects[Kind.CLAIM].items())
        if claim["status"] not in CLOSED and claim_id in {None, identifier}
    ]
    project = snapshot.path.parent
    cited_ids = {
        identifier
        for claim in chosen
        for identifier in current_evidence(claim["evidence"], snapshot.objects[Kind.EVIDENCE])
    }
    authorship_by_id = {
        authorship.id: authorship for authorship in _authorship(snapshot, project, cited_ids)
    }
    return [
        ClaimAuthorship(
            claim,
            tuple(
                authorship_by_id.get(identifier) or _elsewhere(snapshot, identifier)
                for identifier in current_evidence(
                    claim["evidence"], snapshot.objects[Kind.EVIDENCE]
                )
            ),
        )
        for claim in chosen
    ]


def _elsewhere(snapshot: KnowledgeSnapshot, identifier: str) -> EvidenceAuthorship:
    """Return evidence in no file of the project, which is lost if it or its source is missing."""
    evidence = snapshot.get(Kind.EVIDENCE, identifier)
    source_id = identifier if evidence is None else str(evidence["source_id"])
    is_there = snapshot.get(Kind.SOURCE, source_id) is not None
    return EvidenceAuthorship(identifier, state=None if is_there else State.LOST)


def _authorship(
    snapshot: KnowledgeSnapshot, project: Path, identifiers: set[str]
) -> Iterator[EvidenceAuthorship]:
    of_trails = _of_trails(snapshot, identifiers)
    for identifier in sorted(of_trails):
        yield EvidenceAuthorship(identifier, is_trail=True)
    identifiers = identifiers - of_trails  # an AI's word in whichever file it stands
    lines = {
        path: [
            cited_lines
            for cited_lines in snapshot.lines_in(path)
            if cited_lines[0].evidence["id"] in identifiers
        ]
        for path, citations in snapshot.citations.items()
        if any(citation.evidence["id"] in identifiers for citation in citations)
    }
    named = {str(citation.evidence["id"]) for cited in lines.values() for citation, _ in cited}
    whole = _whole_files(snapshot, project, identifiers - named)
    with ExitStack() as stack:
        trails = _Trails(stack)
        for path in sorted(lines.keys() | whole.keys()):
            yield from _in_file(trails, snapshot, path, lines.get(path, []), whole.get(path, []))


def _of_trails(snapshot: KnowledgeSnapshot, identifiers: set[str]) -> set[str]:
    """Return what cites a source that was made from a trail."""
    sources = {
        identifier
        for identifier, source in snapshot.objects[Kind.SOURCE].items()
        if PROVENANCE_MEMBER in (source.get("metadata") or {})
    }
    return {
        identifier
        for identifier in identifiers
        if identifier in sources
        or (snapshot.get(Kind.EVIDENCE, identifier) or {}).get("source_id") in sources
    }


def _whole_files(
    snapshot: KnowledgeSnapshot, project: Path, identifiers: set[str]
) -> dict[str, list[str]]:
    """Return sources, and evidence for no lines, by the file of the source."""
    identifiers_by_path: dict[str, list[str]] = {}
    for identifier in sorted(identifiers):
        evidence = snapshot.get(Kind.EVIDENCE, identifier)
        source_id = identifier if evidence is None else str(evidence["source_id"])
        path = _file_of(snapshot, project, source_id)
        if path is not None:
            identifiers_by_path.setdefault(path, []).append(identifier)
    return identifiers_by_path


def _file_of(snapshot: KnowledgeSnapshot, project: Path, source_id: str) -> str | None:
    source = snapshot.get(Kind.SOURCE, source_id)
    return None if source is None else file_of_source(project, source)


def _in_file(
    trails: _Trails,
    snapshot: KnowledgeSnapshot,
    path: str,
    cited: Sequence[tuple[Citation, EvidenceLines]],
    whole: Sequence[str],
) -> Iterator[EvidenceAuthorship]:
    """Yield who wrote the cited lines of one file; `whole` is what names none of them."""
    project = snapshot.path.parent
    identifiers = [str(citation.evidence["id"]) for citation, _ in cited]
    try:
        text = Text.from_bytes(read_content(project, path))
    except UnreadableFile:
        for identifier in (*identifiers, *whole):
            yield EvidenceAuthorship(identifier, path, State.LOST)
        return
    count = trails.counter(project, path, text)
    for (citation, _), identifier, where in zip(
        cited, identifiers, place_evidence([lines for _, lines in cited], text), strict=True
    ):
        if where.start is None or where.end is None:
            yield EvidenceAuthorship(identifier, path, State.LOST)
        else:
            lines, source_id = (where.start, where.end), str(citation.evidence["source_id"])
            # A locator can name another file than its source: then only proven lines count.
            is_precise = where.state in _PROVEN or _file_of(snapshot, project, source_id) == path
            yield EvidenceAuthorship(
                identifier, path, where.state, lines, count(*lines), is_precise=is_precise
            )
    for identifier in whole:
        lines = 1, max(len(text.lines), 1)
        is_source = snapshot.get(Kind.EVIDENCE, identifier) is None
        yield EvidenceAuthorship(
            identifier, path, State.UNVERIFIED, lines, count(*lines), is_precise=is_source
        )


@dataclass(slots=True)
class _Trails:
    """The trails that own files, each opened once."""

    _stack: ExitStack
    _open: dict[Path, tuple[ProjectLocator, Scorer]] = field(default_factory=dict)

    def counter(self, project: Path, path: str, text: Text) -> CountAiLines:
        """Return what counts the AI lines from a first to a last line of a file."""
        file = project / path
        try:
            directory = find_audit_dir(file.parent)
            name = file.relative_to(directory.project).as_posix()
        except (AuditDirNotFound, ValueError):  # no trail says anything about it
            return no_ai_lines
        locator, scorer = self._opened(directory)
        blame = blame_file(locator, name, text, scorer)

        def is_reviewed(placement: Placement) -> bool:
            return is_settled(blame.report.placement(placement)["review"])

        return lambda first, last: count_ai_lines(blame.placements, first, last, is_reviewed)

    def _opened(self, directory: AuditDir) -> tuple[ProjectLocator, Scorer]:
        if directory.path not in self._open:
            trail = open_trail(directory)
            locator = self._stack.enter_context(ProjectLocator(trail))
            self._open[directory.path] = locator, Scorer(trail, load_config(directory).policy)
        return self._open[directory.path]


def open_trail(directory: AuditDir) -> Trail:
    """Read a trail as it is.

    Raises:
        UnreadableFile: Its log cannot be read.
    """
    trail = Trail(directory, nearest_commit=partial(nearest_ancestor, directory.project))
    trail.refresh()
    if trail.log.problem is not None:
        raise trail.log.problem
    return trail


def resting(claims: Iterable[ClaimAuthorship]) -> list[ClaimAuthorship]:
    """Return the claims that rest on lines that an AI wrote and no person approved."""
    return [claim for claim in claims if claim.rests_on_unreviewed]

"""What a knowledge base says about lines: its claims and proposals by the file that they cite.

Read from the index in a thread, into values that do not change; answers need no file then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from vibes_lsp.errors import VibesError
from vibes_lsp.knowledge.evidence_lines import (
    CapturedSource,
    EvidenceLines,
    captured_source,
    evidence_lines,
    parse_locator,
)
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.knowledge.object_index import ObjectIndex
from vibes_lsp.knowledge.objects import CLOSED, Kind
from vibes_lsp.model.paths import can_be_in_project, normal_path

_READ: Final = (
    Kind.CLAIM,
    Kind.EVIDENCE,
    Kind.SOURCE,
    Kind.PENDING,
    Kind.PAGE,
    Kind.ENTITY,
    Kind.RELATION,
    Kind.SESSION,
)
_MAX_CONTENT: Final = 64 << 20
"""Most bytes of captured sources that the lines of one file are compared with."""

Members: TypeAlias = Mapping[str, Any]

Approvals: TypeAlias = frozenset[tuple[str, str, str]]
"""The claims that decisions approve: id, approver and text."""


@dataclass(frozen=True, slots=True)
class Citation:
    """Evidence for lines of one file, with what cites it.

    Attributes:
        evidence: The evidence.
        claims: The ids of the open claims.
        proposals: The ids of the proposals that wait for a decision.
    """

    evidence: Members
    claims: tuple[str, ...]
    proposals: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KnowledgeSnapshot:
    """A knowledge base at one time.

    Attributes:
        path: The folder `.vouch`.
        objects: The objects of each kind, by id. Proposals are those that wait.
        citations: Evidence by the path of the file whose lines it names.
        approvals: The claims that decisions approve.
    """

    path: Path
    objects: Mapping[Kind, Mapping[str, Members]] = field(default_factory=dict)
    citations: Mapping[str, Sequence[Citation]] = field(default_factory=dict)
    approvals: Approvals = frozenset()

    def get(self, kind: Kind, identifier: str) -> Members | None:
        """Return an object; None if there is none."""
        return self.objects.get(kind, {}).get(identifier)

    def claim(self, identifier: str) -> Members | None:
        """Return a claim; None if there is none."""
        return self.get(Kind.CLAIM, identifier)

    def proves_approver(self, claim: Members) -> bool:
        """Return whether a decision approves the text of a claim in the name that it gives."""
        return is_approver_proven(claim, self.approvals)

    def proposal(self, identifier: str) -> Members | None:
        """Return a proposal that waits; None if there is none."""
        return self.get(Kind.PENDING, identifier)

    def proposals(self) -> list[Members]:
        """Return the proposals that wait, the oldest first."""
        pending = self.objects.get(Kind.PENDING, {})
        return [pending[identifier] for identifier in sorted(pending)]

    def lines_in(self, path: str) -> list[tuple[Citation, EvidenceLines]]:
        """Return the evidence of a file with the lines that it names; reads captured sources.

        Sources beyond a number of bytes are not read: they prove nothing.

        Args:
            path: Relative to the project.
        """
        knowledge, cited_lines = KnowledgeBase(self.path), []
        sources: dict[str, CapturedSource | None] = {}
        left = _MAX_CONTENT
        for citation in self.citations.get(path, ()):
            evidence = citation.evidence
            locator = parse_locator(evidence["locator"])
            source_id = str(evidence["source_id"])
            if source_id not in sources:
                source = sources[source_id] = _captured(knowledge, source_id, left)
                left -= 0 if source is None else len(source.content)
            lines = None
            if locator is not None:
                source = sources[source_id]
                lines = evidence_lines(locator, evidence["quote"], evidence["hash"], source)
            if lines is not None:
                cited_lines.append((citation, lines))
        return cited_lines


def read_snapshot(index: ObjectIndex) -> KnowledgeSnapshot:
    """Read what changed of a knowledge base, and return it; broken files are left out."""
    knowledge = index.knowledge
    index.refresh((*_READ, Kind.DECISION))
    objects: dict[Kind, dict[str, Members]] = {
        kind: {members["id"]: members for members in index.members(kind)} for kind in _READ
    }
    approvals = approvals_of(index.members(Kind.DECISION))
    pending = objects[Kind.PENDING]
    objects[Kind.PENDING] = {
        identifier: proposal
        for identifier, proposal in pending.items()
        if knowledge.is_waiting(identifier)
    }
    return KnowledgeSnapshot(
        knowledge.path, objects, _citations(knowledge.project, objects), approvals
    )


def approvals_of(decisions: Iterable[Members]) -> Approvals:
    """Return the claims that decisions approve."""
    return frozenset(
        (
            str(decision["payload"].get("id")),
            str(decision["decided_by"]),
            str(decision["payload"].get("text")),
        )
        for decision in decisions
        if decision["kind"] == "claim" and decision["status"] == "approved"
    )


def is_approver_proven(claim: Members, approvals: Approvals) -> bool:
    """Return whether a decision approves the text of a claim in the name that the claim gives.

    A redacted claim has another text than the one that was approved.
    """
    approved = (str(claim["id"]), str(claim.get("approved_by")), str(claim["text"]))
    return approved in approvals or claim["status"] == "redacted"


def file_of_source(project: Path, source: Members) -> str | None:
    """Return the path of the file that a source was captured from; None if it is no such path.

    Decided by the text of the path alone; callers open no other file than one of the project.
    """
    if source["type"] != "file":
        return None
    path = str(source["locator"])
    try:
        relative = Path(path).relative_to(project).as_posix() if Path(path).is_absolute() else path
    except ValueError:
        return None
    return normal_path(relative) if can_be_in_project(relative) else None


def _citations(
    project: Path, objects: Mapping[Kind, Mapping[str, Members]]
) -> dict[str, list[Citation]]:
    evidence_by_id, paths = objects[Kind.EVIDENCE], dict[str, str | None]()
    claims = _citing(
        (claim["id"], current_evidence(claim["evidence"], evidence_by_id))
        for claim in objects[Kind.CLAIM].values()
        if claim["status"] not in CLOSED
    )
    proposals = _citing(
        (proposal["id"], _texts(proposal["payload"].get("evidence")))
        for proposal in objects[Kind.PENDING].values()
    )
    citations_by_path: dict[str, list[Citation]] = {}
    for identifier in {*claims, *proposals}:
        evidence = evidence_by_id.get(identifier)
        if evidence is None:
            continue
        source_id = str(evidence["source_id"])
        source = objects[Kind.SOURCE].get(source_id)
        if source is not None and source_id not in paths:
            paths[source_id] = file_of_source(project, source)
        locator = parse_locator(str(evidence["locator"]))
        path = None if locator is None else locator.path or paths.get(source_id)
        if path is not None:
            citation = Citation(
                evidence,
                tuple(sorted(claims.get(identifier, ()))),
                tuple(sorted(proposals.get(identifier, ()))),
            )
            citations_by_path.setdefault(path, []).append(citation)
    for citations in citations_by_path.values():
        citations.sort(key=lambda citation: str(citation.evidence["id"]))
    return citations_by_path


def _citing(cited: Iterable[tuple[str, Iterable[str]]]) -> dict[str, set[str]]:
    """Return what cites each evidence."""
    citing_ids: dict[str, set[str]] = {}
    for identifier, evidence in cited:
        for evidence_id in evidence:
            citing_ids.setdefault(evidence_id, set()).add(identifier)
    return citing_ids


def current_evidence(cited: Sequence[str], evidence: Mapping[str, Members]) -> list[str]:
    """Return the evidence of a claim without that for which it cites newer evidence.

    Evidence that replaces itself, directly or not, replaces nothing.
    """
    known = {identifier: evidence[identifier] for identifier in cited if identifier in evidence}
    replaced = {
        members["replaces"]
        for identifier, members in known.items()
        if members.get("replaces") in known and not is_in_cycle(identifier, known, "replaces")
    }
    return [identifier for identifier in cited if identifier not in replaced]


def is_in_cycle(identifier: str, objects: Mapping[str, Members], member: str) -> bool:
    """Return whether an object leads to itself by a member that names the next one."""
    seen: set[str] = set()
    following = str(objects[identifier].get(member))
    while following in objects and following not in seen:
        seen.add(following)
        following = str(objects[following].get(member))
    return identifier in seen


def _texts(value: object) -> list[str]:
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def _captured(knowledge: KnowledgeBase, source_id: str, limit: int) -> CapturedSource | None:
    """Return the captured bytes of a source; None if they are gone, changed or too many."""
    try:
        return captured_source(source_id, knowledge.content_of(source_id, limit=limit))
    except VibesError:
        return None

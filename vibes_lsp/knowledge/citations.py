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
from vibes_lsp.knowledge.object_index import open_index
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
        found = self.objects.get(Kind.PENDING, {})
        return [found[identifier] for identifier in sorted(found)]

    def lines_in(self, path: str) -> list[tuple[Citation, EvidenceLines]]:
        """Return the evidence of a file with the lines that it names; reads captured sources.

        Sources beyond a number of bytes are not read: they prove nothing.

        Args:
            path: Relative to the project.
        """
        knowledge, found = KnowledgeBase(self.path), []
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
                found.append((citation, lines))
        return found


def read_snapshot(path: Path) -> KnowledgeSnapshot:
    """Read a knowledge base; broken files are left out.

    Raises:
        VibesError: Its settings cannot be read.
    """
    knowledge = KnowledgeBase(path)
    with open_index(knowledge) as index:
        index.refresh((*_READ, Kind.DECISION))
        objects: dict[Kind, dict[str, Members]] = {
            kind: {each["id"]: each for each in index.members(kind)} for kind in _READ
        }
        approvals = approvals_of(index.members(Kind.DECISION))
    pending = objects[Kind.PENDING]
    objects[Kind.PENDING] = {
        identifier: each
        for identifier, each in pending.items()
        if each["status"] == "pending" and not knowledge.exists(Kind.DECISION, identifier)
    }
    return KnowledgeSnapshot(path, objects, _citations(knowledge.project, objects), approvals)


def approvals_of(decisions: Iterable[Members]) -> Approvals:
    """Return the claims that decisions approve."""
    return frozenset(
        (str(each["payload"].get("id")), str(each["decided_by"]), str(each["payload"].get("text")))
        for each in decisions
        if each["kind"] == "claim" and each["status"] == "approved"
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
    is_any_replaced = any(each.get("replaces") for each in evidence_by_id.values())
    claims = _citing(
        (
            each["id"],
            current_evidence(each["evidence"], evidence_by_id)
            if is_any_replaced
            else each["evidence"],
        )
        for each in objects[Kind.CLAIM].values()
        if each["status"] not in CLOSED
    )
    proposals = _citing(
        (each["id"], _texts(each["payload"].get("evidence")))
        for each in objects[Kind.PENDING].values()
    )
    found: dict[str, list[Citation]] = {}
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
            found.setdefault(path, []).append(citation)
    for citations in found.values():
        citations.sort(key=lambda each: str(each.evidence["id"]))
    return found


def _citing(cited: Iterable[tuple[str, Iterable[str]]]) -> dict[str, set[str]]:
    """Return what cites each evidence."""
    found: dict[str, set[str]] = {}
    for identifier, evidence in cited:
        for each in evidence:
            found.setdefault(each, set()).add(identifier)
    return found


def current_evidence(cited: Sequence[str], evidence: Mapping[str, Members]) -> list[str]:
    """Return the evidence of a claim without that for which it cites newer evidence.

    Evidence that replaces itself, directly or not, replaces nothing.
    """
    known = {each: evidence[each] for each in cited if each in evidence}
    replaced = {
        each["replaces"]
        for identifier, each in known.items()
        if each.get("replaces") in known and not is_in_cycle(identifier, known, "replaces")
    }
    return [each for each in cited if each not in replaced]


def is_in_cycle(identifier: str, objects: Mapping[str, Members], member: str) -> bool:
    """Return whether an object leads to itself by a member that names the next one."""
    seen: set[str] = set()
    following = str(objects[identifier].get(member))
    while following in objects and following not in seen:
        seen.add(following)
        following = str(objects[following].get(member))
    return identifier in seen


def _texts(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def _captured(knowledge: KnowledgeBase, source_id: str, limit: int) -> CapturedSource | None:
    """Return the captured bytes of a source; None if they are gone, changed or too many."""
    try:
        return captured_source(source_id, knowledge.content_of(source_id, limit=limit))
    except VibesError:
        return None

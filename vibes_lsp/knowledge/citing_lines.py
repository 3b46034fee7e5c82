"""Claims about lines of a file as an editor has it: propose one, cite its lines where they are now.

The text of the moment, saved or not, is captured as the source, so that it proves the lines.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import InvalidObject
from vibes_lsp.knowledge.changes import changing
from vibes_lsp.knowledge.evidence_lines import format_lines
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.knowledge.lifecycle import Lifecycle
from vibes_lsp.knowledge.methods import KnowledgeMethods
from vibes_lsp.knowledge.objects import Source
from vibes_lsp.knowledge.sources import (
    create_evidence,
    locator_in,
    plan_lines,
    refuse_hidden,
    source_of,
)


@dataclass(frozen=True, slots=True)
class CitedLines:
    """Lines of a file.

    Attributes:
        path: The file, relative to the project.
        content: Its bytes, or those of the unsaved text.
        start: First line, 1-based.
        end: Last line, inclusive.
    """

    path: str
    content: bytes
    start: int
    end: int

    def check(self) -> None:
        """Check that the content has the lines.

        Raises:
            InvalidObject: It ends before.
        """
        length = len(Text.from_bytes(self.content).lines)
        if not 0 < self.start <= self.end <= length:
            raise InvalidObject(f"range: lines {self.start}-{self.end}: the file has {length}")


def propose_claim_at(
    knowledge: KnowledgeBase,
    lines: CitedLines,
    members: dict[str, Any],
    *,
    actor: str,
    now: datetime,
) -> dict[str, Any]:
    """Propose a claim whose evidence is some lines; return the result of `kb.propose_claim`.

    Args:
        knowledge: The knowledge base.
        lines: The lines.
        members: Further parameters of `kb.propose_claim`.
        actor: Who proposes.
        now: The time.

    Raises:
        InvalidObject: The file has no such lines, git does not store them, or the claim breaks a
            rule.
        VibesError: The knowledge base cannot be written.
    """
    lines.check()
    if not str(members.get("text") or "").strip():
        raise InvalidObject("text: is empty: a claim needs one")
    refuse_hidden(knowledge, lines.path, lines.content)
    source = source_of(lines.content, lines.path, now)
    planned = plan_lines(source, lines.content, _locator(knowledge, source, lines), now)
    with changing(knowledge, actor, now) as change:
        create_evidence(change, planned)
    cited = planned.evidence.id
    with closing(KnowledgeMethods(knowledge, actor)) as methods:
        result: dict[str, Any] = methods.call("kb.propose_claim", {**members, "evidence": [cited]})
    if not result["valid"]:
        raise InvalidObject("; ".join(result["errors"]))
    return result


def reanchor_at(  # noqa: PLR0917  # what to change, and for whom
    knowledge: KnowledgeBase,
    claim_id: str,
    evidence_id: str,
    lines: CitedLines,
    actor: str,
    now: datetime,
) -> str:
    """Cite lines in place of older evidence of a claim; return the id of the new evidence.

    Raises:
        InvalidObject: The file has no such lines, git does not store them, or the claim does not
            cite the evidence.
        UnknownId: There is no such claim.
        VibesError: The knowledge base cannot be written.
    """
    lines.check()
    refuse_hidden(knowledge, lines.path, lines.content)
    source, lifecycle = source_of(lines.content, lines.path, now), Lifecycle(knowledge, actor, now)
    place = _locator(knowledge, source, lines)
    return lifecycle.reanchor(claim_id, evidence_id, source, lines.content, place).id


def _locator(knowledge: KnowledgeBase, source: Source, lines: CitedLines) -> str:
    return locator_in(knowledge, source, lines.path, format_lines(lines.start, lines.end))

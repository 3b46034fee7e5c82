"""What can be proposed: the members of a new claim, page, entity or relation."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict

from vibes_lsp.knowledge.objects import (
    ClaimType,
    EntityType,
    Fraction,
    PageType,
    ProposalKind,
    RelationType,
    Scope,
    Text,
)
from vibes_lsp.knowledge.sources import InlineEvidence


class ProposalDraft(BaseModel):
    """What a proposal is to create; unknown members are refused.

    Attributes:
        slug_hint: The wished id.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    slug_hint: str | None = None


class ClaimDraft(ProposalDraft):
    """A claim to propose; `evidence` has ids of sources and evidence, or new evidence."""

    text: Text
    evidence: list[str | InlineEvidence] = []
    type: ClaimType = "observation"
    confidence: Fraction = 0.7
    entities: list[str] = []
    scope: Scope | None = None
    tags: list[str] = []


class PageDraft(ProposalDraft):
    """A page to propose."""

    title: Text
    body: str = ""
    type: PageType = "concept"
    claims: list[str] = []
    entities: list[str] = []
    sources: list[str] = []
    tags: list[str] = []


class EntityDraft(ProposalDraft):
    """An entity to propose."""

    name: Text
    type: EntityType
    aliases: list[str] = []
    description: str | None = None


class RelationDraft(ProposalDraft):
    """A relation to propose."""

    source: str
    relation: RelationType
    target: str
    confidence: Fraction = 0.7
    evidence: list[str] = []


DRAFT_KINDS: Final[dict[type[ProposalDraft], ProposalKind]] = {
    ClaimDraft: ProposalKind.CLAIM,
    PageDraft: ProposalKind.PAGE,
    EntityDraft: ProposalKind.ENTITY,
    RelationDraft: ProposalKind.RELATION,
}


def draft_title(draft: ProposalDraft) -> str:
    """Return the text of a draft that its id is made from."""
    if isinstance(draft, ClaimDraft):
        return draft.text
    if isinstance(draft, PageDraft):
        return draft.title
    if isinstance(draft, EntityDraft):
        return draft.name
    if isinstance(draft, RelationDraft):
        return f"{draft.source}--{draft.relation}--{draft.target}"
    return ""

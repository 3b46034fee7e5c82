"""What can be proposed to the review gate: the parameters of the `kb.propose_*` methods."""

from __future__ import annotations

from typing import Annotated, ClassVar, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field

from vibes_lsp.knowledge.method_parameters import Line, Parameters, either
from vibes_lsp.knowledge.objects import (
    ClaimType,
    EntityType,
    Fraction,
    Id,
    PageType,
    ProposalKind,
    RelationType,
    Scope,
    Text,
)
from vibes_lsp.knowledge.sources import InlineEvidence

_Stripped: TypeAlias = Annotated[Text, AfterValidator(str.strip)]
_Names: TypeAlias = Annotated[list[str] | None, AfterValidator(lambda names: names or [])]


class ProposalDraft(Parameters):
    """What all proposals have in common.

    Attributes:
        kind: What an approval creates.
        named_by: The members that its id is made from.
        slug_hint: The wished id.
    """

    model_config = ConfigDict(validate_default=True)
    kind: ClassVar[ProposalKind]
    named_by: ClassVar[tuple[str, ...]]

    slug_hint: Line | None = None
    session_id: Id | None = None
    rationale: Line | None = None
    """Why you propose it."""
    dry_run: bool = False

    def summary(self) -> str:
        """Return the text that the id is made from."""
        return "--".join(getattr(self, name) for name in self.named_by)


class ClaimDraft(ProposalDraft):
    """For `kb.propose_claim`; `evidence` has ids of sources and evidence, or new evidence."""

    kind = ProposalKind.CLAIM
    named_by = ("text",)

    text: _Stripped
    """What you claim, in one sentence."""
    evidence: list[str | InlineEvidence]
    """Source or evidence cited."""
    type: ClaimType = Field("observation", validation_alias=either("type", "claim_type"))
    """Type of claim."""
    confidence: Fraction = 0.7
    """From 0 to 1."""
    entities: _Names = None
    scope: Scope | None = None
    tags: _Names = None
    """Tag of the claim."""


class PageDraft(ProposalDraft):
    """For `kb.propose_page`."""

    kind = ProposalKind.PAGE
    named_by = ("title",)

    title: _Stripped
    """Title of the page."""
    body: Annotated[str | None, AfterValidator(lambda body: body or "")] = None
    """Text in Markdown."""
    type: PageType = Field("concept", validation_alias=either("type", "page_type"))
    """Type of page."""
    claims: _Names = Field(None, validation_alias=either("claims", "claim_ids"))
    """Claim that it uses."""
    entities: _Names = Field(None, validation_alias=either("entities", "entity_ids"))
    """Entity it is about."""
    sources: _Names = Field(None, validation_alias=either("sources", "source_ids"))
    """Source that it uses."""
    tags: _Names = None


class EntityDraft(ProposalDraft):
    """For `kb.propose_entity`."""

    kind = ProposalKind.ENTITY
    named_by = ("name",)

    name: _Stripped
    """Name of the entity."""
    type: EntityType = Field(validation_alias=either("type", "entity_type"))
    """Type of entity."""
    aliases: _Names = None
    """Another name."""
    description: str | None = None
    """What it is."""


class RelationDraft(ProposalDraft):
    """For `kb.propose_relation`."""

    kind = ProposalKind.RELATION
    named_by = ("source", "relation", "target")

    source: Text = Field(validation_alias=either("source", "src"))
    """Where it begins."""
    relation: RelationType
    """Type of relation."""
    target: Text
    """Where it ends."""
    confidence: Fraction = 0.7
    """From 0 to 1."""
    evidence: _Names = None

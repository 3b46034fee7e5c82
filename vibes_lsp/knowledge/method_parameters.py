"""The parameters of the `kb.*` methods, in the words of the specification and of its reference.

Both spellings of a parameter are accepted; parameters that no version knows are ignored.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from vibes_lsp.knowledge.bundles import OnConflict
from vibes_lsp.knowledge.objects import (
    ClaimType,
    EntityType,
    Fraction,
    Id,
    PageType,
    RelationType,
    Scope,
    SourceType,
    Text,
)
from vibes_lsp.knowledge.sources import InlineEvidence

Line: TypeAlias = Annotated[str, Field(max_length=10_000)]
"""A text that goes to the audit log, whose lines are bounded."""
Count: TypeAlias = Annotated[int, Field(ge=0, le=1_000_000)]
SearchedKind: TypeAlias = Literal["claim", "page", "entity", "source"]


def _either(*names: str) -> AliasChoices:
    return AliasChoices(*names)


class Parameters(BaseModel):
    """The parameters of a method without any."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class SearchParameters(Parameters):
    """For `kb.search`."""

    query: str
    limit: Count = 10
    kinds: list[SearchedKind] | None = None
    backend: Literal["auto", "fts5", "substring"] = "auto"


class ContextParameters(Parameters):
    """For `kb.context`."""

    task: str = Field(validation_alias=_either("task", "query"))
    max_chars: Count | None = 4000
    min_items: Count = 0
    limit: Count = 10
    require_citations: bool = False
    fail_on_warnings: bool = False
    fail_on_budget_truncation: bool = False


class ReadParameters(Parameters):
    """For `kb.read_*`."""

    id: str = Field(
        validation_alias=_either("id", "claim_id", "page_id", "entity_id", "relation_id")
    )


class ListParameters(Parameters):
    """For `kb.list_*`; filters may stand beside the others too, as in the reference."""

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    limit: Count | None = None
    offset: Count = 0
    filter: dict[str, Any] | None = None


class ProvenanceReportParameters(Parameters):
    """For `kb.provenance_report`."""

    claim_id: str | None = None


class RegisterProvenanceParameters(Parameters):
    """For `kb.register_provenance`: a session, context entry or annotation of the audit trail."""

    id: str


class RegisterParameters(Parameters):
    """For `kb.register_source`."""

    content: str
    type: SourceType = Field("file", validation_alias=_either("type", "source_type"))
    locator: Line | None = Field(None, validation_alias=_either("locator", "url"))
    title: Line | None = None
    media_type: Line | None = None
    tags: list[str] | None = None


class RegisterPathParameters(Parameters):
    """For `kb.register_source_from_path`."""

    path: str
    type: SourceType = Field("file", validation_alias=_either("type", "source_type"))
    title: Line | None = None
    media_type: Line | None = None


class VerifyParameters(Parameters):
    """For `kb.source_verify`."""

    id: str | None = None


class ProposeParameters(Parameters):
    """What all proposals have in common."""

    slug_hint: Line | None = None
    session_id: Id | None = None
    rationale: Line | None = None
    dry_run: bool = False


class ProposeClaimParameters(ProposeParameters):
    """For `kb.propose_claim`."""

    text: Text
    evidence: list[str | InlineEvidence]
    type: ClaimType = Field("observation", validation_alias=_either("type", "claim_type"))
    confidence: Fraction = 0.7
    entities: list[str] | None = None
    scope: Scope | None = None
    tags: list[str] | None = None


class ProposePageParameters(ProposeParameters):
    """For `kb.propose_page`."""

    title: Text
    body: str | None = None
    type: PageType = Field("concept", validation_alias=_either("type", "page_type"))
    claims: list[str] | None = Field(None, validation_alias=_either("claims", "claim_ids"))
    entities: list[str] | None = Field(None, validation_alias=_either("entities", "entity_ids"))
    sources: list[str] | None = Field(None, validation_alias=_either("sources", "source_ids"))
    tags: list[str] | None = None


class ProposeEntityParameters(ProposeParameters):
    """For `kb.propose_entity`."""

    name: Text
    type: EntityType = Field(validation_alias=_either("type", "entity_type"))
    aliases: list[str] | None = None
    description: str | None = None


class ProposeRelationParameters(ProposeParameters):
    """For `kb.propose_relation`."""

    source: Text = Field(validation_alias=_either("source", "src"))
    relation: RelationType
    target: Text
    confidence: Fraction = 0.7
    evidence: list[str] | None = None


class ApproveParameters(Parameters):
    """For `kb.approve`; `approver` is ignored: who calls is who decides."""

    proposal_id: str
    reason: Line | None = None


class RejectParameters(Parameters):
    """For `kb.reject`."""

    proposal_id: str
    reason: Annotated[Text, Field(max_length=10_000)]


class SupersedeParameters(Parameters):
    """For `kb.supersede`."""

    old_id: str = Field(validation_alias=_either("old_id", "old_claim_id"))
    new_id: str = Field(validation_alias=_either("new_id", "new_claim_id"))
    reason: Line | None = None


class ContradictParameters(Parameters):
    """For `kb.contradict`."""

    a_id: str = Field(validation_alias=_either("a_id", "claim_a"))
    b_id: str = Field(validation_alias=_either("b_id", "claim_b"))
    reason: Line | None = None


class ArchiveParameters(Parameters):
    """For `kb.archive` and `kb.confirm`."""

    id: str = Field(validation_alias=_either("id", "claim_id"))
    reason: Line | None = None


class CiteParameters(Parameters):
    """For `kb.cite`: with evidence it adds citations, without it returns those of the claim."""

    id: str = Field(validation_alias=_either("id", "claim_id"))
    evidence: str | InlineEvidence | list[str | InlineEvidence] | None = None


class SessionStartParameters(Parameters):
    """For `kb.session_start`."""

    task: Line | None = None
    note: Line | None = None


class SessionEndParameters(Parameters):
    """For `kb.session_end`."""

    session_id: str
    note: Line | None = None


class CrystallizeParameters(Parameters):
    """For `kb.crystallize`."""

    session_id: str
    no_page: bool = False
    write_summary_page: bool = True


class LintParameters(Parameters):
    """For `kb.lint`."""

    stale_days: Annotated[int, Field(ge=0, le=100_000)] | None = None


class AuditParameters(Parameters):
    """For `kb.audit`."""

    tail: Count | None = None
    filter: dict[str, Any] | None = None


class ExportParameters(Parameters):
    """For `kb.export`."""

    out: str = Field(validation_alias=_either("out", "out_path"))
    without_decided: bool = False


class BundleParameters(Parameters):
    """For `kb.export_check` and `kb.import_check`."""

    path: str = Field(validation_alias=_either("path", "bundle_path"))


class ImportParameters(BundleParameters):
    """For `kb.import_apply`."""

    on_conflict: OnConflict = "skip"

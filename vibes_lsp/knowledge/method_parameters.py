"""The parameters of the `kb.*` methods, in the words of the specification and of its reference.

Both spellings of a parameter are accepted; parameters that no version knows are ignored. Those of
`kb.propose_*` are in `drafts`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from vibes_lsp.knowledge.bundles import OnConflict
from vibes_lsp.knowledge.objects import (
    SourceType,
    Text,
)
from vibes_lsp.knowledge.sources import InlineEvidence

Line: TypeAlias = Annotated[str, Field(max_length=10_000)]
"""A text that goes to the audit log, whose lines are bounded."""
Count: TypeAlias = Annotated[int, Field(ge=0, le=1_000_000)]
SearchedKind: TypeAlias = Literal["claim", "page", "entity", "source"]


def either(*names: str) -> AliasChoices:
    """Return the spellings of a parameter."""
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
    """For `kb.context`.

    Attributes:
        task: The task in words.
        max_chars: The budget; None for none.
        min_items: How many items it needs.
        limit: How many it has at most.
        require_citations: Whether claims without citations are left out.
        fail_on_warnings: Whether a warning makes it fail.
        fail_on_budget_truncation: Whether leaving out items for the budget makes it fail.
    """

    task: str = Field(validation_alias=either("task", "query"))
    max_chars: Count | None = 4000
    min_items: Count = 0
    limit: Count = 10
    require_citations: bool = False
    fail_on_warnings: bool = False
    fail_on_budget_truncation: bool = False


class ReadParameters(Parameters):
    """For `kb.read_*`."""

    id: str = Field(
        validation_alias=either("id", "claim_id", "page_id", "entity_id", "relation_id")
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
    type: SourceType = Field("file", validation_alias=either("type", "source_type"))
    locator: Line | None = Field(None, validation_alias=either("locator", "url"))
    title: Line | None = None
    media_type: Line | None = None
    tags: list[str] | None = None


class RegisterPathParameters(Parameters):
    """For `kb.register_source_from_path`."""

    path: str
    type: SourceType = Field("file", validation_alias=either("type", "source_type"))
    title: Line | None = None
    media_type: Line | None = None


class VerifyParameters(Parameters):
    """For `kb.source_verify`."""

    id: str | None = None


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

    old_id: str = Field(validation_alias=either("old_id", "old_claim_id"))
    new_id: str = Field(validation_alias=either("new_id", "new_claim_id"))
    reason: Line | None = None


class ContradictParameters(Parameters):
    """For `kb.contradict`."""

    a_id: str = Field(validation_alias=either("a_id", "claim_a"))
    b_id: str = Field(validation_alias=either("b_id", "claim_b"))
    reason: Line | None = None


class ArchiveParameters(Parameters):
    """For `kb.archive` and `kb.confirm`."""

    id: str = Field(validation_alias=either("id", "claim_id"))
    reason: Line | None = None


class CiteParameters(Parameters):
    """For `kb.cite`: with evidence it adds citations, without it returns those of the claim."""

    id: str = Field(validation_alias=either("id", "claim_id"))
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

    out: str = Field(validation_alias=either("out", "out_path"))
    without_decided: bool = False


class BundleParameters(Parameters):
    """For `kb.export_check` and `kb.import_check`."""

    path: str = Field(validation_alias=either("path", "bundle_path"))


class ImportParameters(BundleParameters):
    """For `kb.import_apply`."""

    on_conflict: OnConflict = "skip"

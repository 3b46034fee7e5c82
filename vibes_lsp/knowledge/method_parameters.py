"""The parameters of the `kb.*` methods, in the words of the specification and of its reference.

Both spellings of a parameter are accepted; parameters that no version knows are ignored. Those of
`kb.propose_*` are in `drafts`. The text below a parameter is its help in `vibes kb` and over MCP.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from vibes_lsp.knowledge.bundles import OnConflict
from vibes_lsp.knowledge.objects import (
    SourceType,
    Text,
)
from vibes_lsp.knowledge.sources import InlineEvidence

STALE_DAYS: Final = 180
Line: TypeAlias = Annotated[str, Field(max_length=10_000)]
"""A text that goes to the audit log, whose lines are bounded."""
Count: TypeAlias = Annotated[int, Field(ge=0, le=1_000_000)]
SearchedKind: TypeAlias = Literal["claim", "page", "entity", "source"]


def either(*names: str) -> AliasChoices:
    """Return the spellings of a parameter."""
    return AliasChoices(*names)


class Parameters(BaseModel):
    """The parameters of a method without any."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", populate_by_name=True, use_attribute_docstrings=True
    )


class SearchParameters(Parameters):
    """For `kb.search`."""

    query: str
    """Words to search."""
    limit: Count = 10
    """Maximum number of results."""
    kinds: list[SearchedKind] | None = None
    backend: Literal["auto", "fts5", "substring"] = "auto"


class ContextParameters(Parameters):
    """For `kb.context`."""

    task: str = Field(validation_alias=either("task", "query"))
    """What you want to do, in words."""
    max_chars: Count | None = 4000
    """Most characters of all items."""
    min_items: Count = 0
    """Minimum number of items."""
    limit: Count = 10
    """Maximum number of items."""
    require_citations: bool = False
    """Leave out claims without citations."""
    fail_on_warnings: bool = False
    """Fail if there is a warning."""
    fail_on_budget_truncation: bool = False
    """Fail if items are left out for the budget."""


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
    """For `kb.register_provenance`."""

    id: str
    """Session, context entry or annotation."""


class SourceParameters(Parameters):
    """The members of a source that may be chosen."""

    type: SourceType = Field("file", validation_alias=either("type", "source_type"))
    """Type of source."""
    title: Line | None = None
    """Title (default: the file's name)."""
    media_type: Line | None = None

    def members(self) -> dict[str, Any]:
        """Return the members of the source that are given."""
        chosen = {"type": self.type, "title": self.title, "media_type": self.media_type}
        return {name: value for name, value in chosen.items() if value}


class RegisterParameters(SourceParameters):
    """For `kb.register_source`."""

    content: str
    locator: Line | None = Field(None, validation_alias=either("locator", "url"))
    tags: list[str] = []


class RegisterPathParameters(SourceParameters):
    """For `kb.register_source_from_path`."""

    path: str
    """File of the project."""


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
    """Id of the proposal."""
    reason: Annotated[Text, Field(max_length=10_000)]
    """Why."""


class SupersedeParameters(Parameters):
    """For `kb.supersede`."""

    old_id: str = Field(validation_alias=either("old_id", "old_claim_id"))
    """Claim that no longer holds."""
    new_id: str = Field(validation_alias=either("new_id", "new_claim_id"))
    """Claim that holds instead."""
    reason: Line | None = None


class ContradictParameters(Parameters):
    """For `kb.contradict`."""

    a_id: str = Field(validation_alias=either("a_id", "claim_a"))
    """One claim."""
    b_id: str = Field(validation_alias=either("b_id", "claim_b"))
    """The other."""
    reason: Line | None = None


class ArchiveParameters(Parameters):
    """For `kb.archive` and `kb.confirm`."""

    id: str = Field(validation_alias=either("id", "claim_id"))
    """Id of the claim or page."""
    reason: Line | None = None


class CiteParameters(Parameters):
    """For `kb.cite`: with evidence it adds citations, without it returns those of the claim."""

    id: str = Field(validation_alias=either("id", "claim_id"))
    """Id of the claim."""
    evidence: str | InlineEvidence | list[str | InlineEvidence] | None = None


class SessionStartParameters(Parameters):
    """For `kb.session_start`."""

    task: Line | None = None
    note: Line | None = None


class SessionEndParameters(Parameters):
    """For `kb.session_end`."""

    session_id: str
    """Id of the session."""
    note: Line | None = None
    """A note."""


class CrystallizeParameters(Parameters):
    """For `kb.crystallize`."""

    session_id: str
    """Id of the session."""
    no_page: bool = False
    """Write no page that sums it up."""
    write_summary_page: bool = True


class LintParameters(Parameters):
    """For `kb.lint`."""

    stale_days: Annotated[int, Field(ge=0, le=100_000)] = STALE_DAYS
    """Report claims unchanged for this many days."""


class AuditParameters(Parameters):
    """For `kb.audit`."""

    tail: Count = 50
    """Number of events."""
    filter: dict[str, Any] | None = None


class ExportParameters(Parameters):
    """For `kb.export`."""

    out: str = Field(validation_alias=either("out", "out_path"))
    """Archive to write."""
    without_decided: bool = False
    """Leave out decisions, for vouch 1.4 to 1.5."""


class BundleParameters(Parameters):
    """For `kb.export_check` and `kb.import_check`."""

    path: str = Field(validation_alias=either("path", "bundle_path"))
    """The archive."""


class ImportParameters(BundleParameters):
    """For `kb.import_apply`."""

    on_conflict: OnConflict = "skip"
    """What to do with files that differ."""

"""The nine kinds of objects of a knowledge base as types, and the rules for their ids (vouch 2).

Members that this version does not know are kept when an object is written again.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum
from itertools import islice
from typing import Annotated, Any, Final, Literal, Self, TypeAlias

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from vibes_lsp.errors import InvalidObject
from vibes_lsp.knowledge.object_format import MemberPath

MAX_ID: Final = 200
"""Longest id in bytes; with its ending it must be a file name."""
_SLUG_LENGTH: Final = 60
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_PLAIN_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,199}")
_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
"""Names that are devices on Windows, with any ending."""


class Kind(StrEnum):
    """What a file of a knowledge base is; the value is the name of its folder."""

    CLAIM = "claims"
    PAGE = "pages"
    SOURCE = "sources"
    ENTITY = "entities"
    RELATION = "relations"
    EVIDENCE = "evidence"
    SESSION = "sessions"
    PENDING = "proposed"
    DECISION = "decided"

    @property
    def noun(self) -> str:
        """Return the name of one such object."""
        return _NOUNS[self]


_NOUNS: Final = {
    Kind.CLAIM: "claim",
    Kind.PAGE: "page",
    Kind.SOURCE: "source",
    Kind.ENTITY: "entity",
    Kind.RELATION: "relation",
    Kind.EVIDENCE: "evidence",
    Kind.SESSION: "session",
    Kind.PENDING: "proposal",
    Kind.DECISION: "proposal",
}


class ProposalKind(StrEnum):
    """What a proposal creates."""

    CLAIM = "claim"
    PAGE = "page"
    ENTITY = "entity"
    RELATION = "relation"

    @property
    def kind(self) -> Kind:
        """Return the kind of the object that an approval creates."""
        return next(kind for kind, noun in _NOUNS.items() if noun == self.value)


def proposed_kind(noun: str) -> Kind | None:
    """Return the kind of what a proposal creates; None for a kind of newer versions."""
    return next((kind.kind for kind in ProposalKind if kind == noun), None)


SourceType: TypeAlias = Literal[
    "file", "url", "transcript", "message", "commit", "issue",
    "screenshot", "pdf", "audio", "video", "folder",
]  # fmt: skip
ClaimType: TypeAlias = Literal[
    "fact", "decision", "preference", "workflow", "observation", "question", "warning"
]
ClaimStatus: TypeAlias = Literal[
    "working", "actionable", "stable", "contested", "superseded", "archived", "redacted"
]
CLOSED: Final = frozenset({"superseded", "archived", "redacted"})
"""The states of claims that count no longer."""
EntityType: TypeAlias = Literal[
    "person", "project", "repo", "company", "concept", "decision", "workflow", "file",
    "api", "incident", "source", "agent", "tool", "team", "system",
]  # fmt: skip
RelationType: TypeAlias = Literal[
    "uses", "depends_on", "contradicts", "supersedes", "supports", "caused_by", "owned_by",
    "derived_from", "similar_to", "blocks", "implements", "references",
    "mentions", "relates_to",  # since version 1.0 of the reference implementation
]  # fmt: skip
PageType: TypeAlias = Literal[
    "entity", "concept", "decision", "workflow", "session", "index", "log", "report",
    "source-summary",
]  # fmt: skip
PageStatus: TypeAlias = Literal["draft", "active", "stale", "archived"]
Visibility: TypeAlias = Literal["private", "project", "team", "public"]


def is_id(text: str) -> bool:
    """Return whether a text can be the id of an object and the name of its file.

    Letters and digits of any script, `-`, `_` and `.`; never a path, a hidden file or a device.
    """
    if _PLAIN_ID.fullmatch(text):  # a tenth of the time of what follows
        return not _DEVICES.fullmatch(text)
    return (
        0 < len(text.encode("utf-8", "replace")) <= MAX_ID
        and text[0].isalnum()
        and all(character.isalnum() or character in "-_." for character in text)
        and ".." not in text
        and not text.endswith(".")
        and not _DEVICES.fullmatch(text)
        and unicodedata.normalize("NFC", text) == text
    )


def is_source_id(text: str) -> bool:
    """Return whether a text is the lowercase SHA-256 of a source in hex (vouch 1.2)."""
    return _HASH.fullmatch(text) is not None


def is_id_of(kind: Kind, text: str) -> bool:
    """Return whether a text can be the id of an object of a kind."""
    return is_source_id(text) if kind is Kind.SOURCE else is_id(text)


def path_of(kind: Kind, identifier: str) -> str:
    """Return the path of an object's file, relative to the folder `.vouch`."""
    if kind is Kind.SOURCE:
        return f"{kind}/{identifier}/meta.yaml"
    return f"{kind}/{identifier}{ending_of(kind)}"


def ending_of(kind: Kind) -> str:
    """Return how the names of files of a kind end; a source is a folder."""
    return ".md" if kind is Kind.PAGE else "" if kind is Kind.SOURCE else ".yaml"


def kind_and_id(path: str) -> tuple[Kind, str] | None:
    """Return what a path in `.vouch` gives, where the id may be none; None if it is no object's."""
    folder, _, name = path.partition("/")
    if folder not in set(Kind):
        return None
    kind = Kind(folder)
    ending = "/meta.yaml" if kind is Kind.SOURCE else ending_of(kind)
    identifier = name.removesuffix(ending)
    return None if identifier == name or "/" in identifier else (kind, identifier)


def slug(text: str) -> str:
    """Return a kebab-case id for a title or a sentence, from a hash if it has no Latin letters."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    words = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_SLUG_LENGTH].strip("-")
    if words and is_id(words):
        return words
    return f"untitled-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:8]}"


def _checked_id(text: str) -> str:
    if not is_id(text):
        raise ValueError("is not an id: expected letters, digits, '-', '_' and '.'")
    return text


def _checked_source_id(text: str) -> str:
    if not is_source_id(text):
        raise ValueError("is not an id of a source: expected 64 lowercase hex digits")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text


def _in_utc(value: object) -> object:
    """Return a time without an offset as UTC; YAML and some versions write such times."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return value
    if isinstance(value, datetime) and value.tzinfo is None:
        return value.replace(tzinfo=UTC)
    return value


Id: TypeAlias = Annotated[str, AfterValidator(_checked_id)]
SourceId: TypeAlias = Annotated[str, AfterValidator(_checked_source_id)]
Text: TypeAlias = Annotated[str, AfterValidator(_not_blank)]
Moment: TypeAlias = Annotated[AwareDatetime, BeforeValidator(_in_utc)]
Fraction: TypeAlias = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class KnowledgeObject(BaseModel):
    """The base of all kinds: values are checked, unknown members are kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    id: Id

    def members(self) -> dict[str, Any]:
        """Return the object as JSON values."""
        return self.model_dump(mode="json")


class ArtifactScope(BaseModel):
    """The form of a scope in version 1.5 of the reference implementation."""

    model_config = ConfigDict(frozen=True, extra="allow")

    visibility: Visibility = "project"


Scope: TypeAlias = Visibility | ArtifactScope


class Source(KnowledgeObject):
    """Immutable input material, named by the hash of its bytes (vouch 2.1)."""

    id: SourceId
    type: SourceType = "file"
    locator: str
    title: str | None = None
    hash: str | None = None
    immutable: bool = True
    scope: Scope = "project"
    byte_size: int = 0
    media_type: str = "text/plain"
    created_at: Moment
    metadata: dict[str, Any] = {}
    tags: list[str] = []


class Evidence(KnowledgeObject):
    """A span of a source (vouch 2.2).

    Evidence that takes the place of older evidence names it in `replaces`, an extension.
    """

    source_id: SourceId
    source_type: SourceType | None = None
    locator: Text
    quote: str | None = None
    hash: str | None = None
    created_at: Moment

    @model_validator(mode="after")
    def _names_evidence(self) -> Self:
        replaced = (self.model_extra or {}).get("replaces")
        if replaced is not None and not (isinstance(replaced, str) and is_id(replaced)):
            raise ValueError("replaces: expected the id of older evidence")
        return self


class Claim(KnowledgeObject):
    """The smallest assertion that can be cited, superseded or archived (vouch 2.3)."""

    text: Text
    type: ClaimType = "observation"
    status: ClaimStatus = "working"
    confidence: Fraction = 0.7
    evidence: list[Id] = []
    entities: list[Id] = []
    supersedes: list[Id] = []
    superseded_by: Id | None = None
    contradicts: list[Id] = []
    scope: Scope = "project"
    tags: list[str] = []
    created_at: Moment
    updated_at: Moment
    last_confirmed_at: Moment | None = None
    approved_by: str | None = None


class Entity(KnowledgeObject):
    """A named thing, a node of the graph (vouch 2.4)."""

    name: Text
    type: EntityType
    aliases: list[str] = []
    description: str | None = None
    page: Id | None = None
    created_at: Moment
    updated_at: Moment


class Relation(KnowledgeObject):
    """An edge of the graph (vouch 2.4)."""

    source: Id
    relation: RelationType
    target: Id
    confidence: Fraction = 0.7
    evidence: list[Id] = []
    created_at: Moment
    updated_at: Moment


class Page(KnowledgeObject):
    """Maintained Markdown with front matter (vouch 2.5).

    Attributes:
        type: A `PageType`; projects of newer versions have kinds of their own.
    """

    title: Text
    type: str = "concept"
    status: PageStatus = "draft"
    claims: list[Id] = []
    entities: list[Id] = []
    sources: list[Id] = []
    tags: list[str] = []
    created_at: Moment
    updated_at: Moment
    body: str = ""


class Session(KnowledgeObject):
    """A block of an agent's work (vouch 2.6)."""

    agent: str
    task: str | None = None
    note: str | None = None
    started_at: Moment
    ended_at: Moment | None = None
    proposal_ids: list[Id] = []


class Proposal(KnowledgeObject):
    """A write that waits for a decision, or has one (vouch 2.7).

    Attributes:
        kind: A `ProposalKind`; newer versions have others, which can only be rejected here.
        payload: The object that an approval creates.
    """

    kind: str
    proposed_by: str
    session_id: Id | None = None
    proposed_at: Moment
    payload: dict[str, Any]
    rationale: str | None = None
    status: Literal["pending", "approved", "rejected"] = "pending"
    decided_at: Moment | None = None
    decided_by: str | None = None
    decision_reason: str | None = None


MODELS: Final[dict[Kind, type[KnowledgeObject]]] = {
    Kind.CLAIM: Claim,
    Kind.PAGE: Page,
    Kind.SOURCE: Source,
    Kind.ENTITY: Entity,
    Kind.RELATION: Relation,
    Kind.EVIDENCE: Evidence,
    Kind.SESSION: Session,
    Kind.PENDING: Proposal,
    Kind.DECISION: Proposal,
}
_TIMES: Final = ("created_at", "updated_at", "started_at", "proposed_at")


def object_faults(
    kind: Kind, members: object, *, default_time: datetime
) -> list[tuple[MemberPath, str]]:
    """Return where members break a rule, and which; arguments as for `parse_object`."""
    if not isinstance(members, dict):
        return [((), f"expected members, found {type(members).__name__}")]
    try:
        _validate(kind, members, default_time)
    except ValidationError as error:
        return list(_faults(error))
    return []


def parse_object(kind: Kind, members: object, *, default_time: datetime) -> KnowledgeObject:
    """Return the members of a file or a request as an object.

    Args:
        kind: The kind.
        members: The members; other values than a mapping are refused.
        default_time: The time for members that the schemas do not require, but this type has.

    Raises:
        InvalidObject: A member is missing, unknown to its vocabulary, or no id.
    """
    if not isinstance(members, dict):
        raise InvalidObject(f"{kind.noun}: expected members, found {type(members).__name__}")
    try:
        return _validate(kind, members, default_time)
    except ValidationError as error:
        raise InvalidObject(f"{kind.noun} {_reasons(error)}") from None


def _validate(kind: Kind, members: dict[Any, Any], default_time: datetime) -> KnowledgeObject:
    model = MODELS[kind]
    missing = {
        name: default_time
        for name in _TIMES
        if name in model.model_fields and members.get(name) is None
    }
    return model.model_validate({**members, **missing})


def _faults(error: ValidationError) -> Iterator[tuple[MemberPath, str]]:
    for fault in error.errors(include_url=False, include_input=False):
        yield fault["loc"], fault["msg"].removeprefix("Value error, ")


def _reasons(error: ValidationError) -> str:
    """Return the first faults of a validation in one line, without the values."""
    faults = islice(_faults(error), 3)
    return "; ".join(
        f"{'.'.join(map(str, where)) or 'object'}: {reason}" for where, reason in faults
    )

"""The signed statement: an in-toto v1 Statement with the VIBES predicate v1 (RFC 11.1, 11.2)."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from vibes_lsp.attestation.envelope import PAYLOAD_TYPE, Envelope
from vibes_lsp.errors import BadEnvelope, MalformedJson
from vibes_lsp.model.canonical_json import canonical_json, parse_object
from vibes_lsp.model.members import JsonValue, Members, integer, mapping, text
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.store.audit_dir import CONFIG_NAME, LOG_NAME, MANIFEST_NAME
from vibes_lsp.store.trail_search import AUDIT_DIR_NAME

STATEMENT_TYPE: Final = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE: Final = "https://itsavibe.ai/vibes/attestation/v1"

SUBJECT_NAMES: Final = {
    f"{AUDIT_DIR_NAME}/{name}": name for name in (MANIFEST_NAME, LOG_NAME, CONFIG_NAME)
}
"""The names of the subjects (RFC 11.2) and of the files that they are in an audit directory."""

CLOCK_TOLERANCE: Final = timedelta(minutes=5)
"""How far a signer's clock may be ahead."""

_SHA256: Final = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Subject:
    """A file that is attested.

    Attributes:
        name: Its path from the root of the project.
        sha256: The digest of its bytes.
    """

    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What the predicate says of a file, which helps to recognise it later; None where it does not.

    Attributes:
        size: Its length in bytes.
        count: The number of records or entries in it.
        canonical_sha256: The digest of its canonical JSON, which formatters do not change.
        merkle_root: The root of the tree over its entries, which their order does not change.
        frame_sha256: The digest of its members other than the entries.
    """

    size: int | None = None
    count: int | None = None
    canonical_sha256: str | None = None
    merkle_root: str | None = None
    frame_sha256: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """What is signed: digests of files, with what was known about the trail.

    The predicate is a claim of the signer. Nothing in it is taken for true without the files.
    """

    subjects: tuple[Subject, ...]
    predicate: Members

    def as_json(self) -> Members:
        """Return the in-toto statement."""
        return {
            "_type": STATEMENT_TYPE,
            "subject": [
                {"name": subject.name, "digest": {"sha256": subject.sha256}}
                for subject in self.subjects
            ],
            "predicateType": PREDICATE_TYPE,
            "predicate": self.predicate,
        }

    def encode(self) -> bytes:
        """Return the payload of the envelope."""
        return canonical_json(self.as_json())

    @property
    def project(self) -> str | None:
        """The name of the project."""
        return text(mapping(self.predicate, "project"), "name")

    @property
    def assurance_level(self) -> str | None:
        """The project's assurance level."""
        return text(mapping(self.predicate, "project"), "assurance_level")

    @property
    def commit(self) -> str | None:
        """The commit that was checked out when it was signed."""
        return text(mapping(self.predicate, "project"), "commit")

    @property
    def validation_result(self) -> str | None:
        """`PASS` or `FAIL` of `vibes check` when it was signed."""
        return text(mapping(self.predicate, "validation"), "result")

    @property
    def attested_at(self) -> datetime | None:
        """When it was signed, by the signer's clock."""
        return parse_timestamp(text(self.predicate, "attested_at") or "")

    @property
    def newest_record(self) -> datetime | None:
        """The time of the newest attested record, by the log's word."""
        about = mapping(self.predicate, "annotations")
        return parse_timestamp(text(about, "newest_record") or "")

    def facts(self, subject: Subject) -> FileFacts:
        """Return what the predicate says of a subject."""
        match SUBJECT_NAMES.get(subject.name):
            case str(name) if name == LOG_NAME:
                about = mapping(self.predicate, "annotations")
                count = integer(about, "records")
                if count is None:  # as another tool writes it: all records of the log
                    count = integer(mapping(self.predicate, "stats"), "total_annotations")
            case str(name) if name == MANIFEST_NAME:
                about = mapping(self.predicate, "manifest")
                count = integer(about, "entries")
            case str():
                about, count = mapping(self.predicate, "config"), None
            case _:
                return FileFacts()
        return FileFacts(
            _natural(integer(about, "bytes")),
            _natural(count),
            text(about, "canonical_sha256"),
            text(mapping(about, "merkle"), "root"),
            text(about, "frame_sha256"),
        )


def _natural(number: int | None) -> int | None:
    return number if number is not None and number >= 0 else None


def parse_statement(envelope: Envelope) -> Statement:
    """Read the statement of an envelope, whose signatures need not be checked yet.

    Raises:
        BadEnvelope: It is no statement of VIBES.
    """
    if envelope.payload_type != PAYLOAD_TYPE:
        raise BadEnvelope(
            f"payloadType is {envelope.payload_type[:80]!r}, expected {PAYLOAD_TYPE!r}"
        )
    try:
        members = parse_object(envelope.payload, same=lambda _one, _other: False)
    except MalformedJson as error:
        raise BadEnvelope(f"payload: {error.message}") from None
    for name, expected in (("_type", STATEMENT_TYPE), ("predicateType", PREDICATE_TYPE)):
        if members.get(name) != expected:
            raise BadEnvelope(
                f"payload: {name} is {str(members.get(name))[:80]!r}, expected {expected!r}"
            )
    subjects, predicate = members.get("subject"), members.get("predicate")
    if not isinstance(subjects, list) or not subjects:
        raise BadEnvelope("payload: subject is missing, empty or no list")
    if not isinstance(predicate, dict):
        raise BadEnvelope("payload: predicate is missing or not an object")
    parsed = tuple(_subject(subject, f"subject[{at}]") for at, subject in enumerate(subjects))
    names = Counter(subject.name for subject in parsed)
    twice = next((name for name, count in names.items() if count > 1), None)
    if twice is not None:
        raise BadEnvelope(f"payload: subject {twice[:80]!r} occurs twice")
    return Statement(parsed, predicate)


def _subject(value: JsonValue, place: str) -> Subject:
    name = text(value, "name") if isinstance(value, dict) else None
    if not isinstance(value, dict) or name is None:
        raise BadEnvelope(f"payload: {place}.name is missing or not a string")
    digest = text(mapping(value, "digest"), "sha256")
    if digest is None or not _SHA256.fullmatch(digest):
        raise BadEnvelope(f"payload: {place}.digest.sha256 is missing or not 64 hexadecimal digits")
    return Subject(name, digest)

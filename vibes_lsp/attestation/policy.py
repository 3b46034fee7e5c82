"""Policies for attestations: who must have signed, how long ago, which tier.

A policy names the keys that count, so a verdict does not depend on the machine. In CI it comes from
the base revision: a change cannot be judged by a policy that it brings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, TypeVar

import tomlkit
from tomlkit.exceptions import TOMLKitError

from vibes_lsp.attestation.keys import parse_public_key
from vibes_lsp.attestation.signature_checks import SignatureVerdict
from vibes_lsp.attestation.statement import CLOCK_TOLERANCE
from vibes_lsp.attestation.tiers import ASCENDING, TrustTier
from vibes_lsp.attestation.trusted_keys import MAX_KEY_ID, Role, TrustedKey
from vibes_lsp.attestation.verification import Verification, VerificationResult
from vibes_lsp.checks.finding import pluralize
from vibes_lsp.errors import BadKey, BadPolicy, UnreadableFile
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.members import Members
from vibes_lsp.store.files import read_file

_MAX_FILE: Final = 1 << 20
_MEMBERS: Final = {
    "version": int,
    "project": str,
    "tier": str,
    "signatures": int,
    "max-age-days": int,
    "growth": str,
    "signer": list,
}
_SIGNER_MEMBERS: Final = {
    "name": str,
    "public-key": str,
    "key-id": str,
    "role": str,
    "required": bool,
}
_TYPE_NAMES: Final = {
    int: "a whole number",
    str: "a string",
    list: "an array",
    bool: "true or false",
}


class Growth(StrEnum):
    """Whether records and entries may have been added since the attestation."""

    ALLOWED = "allowed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class RequiredSigner:
    """A key that counts.

    Attributes:
        key: The key with its name and role.
        required: Whether it must have signed.
    """

    key: TrustedKey
    required: bool


@dataclass(frozen=True, slots=True)
class AttestationPolicy:
    """What an attestation must fulfil.

    Attributes:
        signers: The keys that count; others are ignored.
        tier: The lowest tier.
        signatures: The smallest number of good signatures by signers.
        max_age: The highest age by the statement's own time; None for any.
        growth: Whether the trail may have grown since.
        project: The project that the statement must name; None for any.
    """

    signers: tuple[RequiredSigner, ...]
    tier: TrustTier = TrustTier.SELF_ATTESTED
    signatures: int = 1
    max_age: timedelta | None = None
    growth: Growth = Growth.REFUSED
    project: str | None = None

    @property
    def keys(self) -> tuple[TrustedKey, ...]:
        """The keys to verify with."""
        return tuple(signer.key for signer in self.signers)


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement of a policy with its result.

    Attributes:
        rule: The member of the policy that it comes from.
        result: Whether it is met, or UNKNOWN if that cannot be checked.
        reason: What was found, as a sentence without a full stop.
    """

    rule: str
    result: VerificationResult
    reason: str

    def as_json(self) -> Members:
        """Return `{rule, result, reason}`."""
        return {"rule": self.rule, "result": self.result.value, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class PolicyVerdict:
    """The result of a policy.

    Attributes:
        requirements: All requirements, in the order of the policy.
    """

    requirements: tuple[Requirement, ...]

    @property
    def result(self) -> VerificationResult:
        """FAIL if one is not met, else UNKNOWN if one could not be checked, else PASS."""
        results = {requirement.result for requirement in self.requirements}
        for worst in (VerificationResult.FAIL, VerificationResult.UNKNOWN):
            if worst in results:
                return worst
        return VerificationResult.PASS


def read_policy(file: Path, repository: Repository | None = None, base: str = "") -> bytes:
    """Return the text of a policy, from disk or, with a base, from that revision.

    Args:
        file: Absolute.
        repository: The repository of the base.
        base: A revision; empty to read from disk.

    Raises:
        UnreadableFile: There is no such file.
        HistoryUnavailable: The base is no commit, or the file is outside the repository.
    """
    if not base or repository is None:
        content = read_file(file, limit=_MAX_FILE)
        where = str(file)
    else:
        try:
            name = file.relative_to(repository.root).as_posix()
        except ValueError:
            raise UnreadableFile(
                f"{file} is outside the repository, so no revision has it",
                hint="leave --base out for a policy that no change can reach",
            ) from None
        commit = repository.resolve(base)
        content = repository.read_file_below(commit, repository.root, name)
        where = f"{name} at {base}"
    if content is None:
        raise UnreadableFile(
            f"there is no policy {where}", hint="docs/ci.md shows what one looks like"
        )
    return content


def parse_policy(content: bytes) -> AttestationPolicy:
    """Return the policy in a TOML text. What it does not understand, it refuses.

    Raises:
        BadPolicy: The text is no policy; a member is unknown or invalid.
    """
    try:
        members = tomlkit.parse(content.decode("utf-8")).unwrap()
    except (TOMLKitError, UnicodeDecodeError, RecursionError) as error:
        raise BadPolicy(f"the policy is not TOML: {error}") from None
    _require_known(members, _MEMBERS, "")
    if members.get("version", 1) != 1:
        raise BadPolicy(f"version {members['version']} is not supported: expected 1")
    signers = tuple(
        _signer(signer, f"signer[{number}]")
        for number, signer in enumerate(members.get("signer", []))
    )
    if not signers:
        raise BadPolicy("the policy names no signer: expected at least one [[signer]]")
    _require_distinct(signers)
    signatures = members.get("signatures", 1)
    if not 1 <= signatures <= len(signers):
        raise BadPolicy(
            f"'signatures' is {signatures}: expected 1 to {len(signers)}, the number of signers"
        )
    days = members.get("max-age-days")
    if days is not None and not 0 < days <= 36500:
        raise BadPolicy(f"'max-age-days' is {days}: expected 1 to 36500")
    tier = _choice(TrustTier, members.get("tier", TrustTier.SELF_ATTESTED.value), "tier")
    if tier is TrustTier.NONE:
        raise BadPolicy("'tier' is 'none', which requires no signature")
    return AttestationPolicy(
        signers,
        tier,
        signatures,
        None if days is None else timedelta(days=days),
        _choice(Growth, members.get("growth", Growth.REFUSED.value), "growth"),
        members.get("project"),
    )


def _signer(value: Any, place: str) -> RequiredSigner:
    if not isinstance(value, dict):
        raise BadPolicy(f"'{place}' is not a table")
    _require_known(value, _SIGNER_MEMBERS, f"{place}.")
    for name in ("name", "public-key"):
        if not value.get(name):
            raise BadPolicy(f"'{place}.{name}' is missing or empty")
    try:
        key = parse_public_key(value["public-key"].encode(), f"'{place}.public-key'")
    except BadKey as error:
        raise BadPolicy(error.message, hint=error.hint) from None
    role = _choice(Role, value.get("role", Role.USER.value), f"{place}.role")
    key_id = value.get("key-id", "")
    if "key-id" in value and not (key_id.isprintable() and 0 < len(key_id) <= MAX_KEY_ID):
        raise BadPolicy(
            f"'{place}.key-id' is {key_id[:80]!r}: expected 1 to {MAX_KEY_ID} printable characters"
        )
    known = TrustedKey(key, role, value["name"], key_id)
    return RequiredSigner(known, value.get("required", False))


def _require_known(members: Mapping[str, Any], known: Mapping[str, type], prefix: str) -> None:
    for name, value in members.items():
        if name not in known:
            raise BadPolicy(
                f"unknown member '{prefix}{name[:80]}': expected one of {', '.join(known)}"
            )
        if type(value) is not known[name]:
            raise BadPolicy(f"'{prefix}{name}' is not {_TYPE_NAMES[known[name]]}")


def _require_distinct(signers: tuple[RequiredSigner, ...]) -> None:
    for what, values in (
        ("name", [signer.key.name for signer in signers]),
        ("key", [signer.key.key.key_id for signer in signers]),
    ):
        repeated = next((value for value in values if values.count(value) > 1), None)
        if repeated is not None:
            raise BadPolicy(f"two signers have the same {what}, {repeated[:80]!r}")


_E = TypeVar("_E", bound=StrEnum)


def _choice(kind: type[_E], value: str, name: str) -> _E:
    try:
        return kind(value)
    except ValueError:
        expected = ", ".join(member.value for member in kind)
        raise BadPolicy(f"'{name}' is {value[:80]!r}: expected one of {expected}") from None


def apply_policy(
    policy: AttestationPolicy, verification: Verification, now: datetime
) -> PolicyVerdict:
    """Judge a verification that was made with the keys of the policy, and no others."""
    return PolicyVerdict(tuple(_requirements(policy, verification, now)))


def _requirements(
    policy: AttestationPolicy, verification: Verification, now: datetime
) -> Iterator[Requirement]:
    yield _integrity(verification)
    signed = {
        check.name for check in verification.signatures if check.verdict is SignatureVerdict.GOOD
    }
    for signer in policy.signers:
        if signer.required:
            name = signer.key.name
            met = name in signed
            reason = f"{name} signed it" if met else f"{name} did not sign it"
            yield _requirement("required", reason, met=met)
    yield _requirement(
        "signatures",
        f"{pluralize(len(signed), 'signer', 'signers')} signed it, expected {policy.signatures}",
        met=len(signed) >= policy.signatures,
    )
    yield _requirement(
        "tier",
        f"the tier is {verification.tier.value}, expected {policy.tier.value} or higher",
        met=ASCENDING.index(verification.tier) >= ASCENDING.index(policy.tier),
    )
    yield from _age(policy, verification, now)
    if policy.growth is Growth.REFUSED:
        yield _no_growth(verification)
    if policy.project is not None:
        reason = f"it attests {verification.statement.project!r}, expected {policy.project!r}"
        yield _requirement("project", reason, met=verification.statement.project == policy.project)


def _integrity(verification: Verification) -> Requirement:
    bad = [
        f"signature {check.key_id or 'without key id'}: {check.reason}"
        for check in verification.signatures
        if check.verdict is SignatureVerdict.BAD
    ]
    files = [f"{file.name}: {file.reason}" for file in verification.files if not file.is_covered]
    problems = [*bad, *files, *verification.problems]
    if verification.result is VerificationResult.FAIL:
        return Requirement("integrity", VerificationResult.FAIL, "; ".join(problems))
    if files:
        return Requirement("integrity", VerificationResult.UNKNOWN, "; ".join(files))
    return Requirement("integrity", VerificationResult.PASS, "all that was attested is there")


def _no_growth(verification: Verification) -> Requirement:
    grown = [file for file in verification.files if file.is_covered and file.added != 0]
    unchecked = [file for file in verification.files if not file.is_covered]
    if grown:
        result, files = VerificationResult.FAIL, grown
    else:
        result, files = VerificationResult.UNKNOWN, unchecked
    if not files:
        return Requirement("growth", VerificationResult.PASS, "nothing was added since")
    return Requirement("growth", result, "; ".join(f"{file.name}: {file.reason}" for file in files))


def _age(
    policy: AttestationPolicy, verification: Verification, now: datetime
) -> Iterator[Requirement]:
    if policy.max_age is None:
        return
    rule, at = "max-age-days", verification.statement.attested_at
    if at is None:
        reason = "the statement says no time, so its age is unknown"
        yield Requirement(rule, VerificationResult.UNKNOWN, reason)
        return
    age = now - at
    if age < -CLOCK_TOLERANCE:
        reason = f"it was attested in the future: {at:%Y-%m-%d %H:%M} UTC"
        yield Requirement(rule, VerificationResult.FAIL, reason)
        return
    days, allowed = max(age.days, 0), policy.max_age.days
    reason = f"it is {pluralize(days, 'day', 'days')} old, allowed are {allowed}"
    yield _requirement(rule, reason, met=age <= policy.max_age)


def _requirement(rule: str, reason: str, *, met: bool) -> Requirement:
    return Requirement(rule, VerificationResult.PASS if met else VerificationResult.FAIL, reason)

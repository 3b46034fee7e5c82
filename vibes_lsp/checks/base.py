"""Checks against a base revision: every record is still there (RFC 12.2), and the policy is no looser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.checkout import (
    CheckoutSides,
    check_checkout,
    committed_policy,
    lines_of,
    log_on_disk,
    read_trail,
    same_entry,
)
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.checks.kept_records import check_carried, check_copies
from vibes_lsp.checks.subject import Subject
from vibes_lsp.errors import HistoryUnavailable, MalformedJson
from vibes_lsp.history.repository import Repository
from vibes_lsp.model.canonical import parse_object, same_value
from vibes_lsp.model.config import Config
from vibes_lsp.model.hashing import annotation_id
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.positions import find_member
from vibes_lsp.model.vocabulary import AssuranceLevel, Band, RuleAction
from vibes_lsp.risk.policy import Policy
from vibes_lsp.store.config import LoadedConfig, parse_config
from vibes_lsp.store.layout import CONFIG_NAME, LOG_NAME, MANIFEST_NAME, AuditDir
from vibes_lsp.store.manifest import parse_manifest

_MAX_SHOWN: Final = 120
_LEVELS: Final = list(AssuranceLevel)
_ACTIONS: Final = list(RuleAction)


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One difference between two policies.

    Attributes:
        field: The member, such as `risk_scoring.thresholds.critical`.
        sentence: What has changed.
        loosens: Whether more can pass than before, or nobody can tell.
    """

    field: str
    sentence: str
    loosens: bool


def changes(before: LoadedConfig, now: LoadedConfig) -> Iterator[PolicyChange]:
    """Give the differences that matter to whoever is judged by a policy: level, tracked files, risk.

    Args:
        before: The policy that counts.
        now: The one that a change brings; it can be read.
    """
    yield from _level(before.config, now.config)
    yield from _tracked(before.config, now.config)
    yield from _risk(before, now)


def _level(before: Config, now: Config) -> Iterator[PolicyChange]:
    one, other = before.assurance_level, now.assurance_level
    if one != other:
        yield PolicyChange(
            "assurance_level",
            f"{one.value} became {other.value}",
            _LEVELS.index(other) < _LEVELS.index(one),
        )


def _tracked(before: Config, now: Config) -> Iterator[PolicyChange]:
    one, other = before.tracked_extensions, now.tracked_extensions
    if one != other and (
        one is None or other is None or set(map(str.lower, one)) != set(map(str.lower, other))
    ):
        gone = other is not None and (
            one is None or bool(set(map(str.lower, one)) - set(map(str.lower, other)))
        )
        yield PolicyChange(
            "tracked_extensions", f"{_shown(one, 'all')} became {_shown(other, 'all')}", gone
        )
    if before.exclude_patterns != now.exclude_patterns:
        yield PolicyChange(
            "exclude_patterns",
            f"{_shown(before.exclude_patterns)} became {_shown(now.exclude_patterns)}",
            not _is_only_shorter(before.exclude_patterns, now.exclude_patterns),
        )


def _is_only_shorter(before: Sequence[str], now: Sequence[str]) -> bool:
    """Whether patterns were only taken out, and none of those that take files back in."""
    left = iter(before)
    return all(pattern in left for pattern in now) and not any(
        each.startswith("!") for each in before
    )


def _risk(before: LoadedConfig, now: LoadedConfig) -> Iterator[PolicyChange]:
    one, other = before.policy, now.policy
    if one.enabled != other.enabled:
        yield PolicyChange(
            "risk_scoring.enabled",
            "PRISM was switched " + ("on" if other.enabled else "off"),
            one.enabled,
        )
    if not one.enabled or not other.enabled:
        return
    if one.algorithm != other.algorithm:
        yield PolicyChange(
            "risk_scoring.algorithm",
            f"{_shown(one.algorithm)} became {_shown(other.algorithm)}",
            loosens=True,
        )
    for band in Band:
        bounds = one.thresholds[band], other.thresholds[band]
        if bounds[0] != bounds[1]:
            yield PolicyChange(
                f"risk_scoring.thresholds.{band.value}",
                f"{bounds[0]} became {bounds[1]}",
                bounds[1] > bounds[0],
            )
    for name, these, those in (
        ("weights", one.weights, other.weights),
        ("baselines", one.baselines, other.baselines),
        ("capability_tiers", one.tiers, other.tiers),
    ):
        for key in sorted({*these, *those}):
            if these.get(key) != those.get(key):
                sentence = f"{_shown(these.get(key), 'nothing')} became {_shown(those.get(key), 'nothing')}"
                yield PolicyChange(
                    f"risk_scoring.{name}.{key}", f"{key[:60]}: {sentence}", loosens=True
                )
    yield from _rules(one, other)


def _rules(before: Policy, now: Policy) -> Iterator[PolicyChange]:
    asked, asks = _strongest(before), _strongest(now)
    for condition, action in asked.items():
        left = asks.get(condition)
        if left is None:
            yield PolicyChange(
                "risk_scoring.review_rules",
                f"the rule {_shown(condition)} ({action}) is gone",
                loosens=True,
            )
        elif left != action:
            loosens = _ACTIONS.index(left) < _ACTIONS.index(action)
            yield PolicyChange(
                "risk_scoring.review_rules",
                f"the rule {_shown(condition)} was {action} and is {left}",
                loosens,
            )
    for condition in asks.keys() - asked.keys():
        yield PolicyChange(
            "risk_scoring.review_rules",
            f"the rule {_shown(condition)} ({asks[condition]}) is new",
            loosens=False,
        )


def _strongest(policy: Policy) -> Mapping[str, RuleAction]:
    found: dict[str, RuleAction] = {}
    for rule in policy.rules:
        found[rule.condition] = max(
            rule.action, found.get(rule.condition, rule.action), key=_ACTIONS.index
        )
    return found


def _shown(value: JsonValue | Sequence[str] | float, empty: str = "none") -> str:
    if value is None or value == []:
        return empty
    text = (
        ", ".join(map(str, value))
        if isinstance(value, list)
        else repr(value)
        if isinstance(value, str)
        else str(value)
    )
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"


def check_base(subject: Subject, revision: str) -> Iterator[Finding]:
    """Findings about records and entries of `revision` that are gone or changed, and about a policy that is looser.

    Raises:
        HistoryUnavailable: There is no repository, or the revision names no commit.
    """
    repository = subject.repository
    if repository is None:
        raise HistoryUnavailable(
            "--base needs a git repository", hint="run it inside the work tree"
        )
    commit = repository.resolve(revision)
    sides = CheckoutSides(repository, commit, repository.resolve("HEAD"))
    yield from _links(subject)
    before = policy_at(repository, subject.directory, commit)
    yield from _policy(subject, before, subject.config, commit)
    committed = committed_policy(subject, sides)
    if committed is not None:
        yield from _policy(subject, before, committed, commit, " in HEAD")
    yield from _records(subject, repository, commit)
    yield from _entries(subject, repository, commit)
    yield from check_checkout(subject, sides)
    yield from check_carried(subject, sides)
    yield from check_copies(subject, sides)


def policy_at(repository: Repository, directory: AuditDir, commit: str) -> LoadedConfig:
    """Return the policy that a commit holds; one that gives nothing where it holds none.

    Raises:
        HistoryUnavailable: Git cannot be run.
    """
    data = read_trail(repository, directory, commit, CONFIG_NAME)
    return LoadedConfig() if data is None else parse_config(data)


def _links(subject: Subject) -> Iterator[Finding]:
    if subject.directory.path.is_symlink():
        yield Finding(
            catalogue.BASE_FILE, "the audit directory is a link", subject.directory.path.name
        )
    for name in (CONFIG_NAME, LOG_NAME, MANIFEST_NAME):
        if (subject.directory.path / name).is_symlink():
            yield Finding(catalogue.BASE_FILE, f"{name} is a link", subject.file(name))


def _policy(
    subject: Subject, before: LoadedConfig, now: LoadedConfig, commit: str, where: str = ""
) -> Iterator[Finding]:
    if not before.present:
        return
    if not now.present or now.problem is not None:
        state = (
            "gone" if not now.present else f"broken: {now.problem.message if now.problem else ''}"
        )
        yield Finding(
            catalogue.BASE_POLICY,
            f"the policy of {commit[:12]} is {state}{where}",
            subject.config_name,
        )
        return
    for change in changes(before, now):
        check = catalogue.BASE_LEVEL if change.field == "assurance_level" else catalogue.BASE_POLICY
        override = None if change.loosens else Severity.NOTE
        yield Finding(
            check,
            f"{change.sentence}{where}",
            subject.config_name,
            _line(now, change),
            change.field,
            override,
        )


def _line(config: LoadedConfig, change: PolicyChange) -> int | None:
    place = find_member(config.data.decode("utf-8", "replace"), change.field.split("."))
    return None if place is None else place[0]


def _records(subject: Subject, repository: Repository, commit: str) -> Iterator[Finding]:
    kept = frozenset(log_on_disk(subject.directory))
    for number, line in enumerate(
        lines_of(read_trail(repository, subject.directory, commit, LOG_NAME)), 1
    ):
        record = None if line in kept else _record(line)
        if record is None:
            continue
        identifier = text(record, "annotation_id") or annotation_id(record)
        now = subject.trail.log.by_id(identifier)
        where = f"record {identifier[:16]} (line {number} at {commit[:12]})"
        if now is None:
            yield subject.in_log(
                catalogue.BASE_RECORD, f"{where} is gone, or was changed together with its id"
            )
        elif not same_value(now.members, record):
            yield subject.in_log(catalogue.BASE_RECORD, f"{where} was changed", now.line)


def _entries(subject: Subject, repository: Repository, commit: str) -> Iterator[Finding]:
    manifest = subject.trail.manifest
    before = parse_manifest(read_trail(repository, subject.directory, commit, MANIFEST_NAME))
    for key in before:
        if key in manifest and before.raw(key) == manifest.raw(key):
            continue
        entry = before.entry(key)
        if key not in manifest:
            yield Finding(
                catalogue.BASE_ENTRY,
                f"entry {key[:16]} of {commit[:12]} is gone",
                subject.manifest_name,
            )
        elif entry is not None and not same_entry(entry, manifest.entry(key)):
            yield subject.in_entry(
                catalogue.BASE_ENTRY, f"entry {key[:16]} was changed since {commit[:12]}", key
            )


def _record(line: bytes) -> Members | None:
    if not line.strip():
        return None
    try:
        return parse_object(line)
    except MalformedJson:
        return None

"""Compare two policies: findings about a `config.json` that lets more pass (`base-policy`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp.checks import base_catalogue
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.model.config import Config
from vibes_lsp.model.json_positions import find_member
from vibes_lsp.model.members import JsonValue
from vibes_lsp.model.vocabulary import AssuranceLevel, Band, RuleAction
from vibes_lsp.risk.policy import Policy
from vibes_lsp.store.config import LoadedConfig

_MAX_SHOWN: Final = 120
_MAX_FIELD: Final = 90
_LEVELS: Final = list(AssuranceLevel)
_ACTIONS: Final = list(RuleAction)


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One difference between two policies.

    Attributes:
        field: The member, such as `risk_scoring.thresholds.critical`.
        message: What changed.
        loosens: Whether it can let more pass; true if that cannot be determined.
    """

    field: str
    message: str
    loosens: bool


def policy_changes(before: LoadedConfig, now: LoadedConfig) -> Iterator[PolicyChange]:
    """Yield the differences that affect a gate: assurance level, tracked files and risk scoring.

    Args:
        before: The policy of the base.
        now: The policy of the branch, which must be readable.
    """
    yield from _assurance_level(before.config, now.config)
    yield from _tracked_files(before.config, now.config)
    yield from _risk_scoring(before, now)


def _assurance_level(before: Config, now: Config) -> Iterator[PolicyChange]:
    old, new = before.assurance_level, now.assurance_level
    if old != new:
        yield _changed(
            "assurance_level", old.value, new.value, _LEVELS.index(new) < _LEVELS.index(old)
        )


def _tracked_files(before: Config, now: Config) -> Iterator[PolicyChange]:
    old, new = before.tracked_extensions, now.tracked_extensions
    if old != new and (
        old is None or new is None or set(map(str.lower, old)) != set(map(str.lower, new))
    ):
        loosens = new is not None and (
            old is None or bool(set(map(str.lower, old)) - set(map(str.lower, new)))
        )
        yield _changed("tracked_extensions", _shown(old, "all"), _shown(new, "all"), loosens)
    if before.exclude_patterns != now.exclude_patterns:
        yield _changed(
            "exclude_patterns",
            _shown(before.exclude_patterns),
            _shown(now.exclude_patterns),
            not _only_removed(before.exclude_patterns, now.exclude_patterns),
        )


def _only_removed(before: Sequence[str], now: Sequence[str]) -> bool:
    """Whether patterns were only removed, and none is a negation, which includes files again."""
    remaining = iter(before)
    return all(pattern in remaining for pattern in now) and not any(
        pattern.startswith("!") for pattern in before
    )


def _risk_scoring(before: LoadedConfig, now: LoadedConfig) -> Iterator[PolicyChange]:
    old, new = before.policy, now.policy
    if old.enabled != new.enabled:
        yield PolicyChange(
            "risk_scoring.enabled",
            f"PRISM was turned {'on' if new.enabled else 'off'}",
            old.enabled,
        )
    if not old.enabled or not new.enabled:
        return
    if old.algorithm != new.algorithm:
        yield _changed(
            "risk_scoring.algorithm", _shown(old.algorithm), _shown(new.algorithm), loosens=True
        )
    for band in Band:
        lower, upper = old.thresholds[band], new.thresholds[band]
        if lower != upper:
            yield _changed(
                f"risk_scoring.thresholds.{band.value}", str(lower), str(upper), upper > lower
            )
    for name, these, those in (
        ("weights", old.weights, new.weights),
        ("baselines", old.baselines, new.baselines),
        ("capability_tiers", old.tiers, new.tiers),
    ):
        for key in sorted({*these, *those}):
            if these.get(key) != those.get(key):
                yield _changed(
                    f"risk_scoring.{name}.{key}",
                    _shown(these.get(key), "unset"),
                    _shown(those.get(key), "unset"),
                    loosens=True,
                )
    yield from _review_rules(old, new)


def _review_rules(before: Policy, now: Policy) -> Iterator[PolicyChange]:
    old, new = _strictest_actions(before), _strictest_actions(now)
    for condition, action in old.items():
        remaining = new.get(condition)
        if remaining is None:
            yield PolicyChange(
                "risk_scoring.review_rules",
                f"the rule {_shown(condition)} ({action}) was removed",
                loosens=True,
            )
        elif remaining != action:
            yield PolicyChange(
                "risk_scoring.review_rules",
                f"the action of the rule {_shown(condition)} changed from {action} to {remaining}",
                _ACTIONS.index(remaining) < _ACTIONS.index(action),
            )
    for condition in new.keys() - old.keys():
        yield PolicyChange(
            "risk_scoring.review_rules",
            f"the rule {_shown(condition)} ({new[condition]}) was added",
            loosens=False,
        )


def _changed(field: str, old: str, new: str, loosens: bool) -> PolicyChange:  # noqa: FBT001
    name = field if len(field) <= _MAX_FIELD else f"{field[: _MAX_FIELD - 1]}…"
    return PolicyChange(field, f"{name} changed from {old} to {new}", loosens)


def _strictest_actions(policy: Policy) -> Mapping[str, RuleAction]:
    actions: dict[str, RuleAction] = {}
    for rule in policy.rules:
        actions[rule.condition] = max(
            rule.action, actions.get(rule.condition, rule.action), key=_ACTIONS.index
        )
    return actions


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


def check_policy(
    context: CheckContext, before: LoadedConfig, now: LoadedConfig, commit: str, where: str = ""
) -> Iterator[Finding]:
    """Yield a finding for each change since the base; a change that only tightens is a note.

    Args:
        context: The trail that is checked.
        before: The policy of the base.
        now: The policy on disk or in HEAD.
        commit: The base, a whole hash.
        where: Appended to each message.
    """
    if not before.present:
        return
    if not now.present or now.problem is not None:
        state = (
            f"cannot be read: {now.problem.message if now.problem else ''}"
            if now.present
            else "was removed"
        )
        yield Finding(
            base_catalogue.BASE_POLICY,
            f"the policy of commit {commit[:8]} {state}{where}",
            context.config_name,
        )
        return
    for change in policy_changes(before, now):
        check = (
            base_catalogue.BASE_LEVEL
            if change.field == "assurance_level"
            else base_catalogue.BASE_POLICY
        )
        override = None if change.loosens else Severity.NOTE
        yield Finding(
            check,
            f"{change.message}{where}",
            context.config_name,
            _line(now, change),
            change.field,
            override,
        )


def _line(config: LoadedConfig, change: PolicyChange) -> int | None:
    place = find_member(config.data.decode("utf-8", "replace"), change.field.split("."))
    return None if place is None else place[0]

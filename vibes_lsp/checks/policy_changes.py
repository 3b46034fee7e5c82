"""Compare two policies: the `base-policy` and `base-level` findings about a looser `config.json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import Finding, Severity
from vibes_lsp.model.config import Config
from vibes_lsp.model.json_positions import find_member
from vibes_lsp.model.members import JsonValue
from vibes_lsp.model.vocabulary import AssuranceLevel, Band, RuleAction
from vibes_lsp.risk.policy import Policy
from vibes_lsp.store.config import LoadedConfig

_MAX_SHOWN: Final = 120
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
    """Yield the diff_files that affect a gate: assurance level, tracked files and risk scoring.

    Args:
        before: The policy of the base.
        now: The policy of the branch, which must be readable.
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
    """Whether patterns were only removed, and none of them is a negation, which includes files."""
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
            "gone" if not now.present else f"broken: {now.problem.message if now.problem else ''}"
        )
        yield Finding(
            catalogue.BASE_POLICY,
            f"the policy of {commit[:12]} is {state}{where}",
            context.config_name,
        )
        return
    for change in policy_changes(before, now):
        check = catalogue.BASE_LEVEL if change.field == "assurance_level" else catalogue.BASE_POLICY
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

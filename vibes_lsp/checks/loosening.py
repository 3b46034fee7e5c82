"""What a change of the policy does to the gate: looser, or of unknown direction, or only stricter. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from vibes_lsp.model.config import Config
from vibes_lsp.model.members import JsonValue
from vibes_lsp.model.vocabulary import AssuranceLevel, Band, RuleAction
from vibes_lsp.risk.policy import Policy
from vibes_lsp.store.config import LoadedConfig

_MAX_SHOWN: Final = 120
_LEVELS: Final = list(AssuranceLevel)
_ACTIONS: Final = list(RuleAction)


@dataclass(frozen=True, slots=True)
class Change:
    """One difference between two policies.

    Attributes:
        field: The member, such as `risk_scoring.thresholds.critical`.
        sentence: What has changed.
        loosens: Whether more can pass than before, or nobody can tell.
    """

    field: str
    sentence: str
    loosens: bool


def changes(before: LoadedConfig, now: LoadedConfig) -> Iterator[Change]:
    """Give the differences that matter to whoever is judged by a policy: level, tracked files, risk.

    Args:
        before: The policy that counts.
        now: The one that a change brings; it can be read.
    """
    yield from _level(before.config, now.config)
    yield from _tracked(before.config, now.config)
    yield from _risk(before, now)


def _level(before: Config, now: Config) -> Iterator[Change]:
    one, other = before.assurance_level, now.assurance_level
    if one != other:
        yield Change("assurance_level", f"{one.value} became {other.value}", _LEVELS.index(other) < _LEVELS.index(one))


def _tracked(before: Config, now: Config) -> Iterator[Change]:
    one, other = before.tracked_extensions, now.tracked_extensions
    if one != other and (one is None or other is None or set(map(str.lower, one)) != set(map(str.lower, other))):
        gone = other is not None and (one is None or bool(set(map(str.lower, one)) - set(map(str.lower, other))))
        yield Change("tracked_extensions", f"{_shown(one, 'all')} became {_shown(other, 'all')}", gone)
    if before.exclude_patterns != now.exclude_patterns:
        yield Change(
            "exclude_patterns",
            f"{_shown(before.exclude_patterns)} became {_shown(now.exclude_patterns)}",
            not _is_only_shorter(before.exclude_patterns, now.exclude_patterns),
        )


def _is_only_shorter(before: Sequence[str], now: Sequence[str]) -> bool:
    """Whether patterns were only taken out, and none of those that take files back in."""
    left = iter(before)
    return all(pattern in left for pattern in now) and not any(each.startswith("!") for each in before)


def _risk(before: LoadedConfig, now: LoadedConfig) -> Iterator[Change]:
    one, other = before.policy, now.policy
    if one.enabled != other.enabled:
        yield Change("risk_scoring.enabled", "PRISM was switched " + ("on" if other.enabled else "off"), one.enabled)
    if not one.enabled or not other.enabled:
        return
    if one.algorithm != other.algorithm:
        yield Change("risk_scoring.algorithm", f"{_shown(one.algorithm)} became {_shown(other.algorithm)}", loosens=True)
    for band in Band:
        bounds = one.thresholds[band], other.thresholds[band]
        if bounds[0] != bounds[1]:
            yield Change(f"risk_scoring.thresholds.{band.value}", f"{bounds[0]} became {bounds[1]}", bounds[1] > bounds[0])
    for name, these, those in (
        ("weights", one.weights, other.weights),
        ("baselines", one.baselines, other.baselines),
        ("capability_tiers", one.tiers, other.tiers),
    ):
        for key in sorted({*these, *those}):
            if these.get(key) != those.get(key):
                sentence = f"{_shown(these.get(key), 'nothing')} became {_shown(those.get(key), 'nothing')}"
                yield Change(f"risk_scoring.{name}.{key}", f"{key[:60]}: {sentence}", loosens=True)
    yield from _rules(one, other)


def _rules(before: Policy, now: Policy) -> Iterator[Change]:
    asked, asks = _strongest(before), _strongest(now)
    for condition, action in asked.items():
        left = asks.get(condition)
        if left is None:
            yield Change("risk_scoring.review_rules", f"the rule {_shown(condition)} ({action}) is gone", loosens=True)
        elif left != action:
            loosens = _ACTIONS.index(left) < _ACTIONS.index(action)
            yield Change("risk_scoring.review_rules", f"the rule {_shown(condition)} was {action} and is {left}", loosens)
    for condition in asks.keys() - asked.keys():
        yield Change("risk_scoring.review_rules", f"the rule {_shown(condition)} ({asks[condition]}) is new", loosens=False)


def _strongest(policy: Policy) -> Mapping[str, RuleAction]:
    found: dict[str, RuleAction] = {}
    for rule in policy.rules:
        found[rule.condition] = max(rule.action, found.get(rule.condition, rule.action), key=_ACTIONS.index)
    return found


def _shown(value: JsonValue | Sequence[str] | float, empty: str = "none") -> str:
    if value is None or value == []:
        return empty
    text = ", ".join(map(str, value)) if isinstance(value, list) else repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 1]}…"

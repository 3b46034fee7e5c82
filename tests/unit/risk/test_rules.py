"""The language of review rules (R20): results, and errors with their offsets."""

from __future__ import annotations

import pytest

from vibes_lsp.errors import BrokenRule
from vibes_lsp.risk.rules import MAX_DEPTH, MAX_LENGTH, evaluate_condition, parse_condition

KNOWN: dict[str, float | str] = {
    "temperature": 0.9,
    "temperature.value": 0.45,
    "action_type": "create",
    "action_type.value": 0.6,
    "scope_lines": 120,
    "scope_lines.value": 0.8,
    "assurance_gap": 1.0,
    "org:sensitive": 0.5,
    "org:sensitive.value": 0.5,
}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("temperature > 0.8 AND action_type == 'create' AND scope_lines > 100", True),
        ("assurance_gap == 1.0", True),
        ("temperature.value > 0.8", False),
        ("scope_lines >= 120", True),
        ("scope_lines < 120", False),
        ("120 <= scope_lines", True),
        ("scope_lines != 120", False),
        ('action_type == "create"', True),
        ("action_type IN ('delete', 'create')", True),
        ("action_type NOT IN ('delete', 'create')", False),
        ("scope_lines IN (1, 120.0)", True),
        ("NOT action_type == 'create'", False),
        ("NOT NOT action_type == 'create'", True),
        ("temperature > 1 OR scope_lines > 100 AND assurance_gap == 0", False),
        ("(temperature > 1 OR scope_lines > 100) AND assurance_gap == 1", True),
        ("temperature > 1 or not (scope_lines in (1, 2))", True),
        ("org:sensitive >= 0.5", True),
        ("org:sensitive.value>=.5and temperature<1e1", True),
        ("temperature > -1", True),
    ],
)
def test_conditions(condition: str, holds: bool) -> None:
    assert evaluate_condition(parse_condition(condition), KNOWN) is holds


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("prompt_token_count > 5", False),
        ("NOT prompt_token_count > 5", False),
        ("prompt_token_count IN (1)", False),
        ("prompt_token_count > 5 OR scope_lines > 100", True),
        ("prompt_token_count > 5 AND scope_lines > 100", False),
        ("NOT (prompt_token_count > 5 AND scope_lines > 1000)", True),
        ("NOT (prompt_token_count > 5 OR scope_lines > 1000)", False),
    ],
)
def test_unknown_values_are_neither_true_nor_false(condition: str, holds: bool) -> None:
    assert evaluate_condition(parse_condition(condition), KNOWN) is holds


@pytest.mark.parametrize(
    ("condition", "offset", "words"),
    [
        ("", 0, "expected a signal, a number or a quoted string"),
        ("temperature", 11, "expected a comparison after 'temperature'"),
        ("temperature >", 13, "expected a signal, a number or a quoted string"),
        ("temperature = 1", 12, "use '=='"),
        ("temperature > 1 && scope_lines > 2", 16, "use AND, OR or NOT"),
        ("temperature > 1 scope_lines > 2", 16, "after a complete condition: expected AND or OR"),
        ("temperature_ > 1", 0, "unknown signal 'temperature_': did you mean temperature?"),
        (
            "scope_lines > 1 AND risk > 2",
            20,
            "unknown signal 'risk': put words in quotes; a custom signal has a namespace",
        ),
        ("action_type == create", 15, "unknown signal 'create'"),
        ("action_type == 'creat'", 15, "invalid action_type 'creat': expected create, modify"),
        ("model_capability_tier IN ('small', 'tiny')", 35, "invalid model_capability_tier 'tiny'"),
        ("action_type == 3", 15, "cannot compare a number with a word"),
        ("'create' == scope_lines", 12, "cannot compare a number with a word"),
        ("scope_lines IN (1, 'two')", 19, "cannot compare a number with a word"),
        ("action_type < 'modify'", 12, "cannot compare words"),
        ("scope_lines IN 5", 15, "expected '('"),
        ("scope_lines IN (temperature)", 16, "a list may contain only numbers"),
        ("scope_lines IN (1", 15, "unclosed '('"),
        ("(scope_lines > 1", 0, "unclosed '('"),
        ("scope_lines > 1)", 15, "after a complete condition: expected AND or OR"),
        ("scope_lines.max > 1", 11, "unknown member .max: a signal has only .value"),
        ("action_type == 'create", 15, "unterminated string"),
        ("scope_lines > 1e999", 14, "number 1e999 is out of range"),
        ("scope_lines > 1 AND", 19, "expected a signal, a number or a quoted string"),
        ("AND scope_lines > 1", 0, "expected a signal, a number or a quoted string"),
        ("temperature > $x", 14, "unexpected character '$'"),
        ("__import__('os').system('x') == 1", 16, "unexpected character '.'"),
        ("(" * (MAX_DEPTH + 1) + "1 == 1" + ")" * (MAX_DEPTH + 1), MAX_DEPTH, "nested deeper"),
        ("NOT " * (MAX_DEPTH + 1) + "1 == 1", 4 * MAX_DEPTH, "nested deeper"),
        ("1 == 1" + " " * MAX_LENGTH, MAX_LENGTH, "at most 2,000 characters"),
    ],
)
def test_errors_and_their_offsets(condition: str, offset: int, words: str) -> None:
    with pytest.raises(BrokenRule) as refused:
        parse_condition(condition)
    assert (refused.value.offset, words in refused.value.message) == (offset, True), (
        refused.value.message
    )


def test_the_limits_of_depth_and_length() -> None:
    assert evaluate_condition(parse_condition("(" * MAX_DEPTH + "1 == 1" + ")" * MAX_DEPTH), {})
    long = " OR ".join(["temperature > 1"] * 105)
    assert len(long) <= MAX_LENGTH
    assert not evaluate_condition(parse_condition(long), KNOWN)

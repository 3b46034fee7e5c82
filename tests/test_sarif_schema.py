"""The real SARIF schema: it accepts the smallest log and refuses an invalid one."""

from typing import Any

import pytest
from jsonschema import Draft7Validator

from tests import sarif_schema

SMALLEST: dict[str, Any] = {
    "version": "2.1.0",
    "runs": [{"tool": {"driver": {"name": "vibes"}}, "results": []}],
}


def test_the_schema_is_a_valid_draft_7_schema_that_accepts_the_smallest_log() -> None:
    schema = sarif_schema.load()
    Draft7Validator.check_schema(schema)
    assert Draft7Validator(schema).is_valid(SMALLEST)


@pytest.mark.parametrize(
    "broken",
    [
        {"version": "2.1.0"},
        {**SMALLEST, "version": "2.0.0"},
        {"version": "2.1.0", "runs": [{"results": []}]},
        {
            "version": "2.1.0",
            "runs": [
                {
                    "tool": {"driver": {"name": "vibes"}},
                    "results": [{"level": "loud", "message": {"text": "x"}}],
                }
            ],
        },
    ],
    ids=["no runs", "another version", "no tool", "unknown level"],
)
def test_the_schema_rejects_a_broken_log(broken: dict[str, Any]) -> None:
    assert not Draft7Validator(sarif_schema.load()).is_valid(broken)

"""RFC 6: the manifest and its entries."""

from __future__ import annotations

import base64
import gzip
import json
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from tests.conformance.recorded_trail import (
    LEVELS,
    OUTPUT,
    REASONING_TEXTS,
    SECRET,
    missing_members,
)
from tests.conformance.requirement import rfc_writer

if TYPE_CHECKING:
    from tests.conformance.recorded_trail import RecordedTrail

REQUIRED = {
    "environment": ("tool_name", "tool_version", "model_name", "model_version", "created_at"),
    "prompt": ("prompt_text", "prompt_type", "created_at"),
    "command": ("command_text", "command_type", "created_at"),
    "reasoning": ("reasoning_model", "created_at"),
    "decision": ("decision_point", "options", "selected", "rationale", "created_at"),
}


@rfc_writer("6.1", "REQUIRED", "the manifest has `standard`, `version` and `entries`")
def test_the_frame_is_complete(written: RecordedTrail) -> None:
    assert written.manifest["standard"] == "VIBES"
    assert written.manifest["version"].startswith("1.")
    assert isinstance(written.manifest["entries"], dict)


@rfc_writer("6.2", "REQUIRED", "an environment has its required members, at every level")
@rfc_writer("6.4", "REQUIRED", "a command has its required members, at every level")
@rfc_writer("6.6", "REQUIRED", "a decision has its required members, at every level")
@pytest.mark.parametrize("kind", ["environment", "command", "decision"])
def test_an_entry_of_every_level_is_complete(written: RecordedTrail, kind: str) -> None:
    entries = written.entries(kind)
    assert entries
    assert [missing_members(entry, REQUIRED[kind]) for entry in entries.values()] == [set()] * len(
        entries
    )


@rfc_writer("6.3", "REQUIRED", "a prompt has its required members, from the medium level on")
@pytest.mark.parametrize("level", LEVELS)
def test_a_prompt_is_complete(all_written: dict[str, RecordedTrail], level: str) -> None:
    prompts = list(all_written[level].entries("prompt").values())
    assert len(prompts) == (0 if level == "low" else 2)
    assert [missing_members(entry, REQUIRED["prompt"]) for entry in prompts] == [set()] * len(
        prompts
    )
    told = {entry["prompt_type"]: entry.get("prompt_context_files") for entry in prompts}
    assert told == (
        {} if level == "low" else {"user_instruction": ["src/a.py"], "inline_completion": None}
    )


@rfc_writer("6.5", "REQUIRED", "reasoning has its required members, at the high level only")
@rfc_writer("6.5", "stated", "the reasoning's model defaults to the environment's")
@pytest.mark.parametrize("level", LEVELS)
def test_reasoning_is_complete(all_written: dict[str, RecordedTrail], level: str) -> None:
    entries = list(all_written[level].entries("reasoning").values())
    assert len(entries) == (3 if level == "high" else 0)
    assert [missing_members(entry, REQUIRED["reasoning"]) for entry in entries] == [set()] * len(
        entries
    )
    assert {entry["reasoning_model"] for entry in entries} <= {"some-model"}


@rfc_writer("6.2", "REQUIRED", "creation times are ISO 8601")
def test_creation_times_are_times(written: RecordedTrail) -> None:
    times = [entry["created_at"] for entry in written.manifest["entries"].values()]
    assert all(datetime.fromisoformat(time).utcoffset() is not None for time in times)


@rfc_writer("6.3", "stated", "context files of a prompt are relative to the project")
def test_context_files_are_relative(high: RecordedTrail) -> None:
    named = [
        path
        for entry in high.entries("prompt").values()
        for path in entry.get("prompt_context_files", [])
    ]
    assert named == ["src/a.py"]


@rfc_writer("6.4", "RECOMMENDED", "a command's output is cut to 1024 bytes")
def test_output_is_cut(written: RecordedTrail) -> None:
    summary = written.manifest["entries"][written.names["command"]][
        "command_output_summary"
    ].encode()
    assert 1000 < len(summary) <= 1024 < len(OUTPUT.encode())


@rfc_writer("6.4", "SHOULD", "secrets in a command's output are masked everywhere in the trail")
def test_secrets_are_masked(written: RecordedTrail) -> None:
    assert SECRET.encode() not in written.everything()
    assert (
        "[masked]"
        in written.manifest["entries"][written.names["command"]]["command_output_summary"]
    )


@rfc_writer("6.6", "REQUIRED", "options have an id and a description, and the selected one exists")
def test_a_decision_selects_an_option(written: RecordedTrail) -> None:
    [decision] = written.entries("decision").values()
    assert [missing_members(option, ("id", "description")) for option in decision["options"]] == [
        set(),
        set(),
    ]
    assert decision["selected"] in {option["id"] for option in decision["options"]}


@rfc_writer(
    "6.7",
    "SHOULD",
    "reasoning above the thresholds is compressed, then stored in a blob; its text stays complete",
)
def test_long_reasoning_is_packed(high: RecordedTrail) -> None:
    texts: dict[str, str] = {}
    for entry in high.entries("reasoning").values():
        if entry.get("external"):
            blob = json.loads(
                gzip.decompress((high.root / ".ai-audit" / entry["blob_path"]).read_bytes())
            )
            texts["external"] = blob["reasoning_text"]
        elif entry.get("compressed"):
            texts["compressed"] = gzip.decompress(
                base64.b64decode(entry["reasoning_text_compressed"])
            ).decode()
        else:
            texts["inline"] = entry["reasoning_text"]
    assert texts == REASONING_TEXTS

"""RFC 6.4: command entries."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import check_project, open_trail
from tests.conformance.valid_records import command, entry_findings
from tests.trails import OMIT, CompleteTrail, context_hash

REQUIRED = ("type", "command_text", "command_type", "created_at")
OPTIONAL = ("command_exit_code", "command_output_summary", "working_directory")


@rfc_reader("6.4", "stated", "a command entry with all its members is read without findings")
def test_a_whole_entry_is_accepted(trail: CompleteTrail) -> None:
    assert entry_findings(trail, command()) == set()
    assert open_trail(trail.root).manifest.entry(context_hash(command())) == command()


@rfc_reader(
    "6.4",
    "REQUIRED",
    "a command entry that lacks a required member is reported at its line and member",
)
@pytest.mark.parametrize("member", REQUIRED)
def test_a_missing_required_member_is_reported(trail: CompleteTrail, member: str) -> None:
    assert entry_findings(trail, {**command(), member: OMIT}) == {("entry-field", member)}


@rfc_reader("6.4", "REQUIRED", "a required member that is null is reported as if it were missing")
@pytest.mark.parametrize("member", REQUIRED)
def test_a_null_required_member_is_reported(trail: CompleteTrail, member: str) -> None:
    assert entry_findings(trail, command(), **{member: None}) == {("entry-field", member)}


@rfc_reader("6.4", "OPTIONAL", "optional members may be missing or null")
@pytest.mark.parametrize("member", OPTIONAL)
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_an_optional_member_may_be_absent(trail: CompleteTrail, member: str, value: object) -> None:
    assert entry_findings(trail, {**command(), member: value}) == set()


TYPES = ("shell", "file_write", "file_read", "file_delete", "api_call", "tool_use", "other")


@rfc_reader("6.4", "REQUIRED", "each of the seven command types is known")
@pytest.mark.parametrize("word", TYPES)
def test_every_command_type_is_known(trail: CompleteTrail, word: str) -> None:
    assert entry_findings(trail, command(), command_type=word, command_exit_code=None) == set()


@rfc_reader("6.4", "REQUIRED", "another command type is reported at its member")
@pytest.mark.parametrize("word", ["bash", "SHELL", ""])
def test_another_command_type_is_reported(trail: CompleteTrail, word: str) -> None:
    assert entry_findings(trail, command(), command_type=word) == {("entry-field", "command_type")}


@rfc_reader(
    "6.4",
    "RECOMMENDED",
    "output longer than the recommended 1024 bytes is read completely",
)
def test_long_output_is_read_whole(trail: CompleteTrail) -> None:
    output = "ok 🙂\n" * 1000
    assert entry_findings(trail, command(), command_output_summary=output) == set()
    key = context_hash({**command(), "command_output_summary": output})
    assert (open_trail(trail.root).manifest.entry(key) or {})["command_output_summary"] == output


@rfc_reader(
    "6.4",
    "SHOULD",
    "a secret that a tool left in a command's output is reported, and not repeated",
)
def test_a_secret_in_the_output_is_reported(trail: CompleteTrail) -> None:
    secret = "ghp_" + "a1B2" * 9
    assert entry_findings(trail, command(), command_output_summary=f"token {secret}") == {
        ("secret", "command_output_summary")
    }
    assert secret not in str(check_project(trail.root).findings)

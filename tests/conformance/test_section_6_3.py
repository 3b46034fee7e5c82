"""RFC 6.3: prompt entries."""

from __future__ import annotations

import pytest

from tests.conformance.requirement import rfc_reader
from tests.conformance.trail_access import open_trail
from tests.conformance.valid_records import entry_findings, prompt
from tests.trails import OMIT, CompleteTrail, context_hash

REQUIRED = ("type", "prompt_text", "prompt_type", "created_at")
OPTIONAL = ("prompt_context_files",)


@rfc_reader("6.3", "stated", "a prompt entry with all its members is read without findings")
def test_a_whole_entry_is_accepted(trail: CompleteTrail) -> None:
    assert entry_findings(trail, prompt()) == set()
    assert open_trail(trail.root).manifest.entry(context_hash(prompt())) == prompt()


@rfc_reader(
    "6.3",
    "REQUIRED",
    "a prompt entry that lacks a required member is reported at its line and member",
)
@pytest.mark.parametrize("member", REQUIRED)
def test_a_missing_required_member_is_reported(trail: CompleteTrail, member: str) -> None:
    assert entry_findings(trail, {**prompt(), member: OMIT}) == {("entry-field", member)}


@rfc_reader("6.3", "REQUIRED", "a required member that is null is reported as if it were missing")
@pytest.mark.parametrize("member", REQUIRED)
def test_a_null_required_member_is_reported(trail: CompleteTrail, member: str) -> None:
    assert entry_findings(trail, prompt(), **{member: None}) == {("entry-field", member)}


@rfc_reader("6.3", "OPTIONAL", "optional members may be missing or null")
@pytest.mark.parametrize("member", OPTIONAL)
@pytest.mark.parametrize("value", [OMIT, None], ids=["absent", "null"])
def test_an_optional_member_may_be_absent(trail: CompleteTrail, member: str, value: object) -> None:
    assert entry_findings(trail, {**prompt(), member: value}) == set()


TYPES = (
    "user_instruction",
    "edit_command",
    "chat_message",
    "inline_completion",
    "review_request",
    "refactor_request",
    "other",
)


@rfc_reader("6.3", "REQUIRED", "each of the seven prompt types is known")
@pytest.mark.parametrize("word", TYPES)
def test_every_prompt_type_is_known(trail: CompleteTrail, word: str) -> None:
    assert entry_findings(trail, prompt(), prompt_type=word) == set()


@rfc_reader("6.3", "REQUIRED", "another prompt type is reported at its member")
@pytest.mark.parametrize("word", ["question", "User_Instruction", ""])
def test_another_prompt_type_is_reported(trail: CompleteTrail, word: str) -> None:
    assert entry_findings(trail, prompt(), prompt_type=word) == {("entry-field", "prompt_type")}

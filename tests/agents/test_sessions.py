"""A session of each real agent: the trail has what the script made the agent do, and no more.

What a trail lacks because an agent does not report it is in the `limits` of its driver.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property

import pytest

from tests.agents.driver import Driver
from tests.agents.every_agent import EVERY_AGENT
from tests.agents.recorded_trail import Record, RecordedTrail
from tests.agents.session import Session, run_session
from tests.agents.story import (
    CHANGED_BY_COMMAND,
    COMMANDS,
    DELEGATED,
    EDITED,
    END,
    FAILING_COMMAND,
    FIRST,
    MOVED,
    READS,
    SECOND,
    STEPS,
    WRITING_COMMAND,
    Lines,
)


@dataclass
class Recorded:
    """A session and what was recorded of it.

    Attributes:
        session: The session.
        level: Assurance level of the trail.
    """

    session: Session
    level: str

    @property
    def agent(self) -> Driver:
        """The agent."""
        return self.session.driver

    @property
    def has_prompts(self) -> bool:
        """Whether the trail has the prompts."""
        return self.agent.limits.has_prompts and self.level != "low"

    @cached_property
    def trail(self) -> RecordedTrail:
        """The trail."""
        return RecordedTrail(self.session.sandbox.project)

    def prompt_of(self, record: Record) -> str:
        """Return the prompt of an annotation; empty if it has none."""
        entry = self.trail.entries.get(record.get("prompt_hash", ""), {})
        return str(entry.get("prompt_text", "")).strip('"')  # opencode quotes it

    def expected_prompt(self, lines: Lines) -> str:
        """Return the prompt that the annotation of lines has; empty for none."""
        if not self.has_prompts:
            return ""
        if lines.prompt != DELEGATED:
            return lines.prompt
        if not self.agent.limits.has_subagent_session:
            return FIRST
        return DELEGATED if self.agent.limits.has_subagent_prompt else ""

    def session_of(self, prompt: str) -> str:
        """Return the session in which the edits after a prompt were recorded."""
        files = {lines.file for lines in EDITED if lines.prompt == prompt} - {"inventory.py"}
        [found] = {line["session_id"] for line in self.trail.lines if line["file_path"] in files}
        return str(found)


@pytest.fixture(scope="module", params=EVERY_AGENT)
def agent(request: pytest.FixtureRequest) -> type[Driver]:
    """The driver of an agent."""
    driver: type[Driver] = request.param
    return driver


@pytest.fixture(scope="module", params=["low", "medium", "high"])
def recorded(
    agent: type[Driver],
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Recorded:
    """Run a session and record it; tests only read it."""
    level = request.param
    folder = tmp_path_factory.mktemp(agent.__name__) / "sandbox"
    session = run_session(agent, folder, STEPS, [FIRST, SECOND], level=level)
    session.sandbox.vibes("hook", "--wait")
    return Recorded(session, level)


def test_the_agent_does_what_the_script_says(recorded: Recorded) -> None:
    expected = dict(END)
    if recorded.agent.limits.adds_final_newline:
        expected["todo.md"] += "\n"
    assert [run.returncode for run in recorded.session.runs] == [0, 0]
    assert {
        name: text for name, text in recorded.session.sandbox.files().items() if name in expected
    } == expected


def test_each_edit_is_recorded_once_with_its_prompt(recorded: Recorded) -> None:
    limits = recorded.agent.limits
    expected = [
        replace(lines, prompt=recorded.expected_prompt(lines))
        for lines in EDITED
        if lines not in limits.ambiguous
    ]
    found = [
        Lines(
            line["file_path"],
            line["line_start"],
            line["line_end"],
            line["action"],
            recorded.prompt_of(line),
        )
        for line in recorded.trail.lines
    ]
    if limits.places_in_file:
        moved = {
            replace(there, prompt=recorded.expected_prompt(lines)): replace(
                lines, prompt=recorded.expected_prompt(lines)
            )
            for there, lines in MOVED.items()
        }
        found = [moved.get(lines, lines) for lines in found]
    assert sorted(found) == sorted(expected)
    edited = recorded.trail.commands("file_write")
    unresolved = {lines.file for lines in limits.ambiguous} | {CHANGED_BY_COMMAND}
    assert set(edited) == {f"edit {file}" for file in unresolved}


def test_tool_and_model_are_those_of_the_agent(recorded: Recorded) -> None:
    found = set()
    for line in recorded.trail.lines:
        entry = recorded.trail.entries[line["environment_hash"]]
        is_delegated = line["file_path"] == "delegated.md"
        found.add((is_delegated, entry["tool_name"], entry["model_name"]))
    agent = recorded.agent
    delegated = agent.recorded_model if agent.limits.has_subagent_model else "unknown"
    assert found == {(False, agent.tool, agent.recorded_model), (True, agent.tool, delegated)}


def test_sessions_and_their_parents_are_recorded(recorded: Recorded) -> None:
    limits = recorded.agent.limits
    first, second = recorded.session_of(FIRST), recorded.session_of(SECOND)
    delegated = recorded.session_of(DELEGATED)
    starts, ends = recorded.trail.sessions("start"), recorded.trail.sessions("end")
    assert len(starts) == len(set(starts))
    assert len(ends) == len(set(ends))
    assert (second != first) == limits.has_end
    if limits.has_subagent_session:
        assert delegated not in (first, second)
        assert recorded.trail.edges("delegated_to") == {(first, delegated)}
        assert set(starts) == {first, second, delegated}
    else:
        assert delegated == first
        assert recorded.trail.edges("delegated_to") == set()
        assert set(starts) == {first, second}
    assert ({first, second} <= set(ends)) == limits.has_end


def test_commands_are_recorded_with_their_exit_codes(recorded: Recorded) -> None:
    commands = recorded.trail.commands("shell")
    assert {text: commands[text].get("command_exit_code") for text in COMMANDS} == COMMANDS
    assert "added" in commands[WRITING_COMMAND]["command_output_summary"]
    assert "to-stderr" in commands[FAILING_COMMAND]["command_output_summary"]


def test_reads_are_recorded(recorded: Recorded) -> None:
    found = {
        (session, recorded.trail.entries[key]["command_text"])
        for session, key in recorded.trail.edges("informed_by")
        if session in recorded.trail.sessions("start")
    }
    first, second = recorded.session_of(FIRST), recorded.session_of(SECOND)
    expected = {(first, f"read {file}") for file in READS} | {(second, "read inventory.py")}
    assert found == (expected if recorded.agent.limits.has_reads else set())


def test_reasoning_is_recorded_with_the_edits_it_led_to(recorded: Recorded) -> None:
    limits = recorded.agent.limits
    lacking = {lines.file for lines in limits.lacks_reasoning}
    for line in recorded.trail.lines:
        entry = recorded.trail.entries.get(line.get("reasoning_hash", ""))
        if entry is None:
            file = line["file_path"]
            assert file in lacking or not limits.has_reasoning or recorded.level != "high"
        else:
            assert (recorded.level, limits.has_reasoning) == ("high", True)
            assert line["file_path"] in entry["reasoning_text"]
            assert entry["reasoning_model"] == recorded.agent.recorded_model


def test_the_trail_passes_the_checks(recorded: Recorded) -> None:
    done = recorded.session.sandbox.run(["vibes", "check", "--json"])
    severe = {
        found["check"]
        for found in json.loads(done.stdout)["findings"]
        if found["severity"] != "note"
    }
    assert severe == recorded.agent.limits.findings(recorded.level)

"""What is not written: what the assurance level withholds, secrets, and the project's path."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.recording.projects import PROMPT, Project, new_project, session_origin
from vibes_lsp.model.config import Redaction
from vibes_lsp.model.secrets import MASK, mask_secrets, secret_kinds
from vibes_lsp.recording import (
    Command,
    CommandType,
    Decision,
    DecisionOption,
    Prompt,
    PromptType,
    Reasoning,
    RecordCommand,
    Recorder,
)
from vibes_lsp.store.config import load_config

if TYPE_CHECKING:
    from pathlib import Path

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIBOgIBAAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf9Cnzj4p4WGeKLs1Pt8Qu\n-----END RSA PRIVATE KEY-----"
SECRETS = {
    "AKIAIOSFODNN7EXAMPLE": "AKIAIOSFODNN7EXAMPLE",
    "ghp_" + "a1B2" * 9: "a1B2a1B2",
    "sk-ant-" + "api03-" + "x" * 30: "xxxxxxxxxx",
    "glpat-" + "y" * 20: "yyyyyyyyyy",
    "xoxb-" + "123456789012-1234567890123-" + "abcdefabcdefabcdefabcdef": "abcdefabcdef",
    "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U": "dozjgNryP4J3",
    "postgres://ada:hunter2@db.example.org/x": "hunter2",
    KEY: "MIIBOgIBAAJBAKj34",
}
"""Text with a secret, and a part of it that must be nowhere."""


@pytest.mark.parametrize(
    ("level", "withheld"),
    [("low", ("prompt", "reasoning")), ("medium", ("reasoning",)), ("high", ())],
)
def test_the_assurance_level_decides_what_is_written(
    tmp_path: Path, level: str, withheld: tuple[str, ...]
) -> None:
    project = new_project(tmp_path / "project", level)
    origin = session_origin(
        project.session(),
        prompt=Prompt("PROMPT", PromptType.OTHER, ("given.py",)),
        reasoning=Reasoning("REASONING"),
    )
    recorded = project.recorder.annotate_lines("a.py", 1, 1, "create", origin, request_id="once")
    assert recorded.withheld == withheld
    written = project.written()
    for name, words in (
        ("prompt", b"PROMPT"),
        ("prompt", b"given.py"),
        ("reasoning", b"REASONING"),
    ):
        assert (words in written) == (name not in withheld), words
    [record] = project.records("line")
    assert {f"{name}_hash" for name in withheld}.isdisjoint(record)
    assert record["assurance_level"] == level


@pytest.mark.parametrize(
    ("text", "private"), SECRETS.items(), ids=[secret[:12].strip("-") for secret in SECRETS]
)
def test_a_secret_is_masked_in_every_member(tmp_path: Path, text: str, private: str) -> None:
    project = new_project(tmp_path / "project", "high")
    session = project.session(description=f"With {text} in it")
    sentence = f"Take this: {text} and go on.\nThen stop."
    origin = session_origin(
        session,
        prompt=Prompt(sentence, PromptType.OTHER),
        reasoning=Reasoning(sentence),
        command=Command(sentence, CommandType.SHELL, 0, sentence),
        decision=Decision(
            sentence, (DecisionOption("a", sentence, (sentence,), (sentence,)),), "a", sentence
        ),
    )
    recorded = project.recorder.annotate_lines("a.py", 1, 1, "create", origin)
    assert recorded.masked == 9
    assert private.encode() not in project.written()
    [prompt] = project.entries("prompt").values()
    assert prompt["prompt_text"].startswith("Take this: ")
    assert MASK in prompt["prompt_text"]
    assert prompt["prompt_text"].endswith(" and go on.\nThen stop.")


@pytest.mark.parametrize(
    "text",
    [
        "Write a digest.",
        "the key is under the mat",
        "see https://example.org/a?b=c",
        "sha256 " + "ab" * 32,
        "",
    ],
)
def test_text_that_is_no_secret_is_not_masked(text: str) -> None:
    assert mask_secrets(text) == (text, 0)


def test_masking_masked_text_changes_nothing() -> None:
    text = (
        "\n".join(SECRETS)
        + "\r\naws_secret_access_key = "
        + "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
        + "\r\n"
    )
    masked, count = mask_secrets(text)
    assert count == len(SECRETS) + 1
    assert secret_kinds(text)
    assert not secret_kinds(masked)
    assert masked.endswith("\r\n")


@given(
    st.lists(
        st.one_of(
            st.sampled_from([*SECRETS, "password=", "aws_key: ", "\r\n", "\u2028", " "]),
            st.text(max_size=12),
        ),
        max_size=8,
    )
)
def test_masking_any_masked_text_changes_nothing(parts: list[str]) -> None:
    masked, count = mask_secrets("".join(parts))
    assert not secret_kinds(masked)
    assert mask_secrets(masked) == (masked, 0)
    assert count or masked == "".join(parts)


def test_a_secret_in_a_very_long_line_is_masked() -> None:
    masked, count = mask_secrets("x " * 5000 + "AKIAIOSFODNN7EXAMPLE" + " y" * 5000)
    assert (masked, count) == ("x " * 5000 + MASK + " y" * 5000, 1)


KEY_ID = "AKIAIOSFODNN7EXAMPLE"
OTHER_KEY = "AKIAIOSFODNN7EXAMPLF"


@pytest.mark.parametrize(
    ("rules", "text", "masked"),
    [
        (Redaction(mask=["hunter2"]), "say hunter2, hunter22", (f"say {MASK}, {MASK}2", 2)),
        (Redaction(mask=["the old pass"]), "it is the old pass.", (f"it is {MASK}.", 1)),
        (Redaction(mask=["ACME-*"]), "ACME-1;x ACME-\nACME-2", (f"{MASK} {MASK}\n{MASK}", 3)),
        (Redaction(mask=["*.corp.example"]), "at db.corp.example:80", (f"at {MASK}:80", 1)),
        (Redaction(mask=["key*end*"]), "key1end2 key1 end", (f"{MASK} key1 end", 1)),
        (Redaction(mask=["wxyz*"]), "nothing", ("nothing", 0)),
        (Redaction(allow=[KEY_ID]), f"{KEY_ID} {OTHER_KEY}", (f"{KEY_ID} {MASK}", 1)),
        (
            Redaction(allow=["postgres://ada:hunter2@localhost"]),
            "postgres://ada:hunter2@localhost/x",
            ("postgres://ada:hunter2@localhost/x", 0),
        ),
        (
            Redaction(mask=[KEY_ID], allow=[f"id {KEY_ID}"]),
            f"id {KEY_ID}, {KEY_ID}",
            (f"id {KEY_ID}, {MASK}", 1),
        ),
        (Redaction(allow=[KEY]), KEY, (MASK, 1)),
    ],
)
def test_a_project_configures_mask_and_allow(
    rules: Redaction, text: str, masked: tuple[str, int]
) -> None:
    assert mask_secrets(text, rules) == masked
    assert not secret_kinds(masked[0], rules)


@given(
    st.lists(
        st.text(st.sampled_from("AKIOSFDN7EXMPL=:/@ghp_a1B2"), min_size=1, max_size=19), max_size=8
    )
)
def test_allow_needs_the_whole_secret(allow: list[str]) -> None:
    text = f"{KEY_ID} and ghp_{'a1B2' * 9}"
    assert mask_secrets(text, Redaction(allow=allow)) == (f"{MASK} and {MASK}", 2)


@given(st.text("ab* ", max_size=40), st.text("ab", min_size=4, max_size=9))
def test_a_pattern_matches_like_a_simple_implementation(text: str, words: str) -> None:
    pattern = "*".join(words[:2]) + words[2:]
    simple = re.sub(
        r"\S*?".join(map(re.escape, pattern.split("*"))), lambda _: MASK, text.replace("*", "c")
    )
    assert mask_secrets(text.replace("*", "c"), Redaction(mask=[pattern]))[0] == simple


def test_no_pattern_is_slow() -> None:
    rules = Redaction(mask=["a*" * 90 + "bbbb", *(f"{number:04}*" for number in range(99))])
    assert mask_secrets("a" * 50_000, rules) == ("a" * 50_000, 0)


def test_the_config_cannot_disable_masking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    redaction = {
        "enabled": False,
        "mask": ["x", "ACME-*", "a *", 7, "the other", " ACME*", "ACME-* ", "\tACME-*"],
        "allow": [KEY_ID],
    }
    project = new_project(tmp_path / "project", redaction=redaction)
    session = project.session()
    text = f"ACME-1 {KEY_ID} {OTHER_KEY} the other"
    done = project.recorder.execute(
        RecordCommand(session_id=session, command=Command(text, CommandType.SHELL))
    )
    assert project.entry(done.command_hash)["command_text"] == f"{MASK} {KEY_ID} {MASK} {MASK}"
    assert done.masked == 3
    problems = load_config(project.recorder.directory).problems
    assert {each.field for each in problems} == {
        "redaction.enabled",
        "redaction.mask.0",
        "redaction.mask.2",
        "redaction.mask.3",
        "redaction.mask.5",
        "redaction.mask.6",
        "redaction.mask.7",
    }
    monkeypatch.setenv("VIBES_REDACTION", "off")
    done = project.recorder.execute(
        RecordCommand(session_id=session, command=Command(text, CommandType.SHELL))
    )
    assert (project.entry(done.command_hash)["command_text"], done.masked) == (text, 0)


def test_the_project_path_is_removed_in_every_spelling(tmp_path: Path) -> None:
    project = new_project(tmp_path / "my project")
    session = project.session()
    (tmp_path / "link").symlink_to(project.root, target_is_directory=True)
    spelled = Recorder(tmp_path / "link")
    for recorder in (project.recorder, spelled):
        output = f"{project.root}/a.py:1 {project.root.as_uri()}/b%20c.py ({project.root}) '{project.root}/d'"
        done = recorder.execute(
            RecordCommand(session_id=session, command=Command("make", CommandType.SHELL, 0, output))
        )
        assert (
            project.entry(done.command_hash)["command_output_summary"] == "a.py:1 b%20c.py (.) 'd'"
        )


def test_the_project_path_is_not_recorded(project: Project) -> None:
    root = project.root
    text = f"Change {root}/src/a.py, file://{root}/b.py and what else is in {root}, not {root}-old/c.py or /elsewhere{root}/d.py"
    project.recorder.annotate_lines(
        "a.py",
        1,
        1,
        "create",
        session_origin(project.session(), prompt=Prompt(text, PromptType.OTHER)),
    )
    [prompt] = project.entries("prompt").values()
    assert (
        prompt["prompt_text"]
        == f"Change src/a.py, b.py and what else is in ., not {root}-old/c.py or /elsewhere{root}/d.py"
    )


def test_folders_of_commands_are_relative(project: Project) -> None:
    session = project.session()
    folders = {
        str(project.root): ".",
        ".": ".",
        "": ".",
        str(project.root / "src"): "src",
        "src/": "src",
        "/elsewhere": None,
    }
    for number, (folder, recorded) in enumerate(folders.items()):
        done = project.recorder.execute(
            RecordCommand(
                session_id=session,
                command=Command(f"run {number}", CommandType.SHELL, working_directory=folder),
            )
        )
        assert project.entry(done.command_hash).get("working_directory") == recorded
        assert done.left_out == ((folder,) if recorded is None else ())


def test_an_output_is_cut_at_a_character_boundary(project: Project) -> None:
    output = "AKIAIOSFODNN7EXAMPLE " + "é" * 5000
    done = project.recorder.execute(
        RecordCommand(
            session_id=project.session(), command=Command("run", CommandType.SHELL, 1, output)
        )
    )
    summary = project.entry(done.command_hash)["command_output_summary"]
    assert summary.startswith(f"{MASK} éé")
    assert len(summary.encode()) == 1023
    assert done.masked == 1


def test_reasoning_is_stored_by_the_projects_thresholds(tmp_path: Path) -> None:
    config = {"compress_reasoning_threshold_bytes": 100, "external_blob_threshold_bytes": 1000}
    project = new_project(tmp_path / "project", "high", **config)
    session = project.session()
    for number, size in enumerate((50, 500, 5000), 1):
        project.recorder.annotate_lines(
            "a.py",
            number,
            number,
            "create",
            session_origin(session, prompt=PROMPT, reasoning=Reasoning("x" * size)),
        )
    inline, packed, external = (
        project.entry(record["reasoning_hash"]) for record in project.records("line")
    )
    assert (inline["reasoning_text"], packed["compressed"], external["external"]) == (
        "x" * 50,
        True,
        True,
    )
    assert (project.root / ".ai-audit" / external["blob_path"]).is_file()
    assert {entry["reasoning_model"] for entry in (inline, packed, external)} == {"some-model"}

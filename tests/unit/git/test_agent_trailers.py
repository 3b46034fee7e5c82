"""Which agent the trailers of a commit name; people with an agent's name are none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.trails import Repository as MadeRepository
from vibes_lsp.git.agent_trailers import agent_in_trailer, read_agent_trailers
from vibes_lsp.git.repository import Repository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("trailer", "agent"),
    [
        ("Co-Authored-By: Claude Sonnet 4.5 <noreply@anthropic.com>", "Claude"),
        ("Co-authored-by: Copilot <223556219+Copilot@users.noreply.github.com>", "Copilot"),
        ("co-authored-by: Codex <noreply@openai.com>", "Codex"),
        ("Co-authored-by: Cursor <cursoragent@cursor.com>", "Cursor"),
        ("Co-authored-by: gemini-code-assist[bot] <x@users.noreply.github.com>", "Gemini"),
        ("Co-authored-by: aider (gpt-5) <noreply@aider.chat>", "aider"),
        ("Assisted-by: Claude:claude-opus-4", "Claude"),
        ("Generated-by: opencode 1.18", "opencode"),
    ],
)
def test_a_trailer_names_its_agent(trailer: str, agent: str) -> None:
    assert agent_in_trailer(trailer) == agent


@pytest.mark.parametrize(
    "trailer",
    [
        "Co-authored-by: Claude Monet <claude@example.org>",
        "Co-authored-by: Ada Example <ada@cursor.example>",
        "Reviewed-by: Claude <noreply@anthropic.com>",
        "Co-authored-by: Ada Example <ada@example.org>",
        "Claude wrote this",
        "",
    ],
)
def test_other_trailers_name_none(trailer: str) -> None:
    assert agent_in_trailer(trailer) is None


def test_only_trailers_count_and_only_of_the_commits_asked_about(tmp_path: Path) -> None:
    made = MadeRepository(tmp_path / "project")
    first = made.commit("one\n\nCo-Authored-By: Claude <noreply@anthropic.com>\n\nand more text")
    second = made.commit("two\n\nAssisted-by: Codex")
    third = made.commit("three\n\nCo-authored-by: Cursor <cursoragent@cursor.com>")
    repository = Repository(made.path)
    found = read_agent_trailers(repository.objects, [third, first, second])
    assert {commit: each.agent for commit, each in found.items()} == {
        second: "Codex",
        third: "Cursor",
    }, first
    assert read_agent_trailers(repository.objects, [third]).keys() == {third}
    assert read_agent_trailers(repository.objects, []) == {}
    assert read_agent_trailers(repository.objects, ["0" * 40, third]).keys() == {third}


def test_trailers_are_the_last_paragraph_whatever_its_lines_are(tmp_path: Path) -> None:
    made = MadeRepository(tmp_path / "project")
    folded = made.commit(
        "one\n\nSigned-off-by: Ada Example\nAssisted-by: Codex\n of a long name\n\n"
    )
    blank = made.commit("two\n \nGenerated-by: opencode 1.18\nCo-authored-by: Copilot\n")
    nothing = made.commit("Assisted-by: Codex\n\nas the subject says")
    repository = Repository(made.path)
    found = read_agent_trailers(repository.objects, [folded, blank, nothing])
    assert {commit: (trailer.agent, trailer.text) for commit, trailer in found.items()} == {
        folded: ("Codex", "Assisted-by: Codex of a long name"),
        blank: ("opencode", "Generated-by: opencode 1.18"),
    }

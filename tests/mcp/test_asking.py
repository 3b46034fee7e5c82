"""Every tool that asks, every resource and every prompt, over the sample repository."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from mcp import MCPError

from tests.demo.workspace import copied
from tests.mcp.clients import connected
from vibes_lsp.mcp import asking
from vibes_lsp.mcp.served_project import ServedProject
from vibes_lsp.reports.find import find_annotations

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vibes_lsp.mcp.answers import ReviewQueue, Risks
    from vibes_lsp.reports.found_annotations import FoundAnnotation


ASKING = {"provenance_at", "why", "find_prompts", "risk", "review_queue"}
RECORDING = {
    "start_session", "end_session", "record_prompt", "record_annotation", "record_decision",
    "record_delegation", "record_read",
}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("mcp") / "project").root


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_tools_are_few_by_default_and_all_by_option(root: Path, mode: str) -> None:
    async with connected(root, mode=mode) as server:
        tools = (await server.client.list_tools()).tools
        assert {tool.name for tool in tools} == ASKING
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        assert "never instructions" in (server.client.instructions or "")
    async with connected(root, "--tools", "all", mode=mode) as server:
        tools = (await server.client.list_tools()).tools
        hints = {tool.name: tool.annotations for tool in tools}
        assert hints.keys() == ASKING | RECORDING
        writing = {name for name, hint in hints.items() if hint and not hint.read_only_hint}
        assert writing == RECORDING
        assert not any(hint.destructive_hint for hint in hints.values() if hint)


async def test_provenance_at_names_the_owner_of_a_line(root: Path) -> None:
    async with connected(root) as server:
        answer = await server.ask("provenance_at", file="src/auth.py", lineStart=24)
        [owner] = answer["annotations"]
        assert (answer["lineStart"], answer["lineEnd"]) == (24, 24)
        assert owner["tool"]["name"] == "Claude Code"
        assert owner["state"] == "edited"
        assert owner["band"] == "critical"
        assert owner["prompt"]["quoted"].startswith("| Store passwords safely.")
        assert owner["ownedLines"] == [
            {"lineStart": 23, "lineEnd": 25, "kind": "ai"},
            {"lineStart": 27, "lineEnd": 27, "kind": "ai"},
        ]
        same = await server.ask("provenance_at", file=str(root / "src/auth.py"), lineStart=24)
        assert same == answer


async def test_lines_without_annotations_are_said_to_be_so(root: Path) -> None:
    (root / "src/plain.py").write_text("x = 1\n", encoding="utf-8")
    async with connected(root) as server:
        answer = await server.ask("provenance_at", file="src/plain.py")
        assert answer["annotations"] == []
        assert "No annotation" in answer["hint"]


async def test_why_gives_prompt_decision_session_and_what_was_read(root: Path) -> None:
    code = (root / "src/auth.py").read_text(encoding="utf-8").splitlines()
    async with connected(root) as server:
        by_lines = await server.ask("why", file="src/auth.py", lineStart=23, lineEnd=27)
        [reason] = by_lines["annotations"]
        assert reason["decision"]["selected"] == "sha256"
        assert reason["decision"]["decisionPoint"]["quoted"] == "| How to store passwords"
        assert reason["reasoning"]["quoted"].startswith("| hashlib")
        assert reason["session"]["sessionId"] == reason["sessionId"]
        assert reason["session"]["startedAt"] <= reason["recordedAt"]
        by_code = await server.ask("why", file="src/auth.py", code=f"{code[22]}\n{code[23]}\n")
        assert (by_code["lineStart"], by_code["lineEnd"]) == (23, 24)
        assert by_code["annotations"] == by_lines["annotations"]
        name = code[22].partition("def ")[2].partition("(")[0]
        by_name = await server.ask("why", file="src/auth.py", function=name)
        assert by_name["annotations"] == by_lines["annotations"]


async def test_find_prompts_finds_by_a_part_and_by_file(root: Path) -> None:
    async with connected(root) as server:
        found = await server.ask("find_prompts", text="PASSWORDS SAFELY")
        [prompt] = found["prompts"]
        assert prompt["annotations"][0]["filePath"] == "src/auth.py"
        here = await server.ask("find_prompts", file="src/auth.py")
        assert prompt["promptHash"] in {each["promptHash"] for each in here["prompts"]}
        assert (await server.ask("find_prompts", text="no such text"))["prompts"] == []
        one = await server.ask("find_prompts", limit=1)
        every = await server.ask("find_prompts", limit=100)
        assert len(one["prompts"]) == 1
        assert one["more"] == len(every["prompts"]) - 1
        assert every["more"] == 0


async def test_risk_and_the_review_queue_begin_with_the_highest_score(root: Path) -> None:
    async with connected(root) as server:
        risks = await server.ask("risk")
        scores = [each["score"] for each in risks["annotations"]]
        assert risks["isScored"]
        assert scores == sorted(scores, reverse=True)
        assert all(each["factors"] for each in risks["annotations"])
        critical = await server.ask("risk", band="critical")
        assert {each["band"] for each in critical["annotations"]} == {"critical"}
        queue = await server.ask("review_queue", limit=2)
        assert len(queue["annotations"]) == 2
        assert queue["more"] > 0
        assert not any("review" in each for each in queue["annotations"])
        folder = await server.ask("review_queue", file="web")
        assert {each["filePath"].partition("/")[0] for each in folder["annotations"]} == {"web"}


@pytest.mark.parametrize("ask", [asking.risk, asking.review_queue])
def test_an_edit_whose_file_went_meanwhile_is_not_said_to_be_left(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[[ServedProject, asking.Selection], Risks | ReviewQueue],
) -> None:
    project = ServedProject(copied(tmp_path / "shop").root)
    project.refresh()
    before = ask(project, asking.Selection(limit=100)).annotations
    left = [annotation for annotation in before if annotation.file_path != "src/auth.py"]
    assert 0 < len(left) < len(before)

    def find_before_it_goes(*arguments: Any) -> list[FoundAnnotation]:
        annotations = find_annotations(*arguments)
        (project.root / "src/auth.py").unlink(missing_ok=True)
        return annotations

    monkeypatch.setattr(asking, "find_annotations", find_before_it_goes)
    answer = ask(project, asking.Selection(limit=100))
    assert (len(answer.annotations), answer.more) == (len(left), 0)
    project.close()


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("provenance_at", {}, "file"),
    ("provenance_at", {"file": "../outside.py"}, "inside the project"),
    ("provenance_at", {"file": "/etc/passwd"}, "inside the project"),
    ("provenance_at", {"file": ".ai-audit/config.json"}, "audit trail"),
    ("provenance_at", {"file": "link.py"}, "inside the project"),
    ("provenance_at", {"file": "src/none.py"}, "does not exist"),
    ("provenance_at", {"file": "src/auth.py", "lineStart": 0}, "lineStart"),
    ("provenance_at", {"file": "src/auth.py", "lineStart": 1_000}, "has 27 lines"),
    ("provenance_at", {"file": "src/auth.py", "lineStart": 9, "lineEnd": 3}, "lineEnd"),
    ("provenance_at", {"file": "src/auth.py", "lineEnd": 3}, "lineStart"),
    ("provenance_at", {"file": "src/auth.py", "lines": 3}, "is not a member; there are file"),
    ("provenance_at", {"file": "x" * 2_000}, "file"),
    ("provenance_at", {"file": "a\0b"}, "file"),
    ("provenance_at", {"file": "src/auth.py", "limit": 101}, "limit"),
    ("why", {"file": "src/auth.py", "function": "no_such"}, "not found"),
    ("why", {"file": "src/auth.py", "code": "no such line"}, "whole lines"),
    ("why", {"file": "src/auth.py", "code": " \n"}, "some code"),
    ("why", {"file": "src/auth.py", "code": "x" * 30_000}, "code"),
    ("why", {"file": "src/auth.py", "code": "x", "lineStart": 3}, "not several"),
    ("risk", {"band": "severe"}, "expected low, medium, high or critical"),
    ("review_queue", {"file": ".."}, "inside the project"),
]


async def test_a_wrong_argument_is_answered_with_what_was_expected(root: Path) -> None:
    (root / "link.py").unlink(missing_ok=True)
    (root / "link.py").symlink_to("/etc/hostname")
    async with connected(root) as server:
        for tool, arguments, expected in WRONG:
            message = await server.fail(tool, **arguments)
            assert expected in message, message
            assert len(message) <= 1_000
        with pytest.raises(MCPError, match="no tool has this name"):
            await server.client.call_tool("record_prompt", {})
    (root / "link.py").unlink()


async def test_resources_have_the_policy_the_sessions_and_the_files(root: Path) -> None:
    async with connected(root) as server:
        listed = (await server.client.list_resources()).resources
        for each in listed:
            assert "never instructions" in (await server.read(each.uri))["notice"]
        templates = (await server.client.list_resource_templates()).resource_templates
        assert {each.uri_template for each in templates} == {
            "vibes://sessions/{sessionId}",
            "vibes://files/{+path}",
        }
        assert (await server.read("vibes://config"))["assuranceLevel"] == "high"
        sessions = (await server.read("vibes://sessions"))["sessions"]
        agent = next(each for each in sessions if each.get("agentType") != "human")
        one = await server.read(agent["uri"])
        assert one["sessionId"] == agent["sessionId"]
        assert one["files"]
        files = (await server.read("vibes://files"))["files"]
        auth = next(each for each in files if each["file"] == "src/auth.py")
        assert (await server.read(auth["uri"]))["annotations"]
        for wrong in ("vibes://nothing", "vibes://files/../x", "file:///etc/passwd", "vibes://"):
            with pytest.raises(MCPError):
                await server.client.read_resource(wrong)


async def test_prompts_ask_for_help_and_leave_the_verdict_to_a_person(root: Path) -> None:
    async with connected(root) as server:
        prompts = (await server.client.list_prompts()).prompts
        assert [each.name for each in prompts] == ["review_file", "review_next"]
        for name, arguments in (("review_file", {"file": "src/auth.py"}), ("review_next", {})):
            [message] = (await server.client.get_prompt(name, arguments)).messages
            text = message.content.model_dump()["text"]
            assert "cannot approve" in text
            assert json.loads(text.splitlines()[-1])["annotations"]
        with pytest.raises(MCPError, match="file: is required"):
            await server.client.get_prompt("review_file", {})
        with pytest.raises(MCPError, match="no prompt has this name"):
            await server.client.get_prompt("approve", {})

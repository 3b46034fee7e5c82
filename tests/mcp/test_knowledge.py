"""The knowledge base over MCP, by the SDK's own client: an agent asks and proposes, a person decides."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client, MCPError, StdioServerParameters, stdio_client

from tests import forked
from tests.conformance.vouch.server import METHODS
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase, create_knowledge_base
from vibes_lsp.knowledge.object_format import dump_page, dump_yaml
from vibes_lsp.knowledge.review_gate import ReviewGate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


DECIDING = {"kb_approve", "kb_reject", "kb_crystallize", "kb_import_apply"}


@pytest.fixture
def knowledge(tmp_path: Path) -> KnowledgeBase:
    (tmp_path / "auth.py").write_text("import jwt\n")
    return create_knowledge_base(tmp_path)


@asynccontextmanager
async def connected(knowledge: KnowledgeBase, *options: str) -> AsyncIterator[Client]:
    parameters = StdioServerParameters(
        command=str(forked.program("vibes mcp")),
        args=["kb", "serve", *options],
        cwd=str(knowledge.project),
        env={"VOUCH_AGENT": "codex"},
    )
    async with Client(stdio_client(parameters)) as client:
        yield client


async def ask(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    [content] = result.content
    assert content.type == "text"
    return json.loads(content.text)


def test_an_agent_proposes_and_finds_what_a_person_approved(knowledge: KnowledgeBase) -> None:
    async def talk() -> None:
        async with connected(knowledge) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert len(names) == 9
            assert not names & DECIDING
            evidence = [{"path": "auth.py", "locator": "L1"}]
            proposed = await ask(
                client, "kb_propose_claim", text="Auth uses JWT", evidence=evidence
            )
            assert proposed["valid"]
            assert await ask(client, "kb_search", query="jwt", kinds=["claim"]) == []
            ReviewGate(knowledge).approve(proposed["proposal_id"], actor="ada")
            [hit] = await ask(client, "kb_search", query="jwt", kinds=["claim"])
            assert hit["id"] == "auth-uses-jwt"
            [content] = (await client.read_resource("vouch://claims/auth-uses-jwt")).contents
            assert "approved_by: ada" in content.model_dump()["text"]
            prompts = {each.name for each in (await client.list_prompts()).prompts}
            assert prompts == {"vouch.cite_this", "vouch.crystallize_session"}
            for prompt in prompts:
                assert (await client.get_prompt(prompt)).messages

    asyncio.run(talk())


def test_no_option_lets_an_agent_decide(knowledge: KnowledgeBase) -> None:
    async def talk() -> None:
        async with connected(knowledge, "--tools", "full") as client:
            tools = (await client.list_tools()).tools
            names = {tool.name for tool in tools}
            assert names == {each.replace(".", "_") for each in METHODS} - DECIDING
            for name in DECIDING:
                with pytest.raises(MCPError, match="no tool has this name"):
                    await client.call_tool(name, {"proposal_id": "x", "reason": "y"})

    asyncio.run(talk())


def test_a_project_can_trust_its_agents(knowledge: KnowledgeBase) -> None:
    config = knowledge.path / "config.yaml"
    config.write_text(
        config.read_text().replace("approver_role: human", "approver_role: trusted-agent")
    )

    async def talk() -> None:
        async with connected(knowledge, "--tools", "full") as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert names >= DECIDING

    asyncio.run(talk())


def test_hostile_arguments_are_refused_and_change_nothing(
    knowledge: KnowledgeBase, tmp_path: Path
) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-{datetime.now(UTC):%H%M%S%f}.tar.gz"

    async def talk() -> None:
        async with connected(knowledge, "--tools", "full") as client:
            for tool, arguments in (
                ("kb_export", {"out": str(outside)}),
                ("kb_export", {"out": f"../{outside.name}"}),
                ("kb_import_check", {"path": "/etc/passwd"}),
                ("kb_register_source_from_path", {"path": "/etc/passwd"}),
                ("kb_propose_claim", {"text": ["x"], "evidence": {"a": 1}}),
                ("kb_propose_claim", {}),
                ("kb_search", {"query": None}),
            ):
                result = await client.call_tool(tool, arguments)
                assert result.is_error, tool
            for uri in ("vouch://claims/../config", "vouch://pages/none", "vouch://nothing"):
                with pytest.raises(MCPError):
                    await client.read_resource(uri)
            assert await ask(client, "kb_status")

    asyncio.run(talk())
    assert not outside.exists()


def test_a_bundle_of_an_agent_replaces_nothing(knowledge: KnowledgeBase) -> None:
    for folder in (".git", ".ai-audit", "sub"):
        (knowledge.project / folder).mkdir(exist_ok=True)
    (knowledge.project / "kept.tar.gz").write_bytes(b"kept")
    (knowledge.project / "link").symlink_to(".vouch")
    (knowledge.project / "dangling.tar.gz").symlink_to("new.tar.gz")
    targets = (
        "auth.py", ".vouch/audit.log.jsonl", ".vouch/x.tar.gz", ".vouch/claims/x.tar.gz",
        "link/x.tar.gz", "sub/../.vouch/x.tar.gz", ".git/x.tar.gz", ".ai-audit/x.tar.gz",
        "kept.tar.gz", "dangling.tar.gz",
    )  # fmt: skip

    async def talk() -> None:
        async with connected(knowledge, "--tools", "full") as client:
            for target in targets:
                for name in ("out", "out_path"):
                    result = await client.call_tool("kb_export", {name: target})
                    assert result.is_error, target
            assert (await ask(client, "kb_export", out="sub/new.tar.gz"))["files"]

    asyncio.run(talk())
    archives = {each.name for each in knowledge.project.rglob("*.tar.gz") if each.is_file()}
    assert archives == {"kept.tar.gz", "new.tar.gz"}
    assert (knowledge.project / "kept.tar.gz").read_bytes() == b"kept"
    assert (knowledge.project / "auth.py").read_text() == "import jwt\n"
    assert (knowledge.path / "audit.log.jsonl").read_text().startswith("{")


def test_hidden_text_of_a_claim_is_visible_to_an_agent(knowledge: KnowledgeBase) -> None:
    hidden = "safe\u202e\u200b\U000e0041\x9b done"
    members = {"id": "hostile", "text": hidden, "evidence": ["a"]}
    (knowledge.path / "claims/hostile.yaml").write_bytes(dump_yaml(members))
    page = {"id": "hostile", "title": hidden, "body": hidden}
    (knowledge.path / "pages/hostile.md").write_bytes(dump_page(page))

    async def talk() -> None:
        async with connected(knowledge) as client:
            answers = []
            for tool, arguments in (
                ("kb_search", {"query": "safe"}),
                ("kb_context", {"task": "safe"}),
                ("kb_read_claim", {"id": "hostile"}),
                ("kb_read_page", {"id": "hostile"}),
            ):
                answers.append((await client.call_tool(tool, arguments)).model_dump_json())
            answers += [
                (await client.read_resource(uri)).model_dump_json()
                for uri in ("vouch://claims/hostile", "vouch://pages/hostile")
            ]
            for answer in answers:
                assert "safe" in answer
                assert not any(each in answer for each in hidden if not each.isprintable())

    asyncio.run(talk())

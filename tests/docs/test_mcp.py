"""What `docs/mcp.md` shows is what the server answers, over the sample repository."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.demo.workspace import copied
from tests.docs.code_blocks import code_blocks, run_shell
from tests.requirements import REPOSITORY
from vibes_lsp.mcp.served_project import ServedProject
from vibes_lsp.mcp.tool_catalogue import ASKING, RECORDING, Connection

if TYPE_CHECKING:
    from pathlib import Path


PAGE: Final = REPOSITORY / "docs/mcp.md"
EXAMPLE: Final = re.compile(
    r"^(?P<head>`(?P<tool>\w+)` with\s+`(?P<arguments>\{[^`]*\})`:\n\n```json\n)(?P<answer>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
RANDOM: Final = re.compile(r"[0-9a-f]{64}|[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[\d:.]+Z")
"""Ids and times, of which those of a recording differ each time."""
WIDTH: Final = 110
UPDATE: Final = bool(os.environ.get("VIBES_UPDATE_SNAPSHOTS"))


def printed(value: Any, indent: str = "") -> str:
    """Return JSON with what fits on one line on one line."""
    line = json.dumps(value)
    if len(indent + line) <= WIDTH or not isinstance(value, dict | list):
        return line
    inner = f"{indent}  "
    items = (
        [f"{json.dumps(name)}: {printed(each, inner)}" for name, each in value.items()]
        if isinstance(value, dict)
        else [printed(each, inner) for each in value]
    )
    start, end = "{}" if isinstance(value, dict) else "[]"
    return f"{start}\n{inner}" + f",\n{inner}".join(items) + f"\n{indent}{end}"


def test_every_tool_answers_as_the_page_shows(tmp_path: Path) -> None:
    root = copied(tmp_path / "shop").root
    connection = Connection(ServedProject(root))
    session = [""]

    def answer(tool: str, arguments: str) -> Any:
        found = next(each for each in (*ASKING, *RECORDING) if each.name == tool)
        given = json.loads(arguments.replace("\n", " ").replace("SESSION", session[0]))
        result: Any = json.loads(json.dumps(found.call(connection, given)))
        session[0] = result.get("sessionId", session[0])
        return result

    page = PAGE.read_text(encoding="utf-8")
    examples = [(each, answer(each["tool"], each["arguments"])) for each in EXAMPLE.finditer(page)]
    assert {each["tool"] for each, _ in examples} == {tool.name for tool in (*ASKING, *RECORDING)}
    if UPDATE:
        made = iter(f"{each['head']}{printed(told)}\n```" for each, told in examples)
        PAGE.write_text(EXAMPLE.sub(lambda _: next(made), page), encoding="utf-8", newline="\n")
        return
    recording = {tool.name for tool in RECORDING}
    for each, told in examples:
        shown, wanted = each["answer"], json.dumps(told)
        if each["tool"] in recording:
            shown, wanted = RANDOM.sub("", shown), RANDOM.sub("", wanted)
        assert json.loads(shown) == json.loads(wanted), each["head"]


@pytest.mark.skipif(os.name == "nt", reason="the commands are for a POSIX shell")
def test_the_commands_of_the_page_add_the_server(tmp_path: Path) -> None:
    [commands] = code_blocks(PAGE.read_text(encoding="utf-8"), "sh")
    done = run_shell(commands, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "MCP server added to .mcp.json" in done.stdout
    [written] = [
        block
        for block in code_blocks(PAGE.read_text(encoding="utf-8"), "json")
        if block == (tmp_path / "shop/.mcp.json").read_text(encoding="utf-8")
    ]
    assert "mcpServers" in written

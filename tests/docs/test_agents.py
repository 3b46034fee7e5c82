"""What `docs/agents.md` shows works when it is copied."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.docs.code_blocks import code_blocks
from tests.requirements import REPOSITORY, require, require_node
from tests.unit.recording.projects import Project, new_project
from vibes_lsp.agents.agent import CodingAgent, Form
from vibes_lsp.agents.all_agents import AGENTS
from vibes_lsp.agents.setup.configuration import hook_configuration
from vibes_lsp.ingest.fold import wait_until_folded

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE: Final = (REPOSITORY / "docs/agents.md").read_text(encoding="utf-8")
REFERENCE: Final = (REPOSITORY / "docs/agents-reference.md").read_text(encoding="utf-8")
SECTIONS: Final = {section.partition("\n")[0]: section for section in REFERENCE.split("\n## ")[1:]}
PROMPTS: Final = {"BeforeAgent", "beforeSubmitPrompt", "pre_user_prompt"}
"""Events before something that only a prompt has; their hooks always succeed."""
CONFIGURED: Final = [agent for agent in AGENTS if agent.form in (Form.GROUPS, Form.ENTRIES)]
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


def run(
    command: list[str | Path], folder: Path, given: bytes = b"", home: Path | None = None
) -> bytes:
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": PATH, "HOME": str(home or folder)},
        input=given,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def block(page: str, *languages: str) -> str:
    """Return the only block of a page in one of these languages."""
    (found,) = [body for language in languages for body in code_blocks(page, language)]
    return found


def test_each_agent_has_a_section() -> None:
    assert list(SECTIONS) == [agent.name for agent in AGENTS]


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.slug)
def test_the_page_shows_what_its_command_writes(agent: CodingAgent, tmp_path: Path) -> None:
    shell = require("sh", "runs the documented shell commands")
    run([shell, "-euc", f"vibes init --agents {agent.slug}"], tmp_path)
    place = tmp_path / agent.project_file
    files = [place] if place.is_file() else list(place.iterdir())
    shown = block(SECTIONS[agent.name], "json", "javascript", "typescript", "sh")
    assert [file.read_text(encoding="utf-8") for file in files] == [shown] * len(files)


def test_the_overviews_commands_set_agents_up(tmp_path: Path) -> None:
    shell = require("sh", "runs the documented shell commands")
    (tmp_path / "home/.gemini").mkdir(parents=True)
    run([shell, "-euc", "git init -q"], tmp_path)
    for command in code_blocks(PAGE, "sh")[:-1]:
        run([shell, "-euc", command], tmp_path, home=tmp_path / "home")
    assert (tmp_path / ".gemini/settings.json").is_file()
    assert (tmp_path / ".git/hooks/pre-commit").is_file()
    assert "vibes record" in (tmp_path / "AGENTS.md").read_text(encoding="utf-8")


def test_no_event_can_stop_a_tool() -> None:
    for agent in AGENTS:
        before = {name for name in agent.events if name.lower().startswith(("pre", "before"))}
        assert before <= PROMPTS, agent.slug


@pytest.mark.parametrize("agent", CONFIGURED, ids=lambda agent: agent.slug)
def test_a_missing_program_does_no_harm(agent: CodingAgent, tmp_path: Path) -> None:
    shell = require("sh", "runs the documented shell commands")
    for command in set(commands(hook_configuration(agent).entries)):
        done = subprocess.run(
            [shell, "-c", command],
            cwd=tmp_path,
            env={"PATH": str(tmp_path)},
            input=b"{}",
            capture_output=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, b"")


def test_the_example_records_what_it_says(tmp_path: Path) -> None:
    shell = require("sh", "runs the documented shell commands")
    out = run([shell, "-euc", code_blocks(PAGE, "sh")[-1]], tmp_path).decode()
    shown = [line for line in out.splitlines() if "def double" in line or "return 2" in line]
    assert len(shown) == 2
    assert all(f" + {number} " in line for number, line in enumerate(shown, 1)), out
    assert json.loads((tmp_path / ".ai-audit/manifest.json").read_text())["entries"]


def test_the_files_of_cline_call_the_hook(tmp_path: Path) -> None:
    project = new_project(tmp_path / "project")
    shell = require("sh", "runs the documented shell commands")
    payload = {"clineVersion": "", "hookName": "agent_start", "workspaceRoots": [str(project.root)]}
    run(
        [shell, "-c", block(SECTIONS["Cline"], "sh")],
        project.root,
        json.dumps(payload).encode(),
    )
    assert len(list(project.recorder.directory.waiting_events.iterdir())) == 1


def test_the_plugin_for_opencode_sends_what_is_read(tmp_path: Path) -> None:
    project: Project = new_project(tmp_path / "project")
    project.file("b.py", "b = 1\n")
    plugin = block(SECTIONS["opencode"], "javascript")
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
    run([require_node(), "plugin.mjs"], project.root)
    wait_until_folded(project.recorder.directory)
    [line] = project.records("line")
    environment = project.entry(line["environment_hash"])
    assert (environment["tool_name"], environment["tool_version"]) == ("opencode", "1.18.33")
    assert environment["model_name"] == "some-model"
    assert project.entry(line["prompt_hash"])["prompt_text"] == "Write b."


def test_the_plugin_for_amp_sends_what_is_read(tmp_path: Path) -> None:
    project: Project = new_project(tmp_path / "project")
    project.file("b.py", "b = 1\n")
    plugin = block(SECTIONS["Amp"], "typescript").replace(
        "export default function", "function vibes"
    )
    calls = f"""
const handlers: any = {{}}
vibes({{
  on: (name: string, handler: any) => {{ handlers[name] = handler }},
  system: {{ workspaceRoot: "file://" + {json.dumps(str(project.root))} }},
  helpers: {{
    filePathFromURI: (uri: string) => uri.replace("file://", ""),
    shellCommandFromToolCall: () => undefined,
    filesModifiedByToolCall: () => undefined,
  }},
}})
const thread = {{ id: "T-1" }}
await handlers["session.start"]({{ thread }})
await handlers["agent.start"]({{ thread, id: 1, message: "Write b." }})
await handlers["tool.result"]({{
  thread, toolUseID: "c1", tool: "create_file", status: "done", output: "Created",
  input: {{ path: {json.dumps(str(project.root / "b.py"))}, content: "b = 1\\n" }},
}})
await handlers["agent.end"]({{ thread, id: 1, status: "done" }})
"""
    (project.root / "plugin.mts").write_text(plugin + calls, encoding="utf-8")
    run([require_node(), "--no-warnings", "plugin.mts"], project.root)
    wait_until_folded(project.recorder.directory)
    [line] = project.records("line")
    assert project.entry(line["environment_hash"])["tool_name"] == "Amp"
    assert project.entry(line["prompt_hash"])["prompt_text"] == "Write b."

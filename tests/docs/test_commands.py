"""Every command and every snippet that the documentation shows is run, or stands here with the reason why not."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

from tests import forked
from tests.demo.workspace import copied
from tests.docs.code_blocks import code_blocks
from tests.docs.test_quickstarts import QUICK_STARTS, quick_start
from tests.requirements import REPOSITORY
from vibes_lsp.cli.main import SECTIONS
from vibes_lsp.lsp.protocol.settings import Settings, read_settings

PAGES = sorted([REPOSITORY / "README.md", *(REPOSITORY / "docs").glob("*.md")])

RUN_ELSEWHERE = {
    "make demo": "tests/demo/test_demo.py",
    "make test": "it is what runs this test",
    "git fetch origin refs/notes/ai:refs/notes/ai": "it needs a remote",
    "vibes backfill --pre-commit": "tests/stories, as git's hook; it prints nothing",
    "vibes demo vibes-demo": "test_quickstarts.py",
    "vibes blame vibes-demo/src/auth.py": "test_quickstarts.py",
    "vibes show vibes-demo/src/auth.py:24": "test_quickstarts.py",
    "vibes init --agents detected --git-hooks": "test_quickstarts.py, in a home folder of its own",
    "vibes import transcripts --dry-run": "test_quickstarts.py, in a home folder of its own",
    "python3 -m venv ~/.vibes": "the Makefile installs the project before any test",
    "~/.vibes/bin/pip install .": "the Makefile installs the project before any test",
    'export PATH="$HOME/.vibes/bin:$PATH"': "the Makefile installs the project before any test",
    **dict.fromkeys(
        (
            "git init mine",
            "cd mine",
            "vibes init --prism --git-hooks",
            "printf 'def double(x):\\n    return 2 * x\\n' > double.py",
            "vibes record annotate double.py:1-2 --tool chat --model some-model --prompt 'Write a function that doubles.'",
            "vibes review",
            "git add .",
            "git commit --message 'Add double'",
            "vibes gate",
        ),
        "test_quickstarts.py, in this order, with a person at a terminal",
    ),
}
RUN_BY_PAGE = {
    **dict.fromkeys(("sh encrypt-age", "sh encrypt-git-crypt"), "tests/docs/test_attestation.py"),
    **dict.fromkeys(("sh badge", "sh disclose", "sh tag"), "tests/docs/test_proofs.py"),
    "sh": "tests/docs/test_attestation.py, test_proofs.py, test_recording.py, test_reviewing.py, test_import.py, test_agents.py, test_knowledge.py; tests/packaging",
    "python": "tests/docs/test_recording.py",
    "typescript": "tests/docs/test_recording.py",
    "lua": "tests/docs/test_recording.py",
    "javascript": "tests/docs/test_agents.py",
    "toml": "tests/cli/test_init_mcp.py, tests/docs/test_proofs.py",
}
NOT_RUN = {
    "": "a diagram or a listing, nothing to run",
}


def _blocks(language: str) -> list[tuple[str, str]]:
    return [
        (page.name, body)
        for page in PAGES
        for body in code_blocks(page.read_text(encoding="utf-8"), language)
    ]


def _commands() -> list[str]:
    lines = (line for _, body in _blocks("console") for line in body.splitlines())
    typed = dict.fromkeys(line.removeprefix("$ ") for line in lines if line.startswith("$ "))
    run = {command for page in QUICK_STARTS for command in quick_start(page)}
    return [command for command in typed if command not in run]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copied(tmp_path_factory.mktemp("documented")).root


@pytest.mark.parametrize("command", _commands())
def test_a_command_of_the_documentation_does_what_it_says(command: str, workspace: Path) -> None:
    if command in RUN_ELSEWHERE:
        return
    typed, _, given = command.partition(" < ")
    program, *arguments = shlex.split(typed)
    assert program in ("vibes", "vibes-lsp"), f"list {command!r} with the place where it is run"
    run = subprocess.run(
        [forked.program(program), *arguments],
        cwd=workspace,
        input=(workspace / given).read_bytes() if given else None,
        capture_output=True,
        check=False,
    )
    assert run.returncode in ((0, 1) if arguments[:1] == ["gate"] else (0,)), (
        run.stderr.decode()
    )  # the demonstration has what a gate stops
    assert run.stdout


def test_the_reference_has_each_command_in_its_group() -> None:
    page = (REPOSITORY / "docs/cli.md").read_text(encoding="utf-8")
    groups = re.findall(r"^\| (\w+) \| (\[`.*) \|$", page, re.MULTILINE)
    links = [(name, re.findall(r"\[`([\w-]+)`\]\(#([\w-]+)\)", row)) for name, row in groups]
    assert {name: [command for command, _ in row] for name, row in links} == {
        name: list(commands) for name, commands in SECTIONS.items()
    }
    headings = re.findall(r"^## (.*)$", page, re.MULTILINE)
    anchors = {re.sub(r"[^\w-]", "", each.lower().replace(" ", "-")) for each in headings}
    assert [anchor for _, row in links for _, anchor in row if anchor not in anchors] == []


def test_every_snippet_is_of_a_kind_that_is_tested_or_listed() -> None:
    fence = re.compile(r"^```(\w*)\n.*?^```$", re.MULTILINE | re.DOTALL)
    kinds = {kind for page in PAGES for kind in fence.findall(page.read_text(encoding="utf-8"))}
    assert kinds <= {"console", "json", *RUN_BY_PAGE, *NOT_RUN}


SETTINGS = [
    each
    for each in _blocks("json")
    if each[0] not in {"agents-reference.md", "mcp.md", "protocol.md"}
]
"""Those of the other pages are in `test_agents.py`, `test_mcp.py`, `tests/server/test_wire_shapes.py`."""


@pytest.mark.parametrize(("page", "snippet"), SETTINGS)
def test_documented_settings_are_the_defaults(page: str, snippet: str) -> None:
    assert page == "server.md"
    assert read_settings(json.loads(snippet)) == Settings()

"""`vibes init --instructions`: what the instructions say works when an agent follows them."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.run_vibes import vibes
from tests.docs.code_blocks import code_blocks, run_program, run_shell

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.agent_setup import Setup


@pytest.fixture
def written(setup: Setup) -> str:
    """The instructions as `vibes init` writes them."""
    assert setup.run("--instructions", "AGENTS.md").code == 0
    return (setup.project / "AGENTS.md").read_text(encoding="utf-8")


def block(text: str, language: str) -> str:
    (found,) = code_blocks(text, language)
    return found


def blamed(project: Path) -> list[str]:
    """Return what blame shows of `double.py`: the model, and the lines with their marks."""
    first, second = vibes("blame", "double.py", cwd=project).lines
    return [first.split()[1], first[first.index("+") :], second[second.index("+") :]]


def test_files_written_as_in_the_example_pass_all_checks(written: str, tmp_path: Path) -> None:
    project = tmp_path / "by-hand"
    (project / ".ai-audit").mkdir(parents=True)
    config, manifest = code_blocks(written, "json")
    files = {
        "double.py": block(written, "text"),
        ".ai-audit/config.json": config,
        ".ai-audit/manifest.json": manifest,
        ".ai-audit/annotations.jsonl": block(written, "jsonl"),
    }
    for name, text in files.items():
        (project / name).write_text(text, encoding="utf-8", newline="\n")
    checked = vibes("check", "--json", cwd=project)
    assert checked.code == 0
    assert {each["severity"] for each in checked.json["findings"]} <= {"note"}
    assert blamed(project) == ["some-model", "+ 1 def double(x):", "+ 2     return 2 * x"]
    found = vibes("find", "--prompt", "doubles a number", cwd=project)
    assert "double.py" in found.out


def test_the_function_computes_the_hashes_of_the_example(written: str, tmp_path: Path) -> None:
    manifest = json.loads(code_blocks(written, "json")[1])
    records = [json.loads(line) for line in block(written, "jsonl").splitlines()]
    script = block(written, "python") + (
        "entries, records = json.load(open('example.json', encoding='utf-8'))\n"
        "for key, entry in entries.items():\n"
        "    assert context_hash(entry, 'created_at') == key\n"
        "for record in records:\n"
        "    assert context_hash(record, 'annotation_id') == record['annotation_id']\n"
        "print('equal')\n"
    )
    example = json.dumps([manifest["entries"], records])
    (tmp_path / "example.json").write_text(example, encoding="utf-8")
    done = run_program([sys.executable, "-c", script], tmp_path)
    assert (done.stdout, done.stderr) == ("equal\n", "")


@pytest.mark.skipif(os.name == "nt", reason="the example is for sh")
def test_the_commands_of_the_example_record_the_edit(setup: Setup, written: str) -> None:
    (setup.project / "double.py").write_text(block(written, "text"), encoding="utf-8", newline="\n")
    start, *others = block(written, "sh").splitlines()
    session: dict[str, Any] = json.loads(run_shell(start, setup.project).stdout)
    for command in others:
        done = run_shell(command.replace("SESSION", session["sessionId"]), setup.project)
        assert (done.returncode, done.stderr) == (0, "")
    checked = vibes("check", "--json", cwd=setup.project)
    assert checked.code == 0
    assert {each["severity"] for each in checked.json["findings"]} <= {"note"}
    assert blamed(setup.project) == ["some-model", "+ 1 def double(x):", "+ 2     return 2 * x"]


def test_the_block_is_added_and_removed(setup: Setup) -> None:
    path = setup.project / "CLAUDE.md"
    path.write_text("# Rules\n\nBe brief.\n", encoding="utf-8")
    names = ("CLAUDE.md", ".cursor/rules/vibes.mdc", ".github/copilot-instructions.md")
    options = [each for name in names for each in ("--instructions", name)]
    done = setup.run(*options)
    assert done.code == 0
    assert "instructions written to CLAUDE.md" in done.out
    assert path.read_text(encoding="utf-8").startswith("# Rules\n\nBe brief.\n\n<!-- begin vibes")
    rule = (setup.project / ".cursor/rules/vibes.mdc").read_text(encoding="utf-8")
    assert "alwaysApply: true" in rule.split("---\n")[1]
    assert "instructions already in CLAUDE.md" in setup.run(*options).out
    removal = [each.replace("--inst", "--remove-inst") for each in options]
    assert setup.run(*removal).code == 0
    assert setup.files() == {"project/CLAUDE.md": b"# Rules\n\nBe brief.\n"}


@pytest.mark.parametrize("name", ["double.py", "../AGENTS.md", "/etc/AGENTS.md"])
def test_a_file_that_is_not_for_instructions_is_refused(setup: Setup, name: str) -> None:
    (setup.project / "double.py").write_text("x = 1\n", encoding="utf-8")
    before = setup.files()
    for option in ("--instructions", "--remove-instructions"):
        done = setup.run(option, name)
        assert done.code == 2
        assert "expected a" in done.err
        assert setup.files() == before


def test_a_modified_block_is_left_alone(setup: Setup, written: str) -> None:
    path = setup.project / "AGENTS.md"
    path.write_text(written.replace("### Levels", "### My levels"), encoding="utf-8")
    before = setup.files()
    for option in ("--instructions", "--remove-instructions"):
        done = setup.run(option, "AGENTS.md")
        assert done.code == 2
        assert "the block of vibes was modified" in done.err
        assert setup.files() == before

"""The scripts of the GitHub action and the pre-commit hook, run in real repositories."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from packaging.requirements import Requirement

from tests import forked
from tests.cli.gate_project import GateProject
from tests.cli.hook_repository import executable
from tests.cli.run_vibes import clean_environment
from tests.requirements import REPOSITORY, require
from tests.trails import Repository

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="bash and stubs that the system itself runs"),
]

ACTION: Final[dict[str, Any]] = yaml.safe_load(
    (REPOSITORY / "action.yml").read_text(encoding="utf-8")
)
STEPS: Final[dict[str, dict[str, Any]]] = {step["id"]: step for step in ACTION["runs"]["steps"]}
STUB: Final = """#!/bin/sh
echo "$*" >> "$TOLD"
if [ "$3" = venv ]; then mkdir -p "$4/bin" && cp "$0" "$4/bin/python"; fi
"""


@pytest.fixture
def project(tmp_path: Path) -> GateProject:
    return GateProject(tmp_path / "project")


class Ran:
    """The result of one step of the action, run by bash like on a runner."""

    def __init__(self, step: str, folder: Path, **given: str) -> None:
        self.outputs, self.summary = folder.parent / "outputs", folder.parent / "summary"
        for file in (self.outputs, self.summary):
            file.write_text("")
        known = {"GITHUB_OUTPUT": str(self.outputs), "GITHUB_STEP_SUMMARY": str(self.summary)}
        script = folder.parent / "step.sh"
        script.write_text(STEPS[step]["run"])
        command = [
            str(require("bash", "runs the action's scripts")),
            "--noprofile",
            "--norc",
            "-e",
            "-o",
            "pipefail",
            str(script),
        ]
        done = subprocess.run(
            command,
            cwd=folder,
            env=clean_environment({**known, **given}),
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr


def gate(project: GateProject, **given: str) -> Ran:
    defaults = {
        "VIBES": str(forked.program()),
        "BASE": "",
        "THRESHOLD": ACTION["inputs"]["threshold"]["default"],
        "SARIF": "",
        "LINKS": "https://example.org/o/r/blob/abc",
        "SUMMARY": str(project.root.parent / "summary.md"),
    }
    assert defaults.keys() == STEPS["gate"]["env"].keys()
    return Ran("gate", project.root, **{**defaults, **given})


def test_the_job_for_gitlab_installs_this_project_from_its_source() -> None:
    page = (REPOSITORY / "docs/ci.md").read_text(encoding="utf-8")
    job = yaml.safe_load(
        textwrap.dedent(page[page.index("    gate:\n      image:") :].split("\n\n")[0])
    )["gate"]
    command = shlex.split(
        job["script"][0].replace("$VIBES_SOURCE", job["variables"]["VIBES_SOURCE"])
    )
    required = Requirement(command[-1])
    assert (command[:-1], required.name) == (["pip", "install"], "vibes-lsp")
    assert (required.url or "").startswith("git+https://")
    assert job["script"][1] == 'git fetch origin "refs/heads/$CI_MERGE_REQUEST_TARGET_BRANCH_NAME"'
    assert job["script"][-1] == "vibes gate --base FETCH_HEAD"


def test_the_lines_for_gitlab_write_one_comment(project: GateProject, tmp_path: Path) -> None:
    """`curl` is a stub that keeps what it was called with and answers with the notes so far."""
    page = (REPOSITORY / "docs/ci.md").read_text(encoding="utf-8")
    lines = page[page.index('        - NOTES="') :].split("\n\n")[0].splitlines()
    curl, calls, notes = tmp_path / "bin/curl", tmp_path / "calls", tmp_path / "notes"
    curl.parent.mkdir()
    executable(
        curl, f'#!/bin/sh\necho "$*" >> {calls}\ncase "$*" in *per_page*) cat {notes};; esac\n'
    )
    script = "set -eu\n" + "\n".join(line.strip().removeprefix("- ") for line in lines)
    (project.root / "vibes-gate.md").write_text("### VIBES gate: FAIL\n")
    given = {
        "CI_API_V4_URL": "https://example.org/api/v4",
        "CI_PROJECT_ID": "7",
        "CI_MERGE_REQUEST_IID": "3",
        "VIBES_TOKEN": "secret",
        "PATH": f"{curl.parent}{os.pathsep}{os.environ['PATH']}",
    }
    there = "https://example.org/api/v4/projects/7/merge_requests/3/notes"
    sent = "-sSf -o /dev/null -X {} -H PRIVATE-TOKEN:secret --data-urlencode body@vibes-gate.md {}"
    for found, expected in (
        ([{"id": 4, "body": "Nice."}], sent.format("POST", there)),
        (
            [{"id": 4, "body": "Nice."}, {"id": 9, "body": "### VIBES gate: PASS\n"}],
            sent.format("PUT", f"{there}/9"),
        ),
    ):
        notes.write_text(json.dumps(found))
        subprocess.run(
            ["sh", "-c", script], cwd=project.root, env={**os.environ, **given}, check=True
        )
        assert calls.read_text().splitlines()[-1] == expected


def test_the_comment_of_the_action_is_updated(project: GateProject, tmp_path: Path) -> None:
    """`gh` is a stub that keeps its arguments and answers with the id of an earlier comment."""
    program, calls, answer = tmp_path / "bin/gh", tmp_path / "calls", tmp_path / "answer"
    program.parent.mkdir()
    executable(
        program, f'#!/bin/sh\necho "$*" >> {calls}\ncase "$*" in *--jq*) cat {answer};; esac\n'
    )
    summary = tmp_path / "summary.md"
    summary.write_text("### VIBES gate: FAIL\n")
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    given = {"GH_TOKEN": "secret", "REPOSITORY": "o/r", "NUMBER": "3", "SUMMARY": str(summary)}
    assert given.keys() == STEPS["comment"]["env"].keys()
    for earlier, expected in (
        ("", "--method POST repos/o/r/issues/3/comments"),
        ("12\n13\n", "--method PATCH repos/o/r/issues/comments/12"),
    ):
        answer.write_text(earlier)
        ran = Ran("comment", project.root, PATH=path, **given)
        assert (ran.code, ran.out, ran.err) == (0, "", "")
        body = f"--field body=@{summary}.comment"
        assert calls.read_text().splitlines()[-1] == f"api --silent {expected} {body}"
    posted = Path(f"{summary}.comment").read_text()
    assert posted == "<!-- vibes-gate -->\n### VIBES gate: FAIL\n"


def test_pages_name_a_base_by_its_whole_ref() -> None:
    """A short name may be a tag."""
    for page in ("README.md", "docs/prism.md", "docs/ci.md", "docs/cli.md"):
        named = re.findall(
            r"(?:gate|check) --base ([^\s`]+)", (REPOSITORY / page).read_text(encoding="utf-8")
        )
        assert {
            name
            for name in named
            if name not in {"REV", "HEAD", "HEAD~2", "FETCH_HEAD"} and not name.startswith("refs/")
        } == set(), page


def test_no_input_is_part_of_a_script() -> None:
    assert not [step for step in ACTION["runs"]["steps"] if "${{" in step.get("run", "")]
    assert {step.get("shell") for step in ACTION["runs"]["steps"] if "run" in step} == {"bash"}


def test_the_gate_of_the_action(project: GateProject) -> None:
    identifier = project.write(
        prompt=project.prompt("Hello @ada, see <b>https://example.org</b> `code`")
    )
    project.commit()
    ran = gate(project, BASE=project.base, SARIF="gate.sarif")
    assert (ran.code, ran.outputs.read_text(), ran.err) == (1, "result=fail\n", "")
    assert "Gate: FAIL" in ran.out
    assert "::error file=a.py,line=4,endLine=7,title=VIBES gate-block::block: lines by " in ran.out
    summary = ran.summary.read_text()
    assert "| **block** | [`a.py:4-7`](https://example.org/o/r/blob/abc/a.py#L4-L7) |" in summary
    assert (
        json.loads((project.root / "gate.sarif").read_text())["runs"][0]["results"][0]["ruleId"]
        == "gate-block"
    )
    project.review(identifier, reviewer="Bo")
    project.commit("Review", by=("Bo", "bo@example.org"))
    ran = gate(project, BASE=project.base)
    assert (ran.code, ran.outputs.read_text()) == (0, "result=pass\n")
    assert ran.summary.read_text().startswith("### VIBES gate: PASS\n")


def test_without_a_base_the_work_tree_is_judged(project: GateProject) -> None:
    project.write(risky=False)
    assert gate(project).code == 0
    assert gate(project, THRESHOLD="medium").code == 1


def test_a_gate_that_cannot_be_run_is_an_error(project: GateProject) -> None:
    project.policy(enabled=False)
    ran = gate(project)
    assert (ran.code, ran.outputs.read_text(), ran.summary.read_text()) == (2, "result=error\n", "")
    assert "PRISM is off" in ran.err


@pytest.mark.parametrize("name", ["BASE", "THRESHOLD", "SARIF"])
@pytest.mark.parametrize(
    "text",
    ["$(touch pwned)", "`touch pwned`", '"; touch pwned; echo "', "--sarif", "x y;touch pwned"],
)
def test_inputs_are_never_run(project: GateProject, name: str, text: str) -> None:
    project.write(risky=False)
    project.commit()
    ran = gate(project, **{name: text})
    assert not (project.root / "pwned").exists()
    assert ran.code == (0 if name == "SARIF" else 2)


def test_the_action_installs_this_project_into_an_environment_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    told, python, target = tmp_path / "told", tmp_path / "python", tmp_path / "target of it"
    executable(python, STUB)
    assert STEPS["install"]["env"].keys() == {"PYTHON", "SOURCE", "TARGET"}
    ran = Ran(
        "install",
        tmp_path / "work",
        PYTHON=str(python),
        SOURCE=str(REPOSITORY),
        TARGET=str(target),
        TOLD=str(told),
    )
    assert (ran.code, ran.err) == (0, "")
    installing = f"-I -m pip install --quiet --disable-pip-version-check --constraint {REPOSITORY}/constraints.txt {REPOSITORY}"
    assert told.read_text().splitlines() == [f"-I -m venv {target}", installing]
    assert ran.outputs.read_text() == f"vibes={target}/bin/vibes\n"


def test_no_module_of_the_checkout_is_imported(tmp_path: Path) -> None:
    """A branch may add files with the names of modules that the action runs."""
    checkout = tmp_path / "work"
    for name in ("venv", "pip"):
        (checkout / name).mkdir(parents=True)
        for module in ("__init__", "__main__"):
            (checkout / name / f"{module}.py").write_text(
                f"open({str(tmp_path / 'pwned')!r}, 'w').close()\nraise SystemExit(9)\n"
            )
    Ran(
        "install",
        checkout,
        PYTHON=sys.executable,
        SOURCE=str(tmp_path / "nowhere"),
        TARGET=str(tmp_path / "target"),
    )
    assert (tmp_path / "target").exists()
    assert not (tmp_path / "pwned").exists()


def test_the_hook_stops_a_commit_and_lets_it_pass_once_it_is_approved(
    project: GateProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    framework = require(
        Path(sys.prefix) / "bin" / "pre-commit",
        "runs our hook as a project with that framework would",
    )
    monkeypatch.setenv("PATH", f"{forked.program().parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PRE_COMMIT_HOME", str(tmp_path / "framework"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    published = Repository(tmp_path / "published")
    shutil.copy(REPOSITORY / ".pre-commit-hooks.yaml", published.path)
    hook = {
        "id": "vibes-gate",
        "language": "system",
    }  # as in the tests of the other hook: no package index is asked
    repos = [{"repo": str(published.path), "rev": published.commit("Publish"), "hooks": [hook]}]
    project.repository.write(".pre-commit-config.yaml", json.dumps({"repos": repos}))
    project.write("other.py")
    project.commit("What was there before")
    subprocess.run([framework, "install"], cwd=project.root, check=True, capture_output=True)
    identifier = project.write()
    project.file("b c.py", "x = 1\n")
    with pytest.raises(RuntimeError, match=r"a\.py:4-7(?s:.)*1 annotation: 1 blocked"):
        project.commit()
    project.review(identifier)
    project.commit()
    assert project.repository.git("status", "--porcelain") == ""

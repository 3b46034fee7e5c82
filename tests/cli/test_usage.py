"""Rules for every command: help, exit codes, one-line errors, the nearest trail, pipes, colour."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.cli.review_project import ReviewProject
from tests.cli.run_vibes import SCRIPT, clean_environment, simulate_terminal, vibes
from vibes_lsp import __version__
from vibes_lsp.cli.main import COMMANDS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.run_vibes import RunVibes
    from tests.trails import CompleteTrail
    from tests.unit.checks.projects import Project


BY = ("stats --by model", "stats --by session", "stats --by file")
READING = ("check", "find", "log", "stats", *BY, "doctor")
"""Commands that need no argument and only read."""


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_that_fits_the_terminal(
    tmp_path: Path, run_vibes: RunVibes, command: str
) -> None:
    for flag in ("--help", "-h"):
        done = run_vibes(command, flag, cwd=tmp_path)
        assert (done.code, done.err) == (0, "")
        assert done.lines[0].startswith(f"Usage: vibes {command} ")
        assert max(map(len, done.lines)) <= 80


def test_the_help_of_all_lists_every_command(tmp_path: Path) -> None:
    done = vibes("--help", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert [
        line.split()[0]
        for line in done.lines
        if line.startswith("  ") and line.split()[0] in COMMANDS
    ] == [name for name in COMMANDS if name not in ("completion", "hook")]
    assert max(map(len, done.lines)) <= 80


def test_the_version(tmp_path: Path) -> None:
    assert vibes("--version", cwd=tmp_path).out == f"vibes, version {__version__}\n"


def test_without_a_command_it_prints_help_as_an_error(tmp_path: Path, run_vibes: RunVibes) -> None:
    done = run_vibes(cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: vibes ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nonsense"], "no such command 'nonsense'; see `vibes --help`"),
        (["blam"], "no such command 'blam'. Did you mean 'blame'?"),
        (
            ["kb", "expor"],
            "no such command 'expor'. (Did you mean one of: 'expire', 'export'?)",
        ),
        (
            ["completion"],
            (
                "missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish;"
                " see `vibes completion --help`"
            ),
        ),
        *(
            (
                [command, f"--{one}", "--json"],
                f"--{one} and --json cannot be combined; use one of them",
            )
            for one, commands in (
                ("sarif", ("check", "gate")),
                ("shields", ("badge",)),
            )
            for command in commands
        ),
        (["check", "--nonsense"], "no such option '--nonsense'; see `vibes check --help`"),
        (["show"], "missing argument 'FILE:LINE|ID'; see `vibes show --help`"),
        (["log", "--limit", "0"], "invalid value for '--limit': 0 is not in the range x>=1"),
        (
            ["log", "--limit", "many"],
            "invalid value for '--limit': 'many' is not a valid integer range",
        ),
        (
            ["log", "--type", "x"],
            "invalid value for '--type': 'x' is not one of 'line', 'function', 'session', 'edge', 'delegation', 'all'",
        ),
        (["check", "--base"], "option '--base' requires an argument"),
        (
            ["stats", "surplus"],
            "got unexpected extra argument (surplus); see `vibes stats --help`",
        ),
        (
            ["init", "--assurance-level", "total"],
            "invalid value for '--assurance-level': 'total' is not one of 'low', 'medium', 'high'",
        ),
        (["stats", "--open"], "--open needs --by session"),
        (["stats", "--by", "model", "--all"], "--all needs --by file"),
        (["stats", "--by", "file", "--survival"], "--survival cannot be combined with --by"),
        (["query"], "give one SELECT or --build; see `vibes query --help`"),
        (
            ["query", "SELECT 1", "--build"],
            "give one SELECT or --build, not both; see `vibes query --help`",
        ),
        (["attest", "HEAD"], "a revision is for --tag; see `vibes attest --help`"),
        (["init", "missing"], "invalid value for '[FOLDER]': Directory 'missing' does not exist"),
        (["init", "--extensions", "py"], "invalid extension 'py': expected a list such as .py,.ts"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(
    tmp_path: Path, run_vibes: RunVibes, arguments: list[str], message: str
) -> None:
    done = run_vibes(*arguments, cwd=tmp_path)
    assert (done.code, done.out, done.err) == (2, "", f"vibes: {message}\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("command", [*READING[:-1], "show abcd"])
def test_without_a_trail_it_says_where_it_looked(
    tmp_path: Path, run_vibes: RunVibes, command: str
) -> None:
    done = run_vibes(*command.split(), cwd=tmp_path)
    hint = "run `vibes init` in the project, or name one with --audit-dir"
    assert (done.code, done.out, done.err) == (
        2,
        "",
        f"vibes: no .ai-audit/ in {tmp_path} or above it; {hint}\n",
    )


@pytest.mark.parametrize("command", READING)
def test_the_nearest_trail_above_is_used(
    valid_trail: CompleteTrail, run_vibes: RunVibes, command: str
) -> None:
    here, below = (
        run_vibes(*command.split(), cwd=folder)
        for folder in (valid_trail.root, valid_trail.root / "src")
    )
    assert here.code == below.code == 0
    assert here.out == below.out


def test_a_nearer_trail_hides_the_one_above(project: Project, run_vibes: RunVibes) -> None:
    run_vibes("init", "src", cwd=project.root)
    assert run_vibes("stats", "--json", cwd=project.root / "src").json["records"] == 0
    assert run_vibes("stats", "--json", cwd=project.root).json["records"] == 25


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize("named", [".ai-audit", "."])
def test_a_trail_can_be_named_from_anywhere(
    valid_trail: CompleteTrail, run_vibes: RunVibes, tmp_path: Path, command: str, named: str
) -> None:
    done = run_vibes(*command.split(), "--audit-dir", valid_trail.root / named, cwd=tmp_path)
    assert done.code == 0
    assert done.out == run_vibes(*command.split(), cwd=valid_trail.root).out


def test_a_trail_may_have_any_name(project: Project, run_vibes: RunVibes) -> None:
    project.audit.rename(project.root / "kept")
    assert (
        run_vibes("stats", "--audit-dir", "kept", "--json", cwd=project.root).json["records"] == 25
    )


@pytest.mark.parametrize("name", ["gone", "file"])
def test_a_named_trail_that_is_not_a_folder_is_wrong_use(
    tmp_path: Path, run_vibes: RunVibes, name: str
) -> None:
    (tmp_path / "file").touch()
    done = run_vibes("log", "--audit-dir", name, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"vibes: {name} is not a folder; give the path of an .ai-audit/ folder\n"


@pytest.mark.parametrize("command", READING)
def test_reading_changes_nothing(project: Project, run_vibes: RunVibes, command: str) -> None:
    before = project.contents()
    for flags in ([], ["--json"]):
        run_vibes(*command.split(), *flags, cwd=project.root)
    assert project.contents() == before


@pytest.mark.parametrize(
    "arguments",
    [
        *([name] for name in (*READING, "diff HEAD", "review", "badge")),
        *(["show ID"], ["show src/auth.py:1"], ["show ID --graph"], ["blame src/auth.py --notes"]),
        *(["log --type all"], ["stats --survival"], ["backfill --dry-run"], ["merge"]),
    ],
    ids=" ".join,
)
def test_json_has_names_as_on_disk_or_camel_case(
    valid_trail: CompleteTrail, run_vibes: RunVibes, arguments: list[str]
) -> None:
    call = arguments[0].replace("ID", valid_trail.created).split()
    done = run_vibes(*call, "--json", cwd=valid_trail.root)
    assert (done.code, done.err) == (0, "")
    audit = valid_trail.root / ".ai-audit"
    on_disk = [json.loads(line) for line in (audit / "annotations.jsonl").read_bytes().splitlines()]
    manifest = json.loads((audit / "manifest.json").read_bytes())
    named = names(on_disk) | names(manifest)
    assert {name for name in names(done.json) - named if "_" in name} == set()


def names(value: object) -> set[str]:
    """Return the names of all members in a JSON value."""
    if isinstance(value, dict):
        return set(value).union(*map(names, value.values()))
    return set().union(*map(names, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize(
    "arguments", [[*name.split(), *flags] for name in READING for flags in ((), ("--json",))]
)
def test_tables_and_text_fit_into_80_columns(
    valid_trail: CompleteTrail,
    run_vibes: RunVibes,
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    simulate_terminal(monkeypatch)
    done = run_vibes(*arguments, cwd=valid_trail.root)
    if arguments[0] in ("log", "stats") and arguments[-1] not in ("file", "--json"):
        assert max(map(len, done.lines)) <= 80
    assert "\x1b" not in done.out + done.err


def test_tables_of_long_names_fit_into_80_columns(
    project: Project, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulate_terminal(monkeypatch)
    environment = project.writer.environment(
        tool="tool " * 30, model="model-" * 30, model_version="x" * 300
    )
    session = project.writer.session_start(environment=environment, description="why " * 100)
    project.line("src/" + "deep/" * 40 + "a.py", environment=environment, session_id=session)
    project.line("src/größe/" + "漢字" * 40, environment=environment, action="x" * 200)
    for command in ("log", "stats", "stats --by model", "stats --by session"):
        done = run_vibes(*command.split(), cwd=project.root)
        assert done.code == 0
        fitted = [line for line in done.lines if command != "log" or ":1-" not in line]
        assert max(map(cells, fitted)) <= 80, command
    paths = [line for line in run_vibes("log", cwd=project.root).lines if "deep/" in line]
    assert all("deep/" * 40 + "a.py:1-2" in line for line in paths), "a path is not cut"


def cells(line: str) -> int:
    """Return the width on a terminal, two columns for each Han character."""
    return sum(2 if "一" <= character <= "鿿" else 1 for character in line)


def test_the_output_is_as_wide_as_the_terminal_says(project: Project) -> None:
    project.line("src/" + "deep/" * 20 + "a.py")
    done = vibes("log", cwd=project.root, COLUMNS="200", FORCE_COLOR="1", NO_COLOR="1")
    assert 120 < max(map(len, done.lines)) <= 200


LONG_PATH = "src/" + "a folder with a long name/" * 20 + "größe.py"
TABLES = [
    *(
        ["log"],
        ["log", "--type", "all"],
        ["find", "--no-git"],
        ["stats", "--by", "file"],
        ["review", "--list"],
        ["stats", "--by", "session"],
        ["stats", "--by", "model"],
        ["stats"],
    ),
    [
        "query",
        "SELECT file_path, file_path AS again, environment_hash, action FROM line_annotations",
    ],
]


@pytest.mark.parametrize("arguments", TABLES, ids=" ".join)
@pytest.mark.parametrize("columns", ["10", "40", "200"])
def test_a_table_in_a_pipe_is_never_wrapped(
    project: Project, arguments: list[str], columns: str
) -> None:
    environment = project.writer.environment(model="a model with a long name " * 3)
    session = project.writer.session_start(environment=environment, description="why " * 10)
    (project.root / LONG_PATH).parent.mkdir(parents=True)
    (project.root / LONG_PATH).write_text("one\ntwo\n")
    project.line(LONG_PATH, environment=environment, session_id=session)
    wide, narrow = (
        vibes(*arguments, cwd=project.root, COLUMNS=each) for each in ("10000", columns)
    )
    assert narrow.code == 0
    assert narrow.out == wide.out
    if arguments[0] in ("log", "find", "query"):
        assert LONG_PATH in narrow.out
    assert not any(line.endswith(" ") for line in narrow.lines)


def test_no_escape_codes_reach_a_pipe(project: Project) -> None:
    project.writer.raw_log(b"oops\n")
    for command in ("check", "doctor", "show " + project.trail.created):
        done = vibes(*command.split(), cwd=project.root)
        assert "\x1b" not in done.out + done.err


@pytest.mark.parametrize("command", ["check", "doctor", "log"])
def test_no_color_means_no_escape_codes_at_all(project: Project, command: str) -> None:
    project.writer.raw_log(b"oops\n")
    assert "\x1b" in vibes(command, cwd=project.root, FORCE_COLOR="1").out
    assert "\x1b" not in vibes(command, cwd=project.root, FORCE_COLOR="1", NO_COLOR="1").out


@pytest.mark.skipif(os.name == "nt", reason="Windows closes pipes in its own way")
@pytest.mark.parametrize(
    "arguments",
    [
        ["log"],
        ["log", "--json"],
        ["stats"],
        ["check"],
        ["blame", "src/auth.py"],
        ["find"],
        ["stats", "--by", "file"],
        ["doctor"],
        ["show", "--help"],
    ],
)
def test_a_closed_pipe_is_not_an_error(valid_trail: CompleteTrail, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(
            [SCRIPT, *arguments],
            cwd=valid_trail.root,
            env=clean_environment({}),
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(os.name == "nt", reason="needs head")
def test_the_first_line_of_a_long_log(project: Project) -> None:
    project.writer.raw_log(
        project.writer.files.log.read_bytes().splitlines(keepends=True)[1] * 3000
    )
    script = f'"{SCRIPT}" log --limit 5000 | head -1'
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=project.root,
        env=clean_environment({}),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout.split(), done.stderr) == (
        0,
        [b"id", b"age", b"action", b"what", b"model"],
        b"",
    )


@pytest.mark.skipif(os.name == "nt", reason="a folder in use cannot be removed there")
def test_a_working_folder_that_is_gone_is_one_line(tmp_path: Path) -> None:
    script = f'mkdir gone && cd gone && rmdir ../gone && exec "{SCRIPT}" log'
    done = subprocess.run(
        ["sh", "-c", script],
        cwd=tmp_path,
        env=clean_environment({}),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"vibes: ")
    assert done.stderr.count(b"\n") == 1


def test_a_trail_of_another_tool_that_annotates_git_and_itself_is_read(
    project: Project, run_vibes: RunVibes
) -> None:
    for path in (".git/config", ".ai-audit/config.json"):
        project.line(path)
    for command in (
        ["blame", ".ai-audit/config.json"],
        ["log"],
        ["stats", "--by", "file"],
        ["find"],
        ["review", "--list"],
        ["stats"],
        ["check"],
    ):
        done = run_vibes(*command, cwd=project.root)
        assert done.code in (0, 1)
        assert "Traceback" not in done.err


@pytest.mark.parametrize("command", ["find", "log", "review --list", "review --json"])
def test_a_file_that_is_not_there_is_wrong_use(tmp_path: Path, command: str) -> None:
    project = ReviewProject(tmp_path / "story")
    done = vibes(*command.split(), "--file", "c.py", cwd=project.root)
    message = "c.py does not exist, and no annotation is about it"
    assert (done.code, done.out) == (2, "")
    assert done.err == f"vibes: {message}; name a file or folder of the project\n"


def test_an_answer_without_annotations_says_that_the_files_are_elsewhere(
    tmp_path: Path, run_vibes: RunVibes
) -> None:
    project = ReviewProject(tmp_path / "story")
    shutil.rmtree(project.root / "b")
    (project.root / "a.py").unlink()
    for command, nothing in (
        ("find", "no annotations found"),
        ("review --list", "nothing to review"),
    ):
        done = run_vibes(*command.split(), cwd=project.root)
        why = "the 2 annotated files are not in this checkout, `vibes log` lists the records"
        assert (done.code, done.out) == (0, f"{nothing}; {why}\n")
    assert "a.py:4-7" in run_vibes("log", "--file", "a.py", cwd=project.root).out


def test_a_command_without_its_packages_has_help_and_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['securesystemslib'] = None\n"
        "from vibes_lsp.cli.main import main; main()"
    )

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    for command in ("attest", "verify", "keys"):
        shown = run(command, "--help")
        assert (shown.returncode, shown.stderr) == (0, "")
        assert COMMANDS[command] in shown.stdout
    done = run("keys", "generate")
    assert (done.returncode, done.stdout) == (2, "")
    install = f"{sys.executable} -m pip install '.[attest]'"
    assert done.stderr == (
        "vibes: this command needs the package securesystemslib;"
        f" in a checkout of vibes-lsp, run `{install}`\n"
    )

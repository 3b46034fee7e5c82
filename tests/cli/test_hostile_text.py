"""Untrusted text stays on its line and never acts on the terminal."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.cli.run_vibes import simulate_terminal, vibes
from vibes_lsp.model.paths import MAX_PATH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.cli.run_vibes import RunVibes
    from tests.unit.checks.projects import Project

HARMLESS: Final = "harmless"
HOSTILE: Final = {
    "escape codes": "\x1b[31mred\x1b]0;title\x07\x9b2J",
    "bidi": "\u202eevil\u2066x\u2069\u200f\u061c",
    "lines": "one\ntwo\r\nthree\u2028four\u2029five\x0bsix\x0cseven\x85eight",
    "fillers": "a\u3164b\u115fc\u034fd\uffa0e",
    "selectors": "a\u180bb\ufe00c\U000e0100d",
    "formats": "a\U0001d173b\U0001bca0c",
    "invisible": "a\u200bb\u2060c\ufeffd\u00ade\U000e0041\U000e007f",
    "surrogates": "lone \ud83d end \udc00",
    "controls": "\x00\x08\x7f\x1a",
    "markup": "[bold red]x[/] [link=https://example.org]y[/link] :warning: [/",
    "pipeline": "##vso[task.setvariable variable=x]y ###[error]z ::error file=a::v\n::Add-Mask::w",
}
ACTING: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u180b\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00\ufeff\uffa0\ud800-\udfff"
    "\U0001bca0\U0001d173\U000e0000-\U000e0100]"
    r"|##[a-zA-Z]*\[|(?<!\w)::(?i:error|add-mask)"
)
"""What a terminal acts on, hides itself or others, or is a command to the host of a pipeline.

A newline is ours.
"""
FINDING: Final = re.compile(
    r"\.ai-audit/[a-z.]+(:\d+)?: (error|warning|note)\[[a-z-]+\] |(ok|note|problem) +[a-z. ]+: | {10}\S"
)
"""Beginnings of lines whose number depends on what is wrong: those of the report and of the diagnosis."""
BY_MODEL, BY_SESSION, BY_FILE = (f"stats --by {name}" for name in ("model", "session", "file"))
TABLES: Final = ("log --limit 99", "log --type all", BY_SESSION, BY_MODEL, "stats", "find")
LONGEST: Final = 2 * MAX_PATH + 200
"""Characters that no line has: two paths, each as long as a path can be, and what stands beside them."""
COMMANDS: Final = (
    *TABLES,
    "check --all",
    "doctor",
    "blame src/auth.py",
    BY_FILE,
    "show 00000",
    "show session-",
    "show 1111",
    "show 2222",
    "show 3333",
)


class HostileTrailWriter:
    """Puts a text into every member that a tool can write, under short ids."""

    def __init__(self, project: Project, text: str) -> None:
        self.writer = project.writer
        self.text = text

    def everywhere(self) -> None:
        text = self.text
        level = {"standard": "VIBES", "standard_version": "1.0", "assurance_level": "high"}
        config = {
            **level,
            "project_name": f"name {text}",
            "exclude_patterns": [text],
            f"x {text}": text,
        }
        self.writer.files.config.write_text(json.dumps(config), encoding="utf-8")
        named = {
            "tool_name": f"tool {text}",
            "tool_version": text,
            "model_name": f"model {text}",
            "model_version": text,
        }
        environment = self.entry("1", {"type": "environment", **named})
        prompt = self.entry(
            "2",
            {
                "type": "prompt",
                "prompt_text": f"do {text}",
                "prompt_type": text,
                f"name {text}": text,
            },
        )
        command = self.entry(
            "3", {"type": f"type {text}", "command_text": text, "list": [text, {text: text}]}
        )
        session = {
            "session_id": f"session-{text}",
            "environment_hash": environment,
            "assurance_level": text,
            "timestamp": text,
        }
        said = {
            "description": f"what {text}",
            "agent_name": text,
            "agent_type": text,
            "parent_session_id": text,
        }
        self.record("session", event="start", **session, **said)
        place = {
            "file_path": f"path {text}",
            "line_start": text,
            "line_end": 1,
            "action": text,
            f"name {text}": text,
        }
        self.record(
            "line",
            **session,
            **place,
            prompt_hash=prompt,
            command_hash=command,
            annotation_id="0" * 64,
        )
        for start, digit in ((9, 4), (1, 5)):  # a line without an owner, and one with
            place = {
                "file_path": "src/auth.py",
                "line_start": start,
                "line_end": start,
                "action": text,
            }
            self.record(
                "line", **session, **place, prompt_hash=prompt, annotation_id=f"{digit}{text}"
            )
        self.record(
            "function", **session, file_path=text, function_name=f"def {text}", action="modify"
        )
        ends = {
            "source_ref": "0" * 64,
            "source_type": "annotation",
            "target_ref": text,
            "target_type": text,
        }
        self.record("edge", edge_type=text, **ends, timestamp=text)
        self.record(
            "delegation",
            parent_session_id=text,
            child_session_id=f"child {text}",
            task_description=text,
            timestamp=text,
        )
        self.record(f"kind {text}", annotation_id=f"identifier-{text}")

    def entry(self, digit: str, members: dict[str, Any]) -> str:
        """Add an escaped entry under a key of one digit; the writer cannot."""
        manifest = self.writer.files.manifest
        whole = json.dumps({**members, "created_at": self.writer.now()}).encode()
        manifest.write_bytes(
            manifest.read_bytes().removesuffix(b"}}\n")
            + b',"%s":%s\n}}\n' % (digit.encode() * 64, whole)
        )
        return digit * 64

    def record(self, kind: str, **members: Any) -> None:
        """Append an escaped record; the writer cannot."""
        self.writer.raw_log(
            json.dumps({"type": kind, "annotation_id": "f" * 64, **members}).encode() + b"\n"
        )


def printed(project: Project, run_vibes: RunVibes, text: str) -> Iterator[tuple[str, str]]:
    """Write a hostile text everywhere; yield what each command prints."""
    HostileTrailWriter(project, text).everywhere()
    for command in COMMANDS:
        done = run_vibes(*command.split(), cwd=project.root)
        assert done.code in (0, 1), (command, done.err)
        yield command, done.out + done.err


def shape(command: str, output: str) -> int:
    """Return the number of lines, of rows in a table, of fixed lines in a report."""
    lines = output.removesuffix("\n").split("\n")
    if command in TABLES:
        return sum(not line.startswith(" ") or line[:4].strip().isdigit() for line in lines)
    return sum(not FINDING.match(line) for line in lines)


@pytest.fixture
def harmless(project: Project, run_vibes: RunVibes) -> dict[str, int]:
    """The number of lines that each command prints for a harmless text."""
    manifest, log = (
        project.writer.files.manifest.read_bytes(),
        project.writer.files.log.read_bytes(),
    )
    shapes = {
        command: shape(command, output) for command, output in printed(project, run_vibes, HARMLESS)
    }
    project.writer.raw_manifest(manifest)
    project.writer.files.log.write_bytes(log)
    return shapes


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_text_is_inert_and_on_its_line(
    project: Project, run_vibes: RunVibes, harmless: dict[str, int], kind: str
) -> None:
    for command, output in printed(project, run_vibes, HOSTILE[kind]):
        assert not ACTING.search(output), command
        assert shape(command, output) == harmless[command], command


def test_markup_is_printed_as_it_is(project: Project, run_vibes: RunVibes) -> None:
    outputs = dict(printed(project, run_vibes, HOSTILE["markup"]))
    for command in ("log --limit 99", BY_SESSION, "check --all", "show 2222"):
        assert "[bold red]x[/]" in re.sub(r"\s+", " ", outputs[command]), command


@pytest.mark.parametrize("kind", HOSTILE)
def test_json_preserves_hostile_text(project: Project, run_vibes: RunVibes, kind: str) -> None:
    text = HOSTILE[kind]
    HostileTrailWriter(project, text).everywhere()
    records = run_vibes("log", "--type", "all", "--json", cwd=project.root).json["records"]
    assert [each["record"] for each in records] == [
        json.loads(line) for line in project.writer.files.log.read_bytes().split(b"\n")[:-1]
    ]
    assert (
        run_vibes("show", "2222", "--json", cwd=project.root).json["entry"]["prompt_text"]
        == f"do {text}"
    )
    assert run_vibes("check", "--json", cwd=project.root).json["project"] == f"name {text}"
    assert (
        run_vibes("stats", "--by", "session", "--json", cwd=project.root).json["sessions"][-1][
            "session_id"
        ]
        == f"session-{text}"
    )
    for command in (BY_MODEL, "stats", "doctor"):
        assert run_vibes(*command.split(), "--json", cwd=project.root).json


@pytest.mark.parametrize("kind", HOSTILE)
def test_json_has_no_invisible_characters(project: Project, run_vibes: RunVibes, kind: str) -> None:
    text = HOSTILE[kind]
    HostileTrailWriter(project, text).everywhere()
    for command in (
        "log --type all",
        "show 2222",
        "check",
        BY_SESSION,
        BY_MODEL,
        "stats",
        "doctor",
        "find",
        BY_FILE,
        "blame src/auth.py",
    ):
        assert not ACTING.search(run_vibes(*command.split(), "--json", cwd=project.root).out), (
            command
        )
    assert not ACTING.search(run_vibes("check", "--sarif", cwd=project.root).out)
    told = run_vibes("query", "SELECT prompt_text FROM prompts", "--json", cwd=project.root)
    assert (told.code, bool(ACTING.search(told.out))) == (0, False)


def test_names_with_colons_are_printed_as_they_are(project: Project, run_vibes: RunVibes) -> None:
    HostileTrailWriter(project, "Foo::error() std::vector ::std::map # [x] ## [y]").everywhere()
    assert (
        "do Foo::error() std::vector ::std::map # [x] ## [y]"
        in run_vibes("show", "2222", cwd=project.root).out
    )


def test_surrogates_come_out_of_a_process_of_its_own_as_utf_8(project: Project) -> None:
    text = HOSTILE["surrogates"]
    HostileTrailWriter(project, text).everywhere()
    shown = vibes("show", "2222", "--json", cwd=project.root)
    assert shown.json["entry"]["prompt_text"] == f"do {text}"
    assert (
        r"do lone \ud83d end \udc00"
        in vibes("show", "2222", cwd=project.root, PYTHONIOENCODING="ascii").out
    )
    assert (
        vibes("check", cwd=project.root, LC_ALL="C", PYTHONUTF8="0").lines[1]
        == r"Project: name lone \ud83d end \udc00"
    )


def test_a_megabyte_of_text_is_cut(
    project: Project, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "x" * 1_000_000
    HostileTrailWriter(project, HARMLESS).everywhere()
    project.writer.config(project_name=text)
    environment = project.writer.environment(tool=text, model=text)
    session = project.writer.session_start(environment=environment, description=text)
    prompt = project.writer.prompt(text)
    one = project.line(
        text, environment=environment, prompt=prompt, session_id=session, tool_note=text
    )
    odd = project.writer.entry({"type": text, text: text, "short": 1})
    for command in (*COMMANDS[:-3], f"show {one}", f"show {prompt}", f"show {odd}"):
        piped = run_vibes(*command.split(), cwd=project.root)
        assert piped.code in (0, 1)
        assert max(map(len, piped.lines)) < LONGEST, command
        with monkeypatch.context() as terminal:
            simulate_terminal(terminal)
            done = run_vibes(*command.split(), cwd=project.root)
        assert done.code in (0, 1)
        assert len(done.out) < 20_000, command
        if not command.startswith("log"):  # whose paths are whole in a pipe
            assert len(piped.out) < 20_000, command


def test_a_megabyte_of_text_is_whole_in_json(project: Project, run_vibes: RunVibes) -> None:
    prompt = project.writer.prompt("x" * 1_000_000)
    assert (
        len(run_vibes("show", prompt, "--json", cwd=project.root).json["entry"]["prompt_text"])
        == 1_000_000
    )


@pytest.mark.parametrize(
    "kind", [kind for kind in HOSTILE if kind not in ("surrogates", "controls")]
)
def test_hostile_arguments_are_printed_inert(
    project: Project, run_vibes: RunVibes, kind: str
) -> None:
    for arguments in (
        ["show", HOSTILE[kind]],
        ["check", "--base", HOSTILE[kind]],
        ["log", "--audit-dir", HOSTILE[kind]],
        [HOSTILE[kind]],
    ):
        done = run_vibes(*arguments, cwd=project.root)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert not ACTING.search(done.err)
    assert not ACTING.search(run_vibes("doctor", HOSTILE[kind], cwd=project.root).out)


def test_an_impossible_path_is_not_looked_up(
    project: Project, run_vibes: RunVibes, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = 5_000
    project.line("x/" * folders + "a.py")
    project.line("../" * folders + "a.py")
    project.line("/" + "x/" * folders + "a.py")
    project.line("x/" * folders + "../" * folders + "src/auth.py")
    asked: list[int] = []

    def noting(function: Callable[..., Any]) -> Callable[..., Any]:
        def noted(path: str | os.PathLike[str], **named: Any) -> Any:
            asked.append(len(os.fspath(path)))
            return function(path, **named)

        return noted

    for name in ("lexists", "realpath"):
        monkeypatch.setattr(os.path, name, noting(getattr(os.path, name)))
    project.writer.config(risk_scoring={"enabled": True})
    base = project.repository.commit("policy")
    for command in (
        "blame src/auth.py",
        "find",
        BY_FILE,
        "check",
        f"gate --base {base}",
        "diff",
        "backfill --dry-run",
        "doctor",
    ):
        assert run_vibes(*command.split(), cwd=project.root).code in (0, 1), command
    assert asked
    assert max(asked) < folders

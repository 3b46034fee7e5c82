"""Broken entries and records: reported at their line; the others are still read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from tests.cli.command_outcomes import DEEP, count_logged, run_commands
from tests.unit.checks.projects import CONFIG, LOG, MANIFEST

if TYPE_CHECKING:
    from tests.cli.run_vibes import RunVibes
    from tests.unit.checks.projects import Project

# --- the manifest ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"standard":"VIBES","version":"1.0"}', "member 'entries' is missing"),
        (b'{"standard":"VIBES","version":"1.0","entries":[]}', "member 'entries' is not an object"),
        (
            b'{"standard":"VIBES","version":"1.0","entries":null}',
            "member 'entries' is not an object",
        ),
    ],
)
def test_a_manifest_without_entries(
    project: Project, run_vibes: RunVibes, content: bytes, message: str
) -> None:
    (project.root / MANIFEST).write_bytes(content)
    found = run_commands(project, run_vibes)
    assert found.errors == [f"{MANIFEST}:1: error[manifest-json] {message}"]
    assert count_logged(found) == 7


ENTRY: Final = "0123456789abcdef" * 4


def add(project: Project, entry: bytes) -> int:
    """Add an unchecked entry to the manifest; return its line."""
    manifest = project.root / MANIFEST
    manifest.write_bytes(
        manifest.read_bytes().removesuffix(b"}}\n") + b',"%s":%s\n}}\n' % (ENTRY.encode(), entry)
    )
    return manifest.read_bytes().count(b"\n") - 1


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (b"7", "expected an object, found a JSON number"),
        (b'"text"', "expected an object, found a JSON string"),
        (
            b'{"type":"prompt","type":"command"}',
            "duplicate member 'type' with different values",
        ),
        (b'{"type":"prompt","prompt_text":"\xff"}', "not UTF-8"),
        (b'{"type":"prompt","x":1e999}', "number 1e999 is out of range"),
    ],
)
def test_a_broken_entry_beside_valid_ones(
    project: Project, run_vibes: RunVibes, entry: bytes, message: str
) -> None:
    line = add(project, entry)
    found = run_commands(project, run_vibes)
    assert found.errors == [f"{MANIFEST}:{line}: error[entry-field] entry {ENTRY[:8]}: {message}"]
    assert found.stats.lines[-1].split() == ["context", "entries", "12"]
    assert run_vibes("show", project.trail.command, cwd=project.root).code == 0


@pytest.mark.parametrize(
    "entry",
    [b'{"type":"prompt","x":NaN}', b'{"type":"prompt","x":' + DEEP + b"}"],
    ids=["NaN", "deep"],
)
def test_an_entry_that_breaks_the_whole_manifest_leaves_the_others_readable(
    project: Project, run_vibes: RunVibes, entry: bytes
) -> None:
    add(project, entry)
    found = run_commands(project, run_vibes)
    assert len(found.errors) == 1
    assert "error[manifest-json]" in found.errors[0]
    assert found.stats.lines[-1].split() == ["context", "entries", "11"]
    assert run_vibes("show", project.trail.command, cwd=project.root).code == 0


def test_a_lone_surrogate_in_an_entry_is_text_like_any_other(
    project: Project, run_vibes: RunVibes
) -> None:
    add(
        project,
        rb'{"type":"prompt","prompt_text":"half \ud83d","prompt_type":"other","created_at":"2026-02-03T10:00:00Z"}',
    )
    found = run_commands(project, run_vibes)
    assert [error.partition("[")[2].partition("]")[0] for error in found.errors] == [
        "hash-mismatch"
    ]
    assert found.stats.lines[-1].split() == ["context", "entries", "12"]
    assert (
        run_vibes("show", ENTRY, "--json", cwd=project.root).json["entry"]["prompt_text"]
        == "half \ud83d"
    )


# --- the log -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"type":"line","x":NaN}', "NaN is not JSON"),
        (b'{"type":"line","x":-Infinity}', "-Infinity is not JSON"),
        (b'{"type":"line","file_path":"\xff"}', "not UTF-8"),
        (b'{"type":"line","a":' + DEEP + b"}", "nested deeper than 64 levels"),
        (b'{"type":"line"} {"type":"line"}', "extra data"),
        (b'{"type":"line"', "expecting ',' delimiter"),
        (b"\x00\x00\x00", "expecting value"),
        (b'{"type":"line","a":"\xff"}', "not UTF-8"),
        (b'\x0b{"type":"line"}', "expecting value"),
        (b"7" * 5000, "more than 4,300 digits"),
    ],
)
def test_a_broken_line_between_valid_ones(
    project: Project, run_vibes: RunVibes, line: bytes, message: str
) -> None:
    log = project.root / LOG
    lines = log.read_bytes().split(b"\n")
    log.write_bytes(b"\n".join([*lines[:5], line, *lines[5:]]))
    found = run_commands(project, run_vibes)
    (error,) = found.errors
    assert error.startswith(f"{LOG}:6: error[log-line] ")
    assert message.lower() in error.lower()
    assert count_logged(found) == 7
    assert f"problem annotations.jsonl: line 6: {error.partition('] ')[2]}"[:60] in found.doctor.out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"type":"line","x":1e999}', "number 1e999 is out of range"),
        (b'{"type":"line","a":1,"a":2}', "duplicate member 'a' with different values"),
    ],
)
def test_a_line_that_only_the_strict_parser_refuses_is_not_a_record(
    project: Project, run_vibes: RunVibes, line: bytes, message: str
) -> None:
    project.writer.raw_log(line + b"\n")
    found = run_commands(project, run_vibes)
    assert found.errors == [f"{LOG}:26: error[log-line] {message}"]
    assert count_logged(found) == 7
    assert "1 broken" in found.check.out
    assert "Records: 26 (6 line," in found.check.out


def test_lone_surrogates_in_a_record_are_text_like_any_other(
    project: Project, run_vibes: RunVibes
) -> None:
    project.writer.raw_log(b'{"type":"line","file_path":"half \\ud83d","action":"create"}\n')
    found = run_commands(project, run_vibes)
    assert count_logged(found) == 8
    assert found.log.json["records"][-1]["record"]["file_path"] == "half \ud83d"
    assert not [error for error in found.errors if "[log-line]" in error]


@pytest.mark.parametrize("end", [b"\n", b""], ids=["whole", "torn"])
def test_a_line_of_50_megabytes(project: Project, run_vibes: RunVibes, end: bytes) -> None:
    project.writer.raw_log(b'{"type":"line","x":"' + b"x" * 50_000_000 + b'"}' + end)
    if end:
        project.line()
    found = run_commands(project, run_vibes)
    if end:
        assert found.errors == [f"{LOG}:26: error[log-line] longer than 8,388,608 bytes"]
        assert count_logged(found) == 8
    else:
        assert (
            f"{LOG}:26: warning[log-end] the last record is incomplete and not read"
            in found.check.lines
        )
        assert count_logged(found) == 7


# --- versions ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [CONFIG, MANIFEST])
def test_an_unknown_major_version_is_read_and_warned_about(
    project: Project, run_vibes: RunVibes, name: str
) -> None:
    file = project.root / name
    file.write_bytes(file.read_bytes().replace(b'"1.0"', b'"2.0"', 1))
    found = run_commands(project, run_vibes)
    assert (found.check.code, found.errors) == (0, [])
    assert "warning[version-unsupported]" in found.check.out
    assert count_logged(found) == 7
    assert found.log.err == (
        f"vibes: warning: unsupported version '2.0' in {file.name}: expected 1.x; it is read as far as possible\n"
    )

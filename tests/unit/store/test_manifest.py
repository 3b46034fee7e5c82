"""Reading the manifest (RFC 6, 9.3, R10): object, JSONL, journal, invalid files, and changes."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

import pytest

from tests.trails import TrailWriter, complete, context_hash, corrupt_manifest
from tests.unit.store.followed_log import rewrite_unnoticed
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.manifest import Manifest, ManifestForm, conflicting_keys, read_manifest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.store.followed_log import FixedClock

ONE: dict[str, object] = {"type": "prompt", "prompt_text": "One", "prompt_type": "other"}
TWO: dict[str, object] = {"type": "prompt", "prompt_text": "Zwei: größer", "prompt_type": "other"}
KEY_ONE, KEY_TWO = context_hash(ONE), context_hash(TWO)


@pytest.fixture
def directory(tmp_path: Path) -> AuditDir:
    (tmp_path / ".ai-audit").mkdir()
    return AuditDir(tmp_path / ".ai-audit")


def read(directory: AuditDir, content: bytes) -> Manifest:
    directory.manifest.write_bytes(content)
    return read_manifest(directory)


def whole(entries: object, **frame: object) -> bytes:
    return json.dumps(
        {"standard": "VIBES", "version": "1.0", "entries": entries, **frame}, ensure_ascii=False
    ).encode()


def test_the_object_of_the_rfc(tmp_path: Path) -> None:
    made = complete(tmp_path, "high")
    manifest = read_manifest(AuditDir(tmp_path / ".ai-audit"))
    assert (manifest.form, manifest.standard, manifest.version, manifest.problem) == (
        ManifestForm.OBJECT,
        "VIBES",
        "1.0",
        None,
    )
    stored = json.loads(made.writer.files.manifest.read_bytes())["entries"]
    assert list(manifest) == list(stored)
    assert {key: manifest.entry(key) for key in manifest} == stored
    assert manifest.type_of(made.command) == "command"
    assert not manifest.pending


def test_each_entry_of_the_written_form_is_on_its_line(tmp_path: Path) -> None:
    complete(tmp_path)
    manifest = read_manifest(AuditDir(tmp_path / ".ai-audit"))
    assert [manifest.line_of(key) for key in manifest] == list(range(2, len(manifest) + 2))


def test_an_indented_manifest_has_line_numbers(directory: AuditDir) -> None:
    frame = {"version": "1.0", "entries": {KEY_ONE: ONE, KEY_TWO: TWO}}
    manifest = read(directory, json.dumps(frame, indent=2).encode())
    assert manifest.form is ManifestForm.OBJECT
    assert [manifest.line_of(key) for key in (KEY_ONE, KEY_TWO, "0" * 64)] == [4, 9, None]


def test_an_entry_is_kept_as_it_is_stored(directory: AuditDir) -> None:
    stored = b'{ "type":"later", "n": 1.0, "big": 123456789012345678901234567890 }'
    manifest = read(
        directory, b'{"standard":"VIBES","version":"1.0","entries":{"k":' + stored + b"}}"
    )
    assert manifest.raw("k") == stored
    entry = manifest.entry("k")
    assert entry is not None
    assert entry["big"] == 123456789012345678901234567890
    assert isinstance(entry["n"], float)
    with pytest.raises(KeyError):
        manifest.raw("other")


@pytest.mark.parametrize(
    "stored", [b"5", b"[]", b"null", b'"x"', b'{"a":1,"a":2}', b'{"a":"\xff"}', b'{"a":1e999}']
)
def test_an_invalid_entry_hides_no_other(directory: AuditDir, stored: bytes) -> None:
    good = json.dumps(ONE).encode()
    manifest = read(
        directory,
        b'{"standard":"VIBES","version":"1.0","entries":{"k":%b,\n"%b":%b}}'
        % (stored, KEY_ONE.encode(), good),
    )
    assert manifest.entry("k") is None
    assert manifest.type_of("k") is None
    assert manifest.entry(KEY_ONE) == ONE
    assert "k" in manifest


SURROGATE: dict[str, object] = {"type": "prompt", "prompt_text": "\ud800", "prompt_type": "other"}
KEY_SURROGATE = "5a" * 32


@pytest.mark.parametrize("form", ["object", "lines", "jsonl", "journal"])
def test_a_lone_surrogate_hides_no_entry(directory: AuditDir, form: str) -> None:
    """`JSON.stringify` prints lone surrogates as valid JSON."""
    one, odd = json.dumps(ONE), json.dumps(SURROGATE)
    match form:
        case "object":
            directory.manifest.write_bytes(
                json.dumps(
                    {"version": "1.0", "entries": {KEY_ONE: ONE, KEY_SURROGATE: SURROGATE}}
                ).encode()
            )
        case "lines":
            directory.manifest.write_text(
                f'{{"entries":{{\n"{KEY_ONE}":{one}\n,"{KEY_SURROGATE}":{odd}\n}}}}\n'
            )
        case "jsonl":
            directory.manifest.write_text(f'{{"{KEY_ONE}":{one}}}\n{{"{KEY_SURROGATE}":{odd}}}\n')
        case _:
            directory.journal.mkdir()
            (directory.journal / "a.jsonl").write_bytes(
                f'{{"{KEY_ONE}":{one}}}\n{{"{KEY_SURROGATE}":{odd}}}\n'.encode()
            )
    manifest = read_manifest(directory)
    assert manifest.problem is None
    assert manifest.journal_problems == ()
    assert {key: manifest.entry(key) for key in manifest} == {
        KEY_ONE: ONE,
        KEY_SURROGATE: SURROGATE,
    }


def test_an_invalid_word_leaves_the_other_lines(
    directory: AuditDir,
) -> None:
    content = whole({}).replace(
        b"{}}",
        b'{\n"%b":%b\n,"%b":{"a":NaN}\n}}\n'
        % (KEY_ONE.encode(), json.dumps(ONE).encode(), KEY_TWO.encode()),
    )
    manifest = read(directory, content)
    assert manifest.form is ManifestForm.BROKEN
    assert "NaN" in str(manifest.problem)
    assert manifest.entry(KEY_ONE) == ONE
    assert KEY_TWO not in manifest


def test_conflict_markers_leave_the_entries_of_both_sides(
    tmp_path: Path,
) -> None:
    writer = TrailWriter(tmp_path)
    keys = [writer.prompt(f"Prompt {number}") for number in range(3)]
    lines = writer.files.manifest.read_bytes().splitlines(keepends=True)
    lines[2:2] = [b"<<<<<<< HEAD\n"]
    lines[4:4] = [b"=======\n"]
    lines[6:6] = [b">>>>>>> topic\n"]
    writer.raw_manifest(b"".join(lines))
    manifest = read_manifest(AuditDir(writer.files.audit))
    assert manifest.form is ManifestForm.BROKEN
    assert "merge-conflict marker (line 3, column 1)" in str(manifest.problem)
    assert set(manifest) == set(keys)
    assert manifest.line_of(keys[2]) == 6


def test_a_truncated_manifest_keeps_its_complete_entries(tmp_path: Path) -> None:
    complete(tmp_path)
    keys = list(read_manifest(AuditDir(tmp_path / ".ai-audit")))
    corrupt_manifest(tmp_path)
    manifest = read_manifest(AuditDir(tmp_path / ".ai-audit"))
    assert manifest.form is ManifestForm.BROKEN
    assert f"line {len(keys) + 1}," in str(manifest.problem)
    assert list(manifest) == keys[:-1]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "expecting value"),
        (b"[]", "an? (JSON )?(array|list)"),
        (b"null", "expected an object"),
        (b"{}", "'entries' is missing"),
        (b'{"standard":"VIBES","version":"1.0"}', "'entries' is missing"),
        (b'{"entries":[]}', "'entries' is not an object"),
        (b'{"entries":null}', "'entries' is not an object"),
        (b"[" * 100_000, "nested deeper"),
        (b'{"entries":{"k":' + b"[" * 100_000, "nested deeper"),
        (b'{"entries":{}}x', "extra data"),
    ],
)
def test_an_invalid_manifest_has_a_reason(directory: AuditDir, content: bytes, reason: str) -> None:
    manifest = read(directory, content)
    assert manifest.form is ManifestForm.BROKEN
    assert len(manifest) == 0
    assert re.search(reason, str(manifest.problem))


def test_a_missing_manifest_is_absent(directory: AuditDir) -> None:
    manifest = read_manifest(directory)
    assert (manifest.form, manifest.problem, len(manifest)) == (ManifestForm.ABSENT, None, 0)
    assert KEY_ONE not in manifest
    assert manifest.entry(KEY_ONE) is None


def test_a_byte_order_mark_is_ignored(directory: AuditDir) -> None:
    manifest = read(directory, b"\xef\xbb\xbf" + whole({KEY_ONE: ONE}))
    assert manifest.form is ManifestForm.OBJECT
    assert manifest.line_of(KEY_ONE) == 1


@pytest.mark.parametrize(
    "frame", [{"version": 1}, {"version": None}, {"standard": ["VIBES"]}, {"later": {"a": [1]}}]
)
def test_an_invalid_frame_does_not_hide_the_entries(
    directory: AuditDir, frame: dict[str, object]
) -> None:
    manifest = read(directory, whole({KEY_ONE: ONE}, **frame))
    assert manifest.form is ManifestForm.OBJECT
    assert manifest.entry(KEY_ONE) == ONE


def line(key: str, entry: dict[str, object]) -> bytes:
    return json.dumps({key: entry}, ensure_ascii=False).encode()


@pytest.mark.parametrize(
    "lines",
    [
        [line(KEY_ONE, ONE), line(KEY_TWO, TWO)],
        [json.dumps(ONE).encode(), json.dumps(TWO).encode()],
        [
            b'{"standard":"VIBES","version":"1.0"}',
            line(KEY_ONE, ONE),
            b"",
            json.dumps(TWO, ensure_ascii=False).encode(),
        ],
        [line(KEY_ONE, ONE) + b"\r", line(KEY_TWO, TWO) + b"\r"],
        [line(KEY_ONE, ONE), line(KEY_ONE, ONE), line(KEY_TWO, TWO)],
    ],
    ids=["keyed", "bare", "headed", "windows", "twice"],
)
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_the_interim_form_is_read(directory: AuditDir, lines: list[bytes], end: bytes) -> None:
    """RFC 9.3: one context entry per line, duplicates resolved by hash."""
    manifest = read(directory, b"\n".join(lines) + end)
    assert manifest.form is ManifestForm.JSONL
    assert {key: manifest.entry(key) for key in manifest} == {KEY_ONE: ONE, KEY_TWO: TWO}


def test_a_pipe_in_its_place_is_not_waited_for(directory: AuditDir) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(directory.manifest)
    assert read_manifest(directory).form is ManifestForm.BROKEN


def test_equal_duplicates_are_one_and_others_conflict(directory: AuditDir) -> None:
    one, other = json.dumps(ONE).encode(), json.dumps(ONE, indent=None, sort_keys=True).encode()
    two = json.dumps(TWO).encode()
    key = KEY_ONE.encode()
    equal = b'{"version":"1.0","entries":{\n"%b":%b\n,"%b":%b\n}}' % (key, one, key, other)
    assert len(read(directory, equal)) == 1
    assert conflicting_keys(equal) == []
    assert conflicting_keys(b'{"entries":{\n"%b":%b\n,"%b":%b\n}}' % (key, one, key, two)) == [
        (KEY_ONE, 3)
    ]


def test_deep_nesting_does_not_stop_the_search_for_conflicts() -> None:
    key = KEY_ONE.encode()
    deep = b"[" * 100_000
    assert conflicting_keys(b'{"entries":{"%b":%b,\n"%b":%b' % (key, deep, key, deep)) == [
        (KEY_ONE, 2)
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"entries":{"%s":{"outputs":{"%s":"text"}},\n"%s":{"type":"prompt"}}}',
        '{"entries":{"%s":{"list":[{"%s":"text"}]},\n"%s":{"type":"prompt"}}}',
        '{"%s":{"%s":"text"}}\n{"%s":{"type":"prompt"}}\n',
    ],
)
def test_keys_inside_an_entry_do_not_conflict_with_entries(text: str) -> None:
    data = (text % (KEY_ONE, KEY_TWO, KEY_TWO)).encode()
    assert conflicting_keys(data) == []
    assert conflicting_keys((text % (KEY_ONE, KEY_TWO, KEY_ONE)).encode()) == [(KEY_ONE, 2)]


def journal(directory: AuditDir, name: str, content: bytes) -> None:
    directory.journal.mkdir(exist_ok=True)
    (directory.journal / name).write_bytes(content)


def test_entries_of_the_journal_are_read_and_pending(directory: AuditDir) -> None:
    directory.manifest.write_bytes(whole({KEY_ONE: ONE}))
    journal(directory, "a.jsonl", line(KEY_ONE, ONE) + b"\n" + line(KEY_TWO, TWO) + b"\n")
    manifest = read_manifest(directory)
    assert manifest.form is ManifestForm.OBJECT
    assert list(manifest) == [KEY_ONE, KEY_TWO]
    assert manifest.pending == {KEY_TWO}
    assert manifest.line_of(KEY_TWO) is None
    assert manifest.journal_problems == ()


def test_a_partial_last_line_of_a_journal_waits(directory: AuditDir) -> None:
    torn = line(KEY_TWO, TWO)
    journal(directory, "a.jsonl", line(KEY_ONE, ONE) + b"\n" + torn[:-9])
    manifest = read_manifest(directory)
    assert (set(manifest), manifest.journal_problems) == ({KEY_ONE}, ())
    journal(directory, "a.jsonl", line(KEY_ONE, ONE) + b"\n" + torn + b"\n")
    assert set(read_manifest(directory, manifest)) == {KEY_ONE, KEY_TWO}


def test_an_invalid_journal_line_is_reported_and_hides_nothing(directory: AuditDir) -> None:
    journal(directory, "a.jsonl", b"<<<<<<<\n" + line(KEY_ONE, ONE) + b"\n[]\n")
    journal(directory, "b.jsonl", line(KEY_TWO, TWO) + b"\n")
    journal(directory, "notes.txt", b"not read\n")
    manifest = read_manifest(directory)
    assert set(manifest) == {KEY_ONE, KEY_TWO}
    ((name, problem),) = manifest.journal_problems
    assert name == "a.jsonl"
    assert "2 lines are not context entries" in str(problem)


def test_the_manifest_wins_over_the_journal(directory: AuditDir) -> None:
    directory.manifest.write_bytes(whole({KEY_ONE: ONE}))
    journal(directory, "a.jsonl", line(KEY_ONE, TWO) + b"\n")
    assert read_manifest(directory).entry(KEY_ONE) == ONE


def test_the_same_manifest_is_returned_while_nothing_changes(directory: AuditDir) -> None:
    absent = read_manifest(directory)
    assert read_manifest(directory, absent) is absent
    first = read(directory, whole({KEY_ONE: ONE}))
    assert read_manifest(directory, first) is first
    journal(directory, "a.jsonl", line(KEY_TWO, TWO) + b"\n")
    second = read_manifest(directory, first)
    assert second is not first
    assert read_manifest(directory, second) is second
    broken = read(directory, b"{")
    assert read_manifest(directory, broken) is broken


def test_a_rewrite_within_one_tick_of_the_file_times_is_seen_while_it_can_happen(
    directory: AuditDir, clock: FixedClock
) -> None:
    directory.manifest.write_bytes(whole({KEY_ONE: ONE}))
    clock.now = directory.manifest.stat().st_mtime_ns + 1
    one = read_manifest(directory)
    assert read_manifest(directory, one) is one
    rewrite_unnoticed(directory.manifest, whole({KEY_ONE: {**ONE, "prompt_text": "Two"}}))
    # The rewrite is in the racy time, the next read long after it.
    clock.now += 3_600_000_000_000
    two = read_manifest(directory, one)
    assert two.entry(KEY_ONE) == {**ONE, "prompt_text": "Two"}
    rewrite_unnoticed(directory.manifest, whole({KEY_ONE: {**ONE, "prompt_text": "Six"}}))
    assert read_manifest(directory, two) is two, "a file this old is not read again"


def test_a_folder_in_its_place_is_reported_until_it_is_gone(directory: AuditDir) -> None:
    directory.manifest.mkdir()
    broken = read_manifest(directory)
    assert broken.form is ManifestForm.BROKEN
    assert "not a regular file" in str(broken.problem)
    assert read_manifest(directory, broken) is broken, "nothing changed"
    directory.manifest.rmdir()
    assert read_manifest(directory, broken).form is ManifestForm.ABSENT


def test_a_manifest_that_may_be_read_again_is_read(
    directory: AuditDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fake denies access, because the tests may run with all permissions; no time changes."""
    directory.manifest.write_bytes(whole({KEY_ONE: ONE}))

    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patch:
        patch.setattr("vibes_lsp.store.files.os.open", refuse)
        broken = read_manifest(directory)
        assert "Permission denied" in str(broken.problem)
    assert read_manifest(directory, broken).entry(KEY_ONE) == ONE


@pytest.mark.usefixtures("clock")
def test_while_only_the_journal_grows_the_manifest_is_not_read_again(
    directory: AuditDir, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each recorded edit adds to the journal, and a manifest may have a hundred megabytes."""
    directory.manifest.write_bytes(whole({KEY_ONE: ONE}))
    first = read_manifest(directory)
    with monkeypatch.context() as patch:
        patch.setattr("vibes_lsp.store.manifest.read_file", None)
        journal(directory, "a.jsonl", line(KEY_TWO, TWO) + b"\n")
        second = read_manifest(directory, first)
    assert (list(second), set(second.pending), len(second)) == ([KEY_ONE, KEY_TWO], {KEY_TWO}, 2)
    assert (second.entry(KEY_ONE), second.entry(KEY_TWO)) == (ONE, TWO)
    assert set(first) == {KEY_ONE}, "what was read before stays what it was"
    (directory.journal / "a.jsonl").unlink()
    assert list(read_manifest(directory, second)) == [KEY_ONE]

"""`SavedEntries` gives the same answers as `Manifest`, for manifests of any program."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.json_values import JSON, MEMBERS
from vibes_lsp.model.hashing import context_hash
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.manifest import Manifest, read_manifest
from vibes_lsp.trail import stored_entries
from vibes_lsp.trail.stored_entries import SavedEntries

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = [context_hash({"number": number}) for number in range(5)]
ABSENT = context_hash({"number": 9})
HEAD = '"standard":"VIBES","version":"1.0"'


@st.composite
def entry(draw: st.DrawFn) -> str:
    """An entry in any notation, its key perhaps escaped or no hash, its value perhaps nested."""
    key = draw(st.sampled_from(KEYS))
    name = draw(st.sampled_from([key, f"\\u{ord(key[0]):04x}{key[1:]}", "short", key.upper()]))
    nested: dict[str, Any] = {draw(st.sampled_from(KEYS)): draw(JSON)}
    value = draw(st.one_of(MEMBERS, JSON, st.just(nested), st.just({"type": f'"{key}":{{}}'})))
    text = json.dumps(
        value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1]))
    )
    space = draw(st.sampled_from(["", " ", "\n", "\r\n\t"]))
    return f'{space}"{name}"{space}:{space}{text}{space}'


@st.composite
def manifests(draw: st.DrawFn) -> bytes:
    """The bytes of a manifest, perhaps broken, with members in any order."""
    entries = ",".join(draw(st.lists(entry(), max_size=5)))
    other = draw(st.sampled_from(["", f',"other":{{"{KEYS[0]}":{{"type":"prompt"}}}}']))
    text = draw(
        st.sampled_from(
            [
                f'{{{HEAD},"entries":{{{entries}}}{other}}}',
                f'{{"entries":{{{entries}}},{HEAD}{other}}}',
                f'{{{HEAD}{other},"entries":{{{entries}}}}}\n',
                f'{{{HEAD},"entries":{{{entries}}}',
                f'{{{HEAD},"entries":{{\n{entries}\n}}}}\n',
                entries,
            ]
        )
    )
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + text.encode()


def answers(manifest: Manifest) -> tuple[object, ...]:
    """Return everything that a reader can ask."""
    keys = [*KEYS, ABSENT, "short"]
    return (
        manifest.form,
        manifest.standard,
        manifest.version,
        list(manifest),
        len(manifest),
        [manifest.raw(key) if key in manifest else None for key in keys],
        [manifest.entry(key) for key in keys],
        [manifest.with_prefix(prefix) for key in keys for prefix in (key, key[:1], key[:9], "")],
    )


def saved_and_read(data: bytes, check: Callable[[Manifest, Manifest], None]) -> None:
    """Check a manifest that is parsed, and the same one read by what was saved for it."""
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder) / "cache"
        directory = AuditDir(Path(folder) / "project" / ".ai-audit")
        directory.path.mkdir(parents=True)
        directory.manifest.write_bytes(data)
        os.utime(directory.manifest, (1e9, 1e9))
        with (
            patch.object(stored_entries, "MIN_MANIFEST", 0),
            patch.dict(os.environ, {"XDG_CACHE_HOME": str(cache)}),
        ):
            parsed = read_manifest(directory)
            stored_entries.save(directory.manifest, parsed)
            check(parsed, read_manifest(directory, open_saved=stored_entries.open_stored))


@given(manifests())
def test_answers_are_those_of_the_whole_parser(data: bytes) -> None:
    def check(parsed: Manifest, by_offset: Manifest) -> None:
        assert answers(by_offset) == answers(parsed)

    saved_and_read(data, check)


@given(st.dictionaries(st.sampled_from(KEYS), MEMBERS, min_size=1), st.sampled_from([None, 2]))
def test_ordinary_manifests_are_read_by_offset(entries: dict[str, Any], indent: int | None) -> None:
    text = json.dumps({"standard": "VIBES", "version": "1.0", "entries": entries}, indent=indent)

    def check(parsed: Manifest, by_offset: Manifest) -> None:
        assert isinstance(by_offset.stored, SavedEntries)
        assert answers(by_offset) == answers(parsed)
        assert [by_offset.line_of(key) for key in parsed] == [parsed.line_of(key) for key in parsed]

    saved_and_read(text.encode(), check)


@pytest.mark.parametrize("damage", [b"", b"noise" * 999, b"SQLite format 3\0" + b"x" * 5000])
def test_a_damaged_index_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    directory = large_manifest(tmp_path, monkeypatch)
    (saved,) = (tmp_path / "cache/vibes-lsp/manifest").glob("*.db")
    saved.write_bytes(damage)
    manifest = read_manifest(directory, open_saved=stored_entries.open_stored)
    assert manifest.entry(KEYS[0]) == {"type": "prompt"}


def test_what_was_opened_is_read_while_another_program_saves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = large_manifest(tmp_path, monkeypatch)
    manifest = read_manifest(directory, open_saved=stored_entries.open_stored)
    assert isinstance(manifest.stored, SavedEntries)
    new = directory.manifest.with_suffix(".new")
    entries = {KEYS[3]: {"type": "other"}}
    new.write_text(json.dumps({"standard": "VIBES", "version": "1.0", "entries": entries}))
    os.utime(new, (1e9, 1e9))
    new.replace(directory.manifest)
    assert stored_entries.save(directory.manifest, read_manifest(directory))
    assert manifest.entry(KEYS[0]) == {"type": "prompt"}
    assert len(read_manifest(directory, open_saved=stored_entries.open_stored)) == 1


def large_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AuditDir:
    """Return a trail with a manifest whose entries are saved."""
    directory = AuditDir(tmp_path / "project" / ".ai-audit")
    directory.path.mkdir(parents=True)
    entries = {key: {"type": "prompt"} for key in KEYS}
    text = json.dumps({"standard": "VIBES", "version": "1.0", "entries": entries})
    directory.manifest.write_text(text)
    os.utime(directory.manifest, (1e9, 1e9))
    monkeypatch.setattr(stored_entries, "MIN_MANIFEST", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert stored_entries.save(directory.manifest, read_manifest(directory))
    return directory

"""Entries of a manifest that differ from those on disk: found by line as by parsing all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import example, given
from hypothesis import strategies as st

from tests.trails import Repository
from vibes_lsp.checks.changed_entries import changed_entries, compare_lines
from vibes_lsp.git.repository import open_repository
from vibes_lsp.store.manifest import ManifestForm, parse_manifest

if TYPE_CHECKING:
    from pathlib import Path

KEYS = [f"{number:064x}" for number in range(4)]
ENTRIES = st.sampled_from(
    [
        *('{"type":"prompt"}', '{"type": "prompt"}', '{"a":{"b":[1,"}}"]}}', "{}", '{"é":1}'),
        *('{"a":1}}', "7", "null", "{", '"x"', '{"a":1},"b":{"c":2}', '{"a":1} ', ' {"a":1}'),
        *('{"a":1,"a":2}', '{"a":NaN}'),
    ]
)
HEADS = st.sampled_from(
    [
        '{"standard":"VIBES","version":"1.0","entries":{',
        '{"entries":{"x":{"entries":{',
        '{"entries":{',
        '{"entries":{}, "more":{',
        "{",
        "",
    ]
)
ENDS = st.sampled_from(["}}", "}}\n", "}}\n\n", "}", "", "}}}", "}}{}"])


@st.composite
def manifests(draw: st.DrawFn) -> bytes:
    """The bytes of a manifest, mostly in the usual format."""
    pairs = draw(st.lists(st.tuples(st.sampled_from([*KEYS, "short"]), ENTRIES), max_size=5))
    lines = [f'"{key}":{entry}' for key, entry in pairs]
    lines = [f",{line}" if number else line for number, line in enumerate(lines)]
    if draw(st.integers(0, 9)) == 9 and lines:
        lines[-1] = draw(st.sampled_from(["", " ", lines[-1].lstrip(","), f",{lines[-1]}"]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join([draw(HEADS), *lines, draw(ENDS)]).encode()


@given(manifests(), manifests())
@example(b'{"entries":{}, "more":{\n"%b":{"type":"prompt"}\n}}' % (b"0" * 64), b'{"entries":{\n}}')
def test_entries_differ_line_by_line_as_they_differ_when_all_is_parsed(
    version: bytes, disk: bytes
) -> None:
    on_disk, whole = parse_manifest(disk), parse_manifest(version)
    found = compare_lines(version.splitlines(keepends=True), on_disk)
    if found is not None:
        assert whole.form == ManifestForm.OBJECT
        assert found == {
            key: whole.raw(key)
            for key in whole
            if key not in on_disk or on_disk.raw(key) != whole.raw(key)
        }


def test_a_manifest_in_our_format_is_not_parsed_whole() -> None:
    def manifest(**entries: Any) -> bytes:
        lines = [f'"{key}":{json.dumps(entry)}' for key, entry in entries.items()]
        return ('{"standard":"VIBES","version":"1.0","entries":{\n' + "\n,".join(lines)).encode()

    before = manifest(**{KEYS[0]: {"a": 1}, KEYS[1]: {"a": 2}, KEYS[2]: {}}) + b"\n}}\n"
    now = manifest(**{KEYS[0]: {"a": 1}, KEYS[1]: {"a": 3}}) + b"\n}}\n"
    found = compare_lines(before.splitlines(keepends=True), parse_manifest(now))
    assert found == {KEYS[1]: b'{"a": 2}', KEYS[2]: b"{}"}


def test_each_entry_of_another_format_has_its_own_bytes(tmp_path: Path) -> None:
    def manifest(*entries: dict[str, int]) -> str:
        return json.dumps({"entries": dict(zip(KEYS, entries, strict=False))}, indent=4)

    repository = Repository(tmp_path / "project")
    repository.write("manifest.json", manifest({"a": 0}, {"a": 1}, {"a": 2}, {"a": 3}))
    commit = repository.commit("Manifest")
    on_disk = parse_manifest(manifest({"a": 0}, {"a": 7}).encode())
    git = open_repository(repository.path)
    assert git is not None
    changed = changed_entries(git, commit, repository.path, "manifest.json", on_disk)
    git.close()
    assert {key: changed.entry(key) for key in changed.entries} == {
        KEYS[number]: {"a": number} for number in (1, 2, 3)
    }

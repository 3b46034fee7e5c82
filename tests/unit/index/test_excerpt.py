"""The excerpt of a trail about one file, which a search for bytes finds without an index."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trails import TrailWriter
from vibes_lsp.index import byte_search, excerpt
from vibes_lsp.index.byte_search import LineBuffer
from vibes_lsp.index.excerpt import write_excerpt
from vibes_lsp.index.trail import Trail
from vibes_lsp.store.audit_dir import AuditDir

TEXT = "".join(f"value_{number} = {number}\n" for number in range(20))


@pytest.fixture
def trail(tmp_path: Path) -> TrailWriter:
    """A trail with an environment, and annotations of two files."""
    writer = TrailWriter(tmp_path / "project")
    writer.environment()
    return writer


def excerpt_of(writer: TrailWriter, path: str, folder: Path) -> Trail:
    """Return what the excerpt about a file says."""
    target = AuditDir(folder / "excerpt")
    target.path.mkdir(exist_ok=True)
    directory = AuditDir(writer.files.audit)
    write_excerpt(directory, path, target)
    found = Trail(directory, excerpt=target)
    found.refresh()
    return found


def ids_in(found: Trail, path: str) -> list[str]:
    return [each.current.id for each in found.lineages_in(path)]


def test_it_has_the_annotations_of_one_file_and_what_they_name(
    trail: TrailWriter, tmp_path: Path
) -> None:
    prompt = trail.prompt("Asked for this.")
    other = trail.prompt("Asked for something else.")
    first = trail.line("src/ä b.py", 1, 3, text=TEXT, prompt=prompt)
    trail.line("src/other.py", 1, 3, text=TEXT, prompt=other)
    found = excerpt_of(trail, "src/ä b.py", tmp_path)
    assert ids_in(found, "src/ä b.py") == [first]
    assert found.manifest.entry(prompt) is not None
    assert found.manifest.entry(other) is None
    assert not found.lineages_in("src/other.py")


@pytest.mark.parametrize("escapes", [False, True])
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_other_notations_of_json_are_found(
    trail: TrailWriter, tmp_path: Path, *, escapes: bool, separators: tuple[str, str]
) -> None:
    trail.line("src/ä.py", 1, 3, text=TEXT)
    log = trail.files.log
    records = [json.loads(line) for line in log.read_bytes().splitlines()]
    log.write_text(
        "".join(
            json.dumps(each, ensure_ascii=escapes, separators=separators) + "\n" for each in records
        ),
        encoding="utf-8",
    )
    assert len(ids_in(excerpt_of(trail, "src/ä.py", tmp_path), "src/ä.py")) == 1


def test_what_is_superseded_is_left_out(trail: TrailWriter, tmp_path: Path) -> None:
    old = trail.line("a.py", 1, 3, text=TEXT)
    new = trail.line("a.py", 1, 4, text=TEXT)
    kept = trail.line("a.py", 9, 9, text=TEXT)
    trail.edge("supersedes", new, old, target_type="annotation")
    assert ids_in(excerpt_of(trail, "a.py", tmp_path), "a.py") == [new, kept]


def test_lines_that_only_mention_the_path_are_left_out(trail: TrailWriter, tmp_path: Path) -> None:
    trail.line("b.py", 1, 3, text=TEXT, metadata={"see": "a.py"})
    with trail.files.log.open("ab") as log:
        log.write(b'{"type":"line","file_path":"a.py",\n"a.py"\n{"file_path":"a.py"}\n')
    assert ids_in(excerpt_of(trail, "a.py", tmp_path), "a.py") == []


@pytest.mark.parametrize("content", [None, b"", b"\n", b"{", b'"a.py"'])
def test_a_log_or_manifest_that_is_missing_or_broken_gives_nothing(
    trail: TrailWriter, tmp_path: Path, content: bytes | None
) -> None:
    for file in (trail.files.log, trail.files.manifest):
        file.unlink(missing_ok=True)
        if content is not None:
            file.write_bytes(content)
    assert ids_in(excerpt_of(trail, "a.py", tmp_path), "a.py") == []


@given(
    st.lists(
        st.one_of(
            st.just(b'{"type":"line","file_path":"a.py"}'),
            st.binary(max_size=90).map(lambda each: each.replace(b"\n", b" ")),
            st.sampled_from((b'"a.py"' + b"x" * 300, b"", b'{"see":"a.py","file_path":"b.py"}')),
        ),
        max_size=30,
    ),
    st.booleans(),
    st.integers(0, 4000),
)
def test_a_log_in_two_parts_has_the_lines_of_one(
    lines: list[bytes],
    is_terminated: bool,
    middle: int,
) -> None:
    content = b"\n".join(lines) + b"\n" * is_terminated
    middle = min(middle, len(content))
    whole = content.split(b"\n")[:-1]
    wanted = [line for line in whole if b'"a.py"' in line and len(line) <= 200]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(excerpt, "_CHUNK", 64)
        patch.setattr(excerpt, "_MAX_LINE", 200)
        log = Path(folder) / "log"
        log.write_bytes(content)
        parts = ((0, middle), (middle, len(content)))
        found = [excerpt._search_part(log, [b'"a.py"'], part)[0] for part in parts]
    assert [*found[0], *found[1]] == wanted


IDS: Final = ("000000a", "000000b")


def notations(members: Mapping[str, object]) -> st.SearchStrategy[bytes]:
    """The JSON of an object in the notations of several tools."""
    return st.builds(
        lambda comma, colon, end, escaped, name: (
            json.dumps(members, separators=(comma, colon))
            .replace("000000", r"00\u003000" if escaped else "000000")
            .replace("supersedes", name)
            .encode()
            + end
        ),
        st.sampled_from([",", ", "]),
        st.sampled_from([":", ": ", " : "]),
        st.sampled_from([b"\n", b"\r\n", b" \n", b"\n\n"]),
        st.booleans(),
        st.sampled_from(["supersedes", r"\u0073upersedes", r"super\u0073ede\u0073"]),
    )


def mostly(
    usual: Mapping[str, object], changes: Sequence[Mapping[str, object]]
) -> st.SearchStrategy[bytes]:
    """The JSON of an object, often with a change: other values, or members that are left out."""

    def changed(made: Sequence[Mapping[str, object]]) -> dict[str, object]:
        members = dict(usual)
        for change in made:
            members.update(change)
        return {name: value for name, value in members.items() if value is not ...}

    return st.lists(st.sampled_from(changes), max_size=2).map(changed).flatmap(notations)


def repeated(line: bytes, name: str, value: str) -> bytes:
    """Return an object with one more member in front, which may have the name of another."""
    return f'{{"{name}":"{value}",'.encode() + line[1:]


annotation_lines = mostly(
    {"type": "line", "file_path": "a.py", "annotation_id": IDS[0]},
    [
        {"type": "function"},
        {"type": "edge"},
        {"file_path": "b.py"},
        {"file_path": "./a.py"},
        {"annotation_id": IDS[1]},
        {"note": "x" * 400},
        {"note": "supersedes"},
    ],
)
edge_lines = mostly(
    {"type": "edge", "edge_type": "supersedes", "source_ref": "x", "target_ref": IDS[0]},
    [
        {"type": "line"},
        {"type": ...},
        {"edge_type": "depends_on"},
        {"source_ref": ...},
        {"source_ref": "", "source_id": "x"},
        {"source_ref": 7, "source_id": "x"},
        {"target_ref": IDS[1]},
        {"target_ref": IDS[1], "target_id": IDS[0]},
        {"target_ref": ..., "target_id": IDS[0]},
        {"target_ref": 7, "target_id": IDS[0]},
        {"target_ref": "", "target_id": IDS[0]},
        {"target_ref": None, "metadata": {"target_ref": IDS[0]}},
        {"note": "x" * 400},
        {"file_path": "a.py"},
    ],
)
log_lines = st.one_of(
    annotation_lines,
    edge_lines,
    st.builds(
        repeated,
        st.one_of(annotation_lines, edge_lines),
        st.sampled_from(["target_ref", "annotation_id", "note"]),
        st.sampled_from([*IDS, "supersedes"]),
    ),
    st.sampled_from(
        [b"\n", b'"a.py" "supersedes"\n', b'{"type":"edge","edge_type":"supersedes",\n']
    ),
)


def current_by_reading_all(content: bytes, path: str) -> list[bytes]:
    """Return the lines of a file's annotations that nothing supersedes: slow and plain."""
    found: list[tuple[str, bytes]] = []
    superseded = set()
    for line in content.split(b"\n")[:-1]:
        if len(line) > 400:
            continue
        try:
            pairs = json.loads(line, object_pairs_hook=list)
        except ValueError:
            continue
        if not isinstance(pairs, list):
            continue
        record = dict(pairs)
        is_plain = all(record[name] == value for name, value in pairs)
        if record.get("type") in ("line", "function"):
            if is_plain and record.get("file_path") in (path, f"./{path}"):
                found.append((record.get("annotation_id", ""), line))
        elif record.get("type") == "edge" and record.get("edge_type") == "supersedes":
            source, target = (
                [each for name in names if isinstance(each := record.get(name), str) and each]
                for names in (("source_ref", "source_id"), ("target_ref", "target_id"))
            )
            is_read_loosely = all(
                isinstance(record.get(name), str | None)
                for name in ("source_ref", "source_id", "target_ref", "target_id")
            )
            if source and target and (is_plain or is_read_loosely):
                superseded.add(target[0])
    return [line for key, line in found if key not in superseded and b'"./' not in line]


@pytest.mark.parametrize("uses_strstr", [True, False])
@given(lines=st.lists(log_lines, max_size=12), middle=st.integers(0, 1000))
def test_it_is_what_reading_every_line_gives(
    lines: list[bytes], middle: int, *, uses_strstr: bool
) -> None:
    content = b"".join(lines)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(excerpt, "_CHUNK", 64)
        patch.setattr(excerpt, "_MAX_LINE", 400)
        patch.setattr(excerpt, "map_in_order", map)
        patch.setattr(
            excerpt,
            "_halves",
            lambda size: [(0, min(middle, size)), (min(middle, size), size)],
        )
        if not uses_strstr:
            patch.setattr(byte_search, "_STRSTR", None)
        log = Path(folder) / "log"
        log.write_bytes(content)
        found = [line for _, line in excerpt._current_records(log, "a.py")]
    assert found == current_by_reading_all(content, "a.py")


@pytest.mark.parametrize("uses_strstr", [True, False])
@given(
    content=st.lists(st.sampled_from([b"a", b"ab", b"b", b"\n", b"\0"]), max_size=40).map(b"".join),
    needle=st.sampled_from([b"a", b"ab", b"aba", b"b\0b"]),
    part=st.tuples(st.integers(0, 60), st.integers(0, 60)),
    room=st.integers(1, 6),
)
def test_lines_are_found_as_by_python(
    content: bytes, needle: bytes, part: tuple[int, int], room: int, *, uses_strstr: bool
) -> None:
    first, last = (min(each, len(content)) for each in sorted(part))
    first = content.rfind(b"\n", 0, first) + 1
    last = max(first, content.rfind(b"\n", 0, last) + 1)
    with pytest.MonkeyPatch.context() as patch:
        if not uses_strstr:
            patch.setattr(byte_search, "_STRSTR", None)
        buffer = LineBuffer(len(content) + room)
        buffer.data[:] = before = content.ljust(len(content) + room, b"a")
        found = {
            key: bytes(line) for key, line in buffer.lines_with(needle, first, last, 5).items()
        }
        assert buffer.data == before
    wanted, offset = {}, first
    for line in content[first:last].split(b"\n"):
        if needle in line and len(line) <= 5:
            wanted[offset] = line
        offset += len(line) + 1
    assert found == wanted


@pytest.mark.skipif(sys.platform == "win32", reason="does not search with it")
def test_strstr_is_used_where_it_exists_and_never_outside_the_buffer() -> None:
    assert byte_search._STRSTR is not None
    buffer = LineBuffer(10)
    for part in ((-1, 5), (0, 11), (6, 5)):
        with pytest.raises(IndexError):
            buffer.lines_with(b"x", *part, longest=5)
    with pytest.raises(BufferError):
        buffer.data.append(0)


def test_entries_that_are_only_in_the_journal_are_found(trail: TrailWriter, tmp_path: Path) -> None:
    prompt = trail.prompt("Asked for this.")
    trail.line("a.py", 1, 3, text=TEXT, prompt=prompt)
    entries = json.loads(trail.files.manifest.read_bytes())["entries"]
    trail.files.manifest.unlink()
    journal = AuditDir(trail.files.audit).journal
    journal.mkdir()
    (journal / "entries.jsonl").write_text(
        "".join(json.dumps({key: each}) + "\n" for key, each in entries.items())
    )
    assert excerpt_of(trail, "a.py", tmp_path).manifest.entry(prompt) == entries[prompt]


@pytest.mark.parametrize("separator", [":", ": ", " : "])
def test_entries_are_found_however_keys_are_spaced(
    trail: TrailWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, separator: str
) -> None:
    monkeypatch.setattr(excerpt, "_CHUNK", 100)
    monkeypatch.setattr(excerpt, "_halves", lambda size: [(0, size // 3), (size // 3, size)])
    prompts = [trail.prompt(f"Number {number}") for number in range(12)]
    for number, prompt in enumerate(prompts):
        trail.line("a.py", number + 1, number + 1, text=TEXT, prompt=prompt)
    manifest = json.loads(trail.files.manifest.read_bytes())
    manifest["entries"][prompts[0]] = {"late": 1}
    manifest["entries"][prompts[1]] = {}
    text = json.dumps(manifest, separators=(",", separator))
    trail.files.manifest.write_text(text.replace(f"{separator}{{", f"{separator}\n{{", 3))
    found = excerpt_of(trail, "a.py", tmp_path)
    assert [found.manifest.entry(each) for each in prompts] == [
        manifest["entries"][each] for each in prompts
    ]


def test_many_entries_are_found_as_few_are(trail: TrailWriter, tmp_path: Path) -> None:
    prompts = [trail.prompt(f"Number {number}: {'long ' * 2_000}") for number in range(12)]
    for number, prompt in enumerate(prompts):
        trail.line("a.py", number + 1, number + 1, text=TEXT, prompt=prompt)
    found = excerpt_of(trail, "a.py", tmp_path)
    stored = json.loads(trail.files.manifest.read_bytes())["entries"]
    assert [found.manifest.entry(prompt) for prompt in prompts] == list(map(stored.get, prompts))

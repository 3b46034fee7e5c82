"""The excerpt of a trail about one file, which a search for bytes finds without an index."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.trails import TrailWriter
from vibes_lsp.index import excerpt
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
    wanted, offset = [], 0
    for line in content.split(b"\n")[:-1]:
        if b'"a.py"' in line and len(line) <= 200:
            wanted.append((offset, line))
        offset += len(line) + 1
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(excerpt, "_CHUNK", 64)
        patch.setattr(excerpt, "_MAX_LINE", 200)
        log = Path(folder) / "log"
        log.write_bytes(content)
        parts = ((0, middle), (middle, len(content)))
        found = [excerpt._search_part(log, [b'"a.py"'], part)[0] for part in parts]
    assert [*found[0], *found[1]] == wanted


@pytest.mark.parametrize("separator", [":", ": ", " : "])
def test_entries_are_found_however_keys_are_spaced(
    trail: TrailWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, separator: str
) -> None:
    monkeypatch.setattr(excerpt, "_CHUNK", 100)
    prompts = [trail.prompt(f"Number {number}") for number in range(12)]
    for number, prompt in enumerate(prompts):
        trail.line("a.py", number + 1, number + 1, text=TEXT, prompt=prompt)
    manifest = json.loads(trail.files.manifest.read_bytes())
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

"""A file that git stores encrypted leaves nothing of its text in a trail, whatever records it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.filters import NOTEBOOK, SECRETS, add_filter, files_with
from tests.trails import Repository
from tests.unit.recording.projects import MODEL, TOOL, new_project
from vibes_lsp.anchors.create_anchors import range_hash
from vibes_lsp.errors import InvalidObject
from vibes_lsp.ingest.fold import fold_events
from vibes_lsp.ingest.hook import mark_folding, store_event
from vibes_lsp.knowledge.citing_lines import CitedLines, propose_claim_at
from vibes_lsp.knowledge.knowledge_base import create_knowledge_base
from vibes_lsp.knowledge.methods import KnowledgeMethods
from vibes_lsp.model.hashing import ANCHOR_MEMBERS, sha256
from vibes_lsp.model.vocabulary import Verdict
from vibes_lsp.recording import (
    MarkLost,
    Origin,
    Recorder,
)
from vibes_lsp.recording.arguments import Function, Part, Position, Range
from vibes_lsp.recording.recorder import utc_now
from vibes_lsp.recording.requests import (
    Reanchor,
    RecordAnnotation,
    RecordInlineCompletion,
    RecordReview,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.run_vibes import RunVibes

BY = Origin(tool=TOOL, model=MODEL)
LINES = SECRETS.splitlines()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's cache folder, which only this test uses."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A project in whose repository `*.env` is encrypted, with a committed file of secrets."""
    root = new_project(tmp_path / "project").root
    repository = Repository(root)
    add_filter(repository, "crypt", "*.env", program="crypt")
    repository.write("old.env", SECRETS.replace("hunter2", "another"))
    repository.commit("Begin")
    return repository


@pytest.fixture
def no_folding_process(repository: Repository) -> Iterator[None]:
    """Keep the hook from starting a process: this one claims to fold already."""
    spool = repository.path / ".ai-audit/spool"
    spool.mkdir(exist_ok=True)
    marker = mark_folding(str(spool))
    assert marker is not None
    yield
    os.close(marker)


def log(repository: Repository) -> list[dict[str, Any]]:
    text = (repository.path / ".ai-audit/annotations.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def annotated(repository: Repository) -> list[dict[str, Any]]:
    return [each for each in log(repository) if each["type"] in {"line", "function"}]


def assert_nothing_leaks(repository: Repository, cache: Path) -> None:
    """Search trail, git folder and cache for lines, and the trail for their hashes."""
    trail = repository.path / ".ai-audit"
    assert files_with(trail, SECRETS) == []
    assert files_with(repository.path / ".git", SECRETS) == []
    assert not cache.exists() or files_with(cache, SECRETS) == []
    kept = "\n".join(
        path.read_text(errors="replace") for path in trail.rglob("*") if path.is_file()
    )
    runs = [LINES[start:end] for start in range(4) for end in range(start + 1, 5)]
    hashes = {*map(range_hash, runs), sha256(SECRETS.encode())}
    assert not [each for each in hashes if each in kept]
    assert not list((trail / "spool/texts").glob("*"))


@pytest.mark.parametrize("path", ["old.env", "new.env", "sub/new.env"])
def test_a_recorded_edit_is_a_claim(
    repository: Repository, run_vibes: RunVibes, cache: Path, path: str
) -> None:
    repository.write(path, SECRETS)
    done = run_vibes(
        "record", "annotate", f"{path}:3-4", "--tool", "chat", "--model", "m", cwd=repository.path
    )
    assert done.json["withheld"] == ["anchors"]
    [record] = annotated(repository)
    assert not set(ANCHOR_MEMBERS) & set(record)
    shown = run_vibes("blame", path, "--json", cwd=repository.path).json
    assert [line["kind"] for line in shown["lines"]] == ["claimed", "claimed"]
    assert [each["state"] for each in shown["placements"]] == ["unverified"]
    repository.commit("Add secrets")
    shown = run_vibes("blame", path, "--json", cwd=repository.path).json
    assert [line["kind"] for line in shown["lines"]] == ["claimed", "claimed"]
    run_vibes("backfill", cwd=repository.path)
    run_vibes("find", "--json", cwd=repository.path)
    assert_nothing_leaks(repository, cache)


def test_functions_reviews_and_corrections(
    repository: Repository, run_vibes: RunVibes, cache: Path
) -> None:
    repository.write("new.env", SECRETS)
    with Recorder(repository.path) as recorder:
        request = RecordAnnotation(
            file="new.env",
            function=Function("password", LINES[2]),
            line_start=3,
            line_end=3,
            action="create",
            tool=TOOL,
            model=MODEL,
        )
        recorder.execute(request)
        identifier = recorder.annotate_lines("new.env", 3, 4, "create", BY).annotation_id
        assert identifier is not None
        recorder.execute(
            RecordReview(
                file="new.env",
                line_start=3,
                line_end=4,
                verdict=Verdict.APPROVED,
                reviewer="Bo Example",
            )
        )
        recorder.execute(
            Reanchor(annotation_id=identifier, file="new.env", line_start=2, line_end=4)
        )
        recorder.execute(MarkLost(annotation_id=identifier))
    for arguments in (("remap",), ("export", "--current", "../out"), ("export", "agent-trace")):
        done = run_vibes(*arguments, cwd=repository.path)
        assert done.code == 0, (arguments, done.err)
        assert not any(line in done.out for line in LINES[2:])
    assert files_with(repository.path.parent / "out", SECRETS) == []
    assert not any(set(ANCHOR_MEMBERS) & set(each) for each in annotated(repository))
    reviews = [each for each in log(repository) if each.get("edge_type") == "reviewed_by"]
    assert ["text" in each["metadata"] for each in reviews] == [False]
    assert_nothing_leaks(repository, cache)


def test_parts_of_an_inline_completion(repository: Repository, cache: Path) -> None:
    text = "import os\n\n" + LINES[3] + "\n"
    repository.write("new.env", text)
    with Recorder(repository.path) as recorder:
        for part, final in ((1, False), (2, True)):
            line = 1 + part
            request = RecordInlineCompletion(
                file="new.env",
                tool=TOOL,
                model=MODEL,
                completion_id="c1",
                range=Range(Position(line, 0), Position(line, 10)),
                new_text=LINES[2] + "\n",
                text=text,
                partial=Part(part, final),
            )
            recorder.execute(request)
            assert_nothing_leaks(repository, cache)
            text = text.replace(LINES[3], LINES[2] + "\n" + LINES[3], 1)
    assert [set(ANCHOR_MEMBERS) & set(each) for each in annotated(repository)] == [set()]


def hook(repository: Repository, tool: str, path: str, **members: Any) -> None:
    payload = {
        "session_id": "253351ad-f40e-4995-9e52-50dd25c9acd0",
        "cwd": repository.path.as_posix(),
        "hook_event_name": "PostToolUse",
        "tool_name": tool,
        "tool_use_id": f"{tool} {path}",
        "tool_input": {"file_path": (repository.path / path).as_posix(), **members},
        "tool_response": {"type": "create", "content": SECRETS, "originalFile": None},
    }
    store_event(json.dumps(payload).encode(), lambda: str(repository.path))


@pytest.mark.usefixtures("no_folding_process")
def test_events_of_an_agent(repository: Repository, cache: Path) -> None:
    directory = Recorder(repository.path).directory
    for path in ("new.env", "old.env"):
        repository.write(path, SECRETS)
        hook(repository, "Write", path, content=SECRETS)
        hook(repository, "Read", path)
        fold_events(directory)
    assert {each["file_path"] for each in annotated(repository)} == {"new.env", "old.env"}
    assert not any(set(ANCHOR_MEMBERS) & set(each) for each in annotated(repository))
    assert_nothing_leaks(repository, cache)


def test_a_knowledge_base_refuses_the_text(repository: Repository) -> None:
    knowledge = create_knowledge_base(repository.path)
    methods = KnowledgeMethods(knowledge, "agent")
    methods.call("kb.register_source_from_path", {"path": ".gitattributes"})
    with pytest.raises(InvalidObject, match="filter crypt"):
        methods.call("kb.register_source_from_path", {"path": "old.env"})
    evidence = [{"path": "old.env", "locator": "L3"}]
    proposed = methods.call("kb.propose_claim", {"text": "It has one", "evidence": evidence})
    assert "filter crypt" in str(proposed["errors"])
    lines = CitedLines("old.env", SECRETS.encode(), 3, 3)
    with pytest.raises(InvalidObject, match="filter crypt"):
        propose_claim_at(knowledge, lines, {"text": "It has one"}, actor="agent", now=utc_now())
    assert files_with(knowledge.path, SECRETS) == []


@pytest.mark.parametrize("program", ["strip", ""])
def test_a_filter_that_keeps_lines_changes_nothing(
    tmp_path: Path, run_vibes: RunVibes, program: str
) -> None:
    root = new_project(tmp_path / "project").root
    repository = Repository(root)
    add_filter(repository, "nbstripout", "*.ipynb", program=program)
    repository.write("a.ipynb", NOTEBOOK)
    repository.commit("Add a notebook")
    repository.write("a.ipynb", NOTEBOOK.replace("describe", "head"))
    with Recorder(root) as recorder:
        recorder.annotate_lines("a.ipynb", 7, 7, "modify", BY)
    [record] = annotated(repository)
    assert set(ANCHOR_MEMBERS) < set(record)
    repository.commit("Show the head")
    shown = run_vibes("blame", "a.ipynb", "--json", cwd=root).json
    assert [each["state"] for each in shown["placements"]] == ["exact"]
    assert "hidden-text" not in run_vibes("check", "--json", cwd=root).out


def test_check_and_doctor_say_what_a_trail_has(repository: Repository, run_vibes: RunVibes) -> None:
    repository.write("old.env", SECRETS)
    shutil.copy(repository.path / ".gitattributes", repository.path.parent)
    repository.write(".gitattributes", "")
    with Recorder(repository.path) as recorder:
        recorder.annotate_lines("old.env", 3, 4, "create", BY)
    shutil.copy(repository.path.parent / ".gitattributes", repository.path)
    repository.commit("Add secrets and their record")
    for is_locked in (False, True):
        if is_locked:
            blob = repository.git("cat-file", "blob", "HEAD:old.env")
            repository.write("old.env", blob)
        findings = [
            each
            for each in run_vibes("check", "--json", cwd=repository.path).json["findings"]
            if each["check"] == "hidden-text"
        ]
        assert [(each["severity"], each["line"], each["field"]) for each in findings] == [
            ("warning", 1, "anchor_context")
        ]
        assert "old.env" in findings[0]["message"]
        diagnosis = run_vibes("doctor", "old.env", cwd=repository.path).out
        assert "1 record has lines or hashes" in diagnosis
        assert "encrypted or elsewhere (filter crypt)" in diagnosis or is_locked
    exported = repository.path.parent / "exported"
    run_vibes("export", "--current", str(exported), cwd=repository.path)
    assert files_with(exported, SECRETS) == []

"""The trails that the server knows, and which documents each of them owns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types

from tests.trails import TrailWriter
from vibes_lsp.errors import OutdatedIndex
from vibes_lsp.lsp.protocol.open_documents import Documents
from vibes_lsp.lsp.state.document_state import DocumentState
from vibes_lsp.lsp.state.history_lookup import HistoryLookup, LookupRequest
from vibes_lsp.lsp.state.projects import Projects
from vibes_lsp.lsp.state.snapshots import DocumentSnapshot, HistorySnapshot, LookedUpFile
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail


def test_an_open_document_belongs_to_the_nearest_trail_alone(tmp_path: Path) -> None:
    documents = Documents()
    projects = Projects(documents)
    for folder, path in ((tmp_path, "a.py"), (tmp_path / "inner", "b.py")):
        TrailWriter(folder)
        documents.open((folder / path).as_uri(), 1, path)
    documents.open("untitled:x", 1, "x")
    owned = {}
    for uri in documents.uris()[:2]:
        found = projects.owner(uri)
        assert found is not None
        owned[found[1]] = [
            (path, document.content) for path, document in projects.opened_in(found[0])
        ]
    assert owned == {"a.py": [("a.py", "a.py")], "b.py": [("b.py", "b.py")]}


def test_a_trail_that_appears_nearer_takes_over_while_the_user_types(tmp_path: Path) -> None:
    text = "value = compute(1)\n"
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner/a.py").write_text(text)
    writer = TrailWriter(tmp_path)
    writer.environment()
    writer.line("inner/a.py", 1, 1)
    documents = Documents()
    projects, uri = Projects(documents), (tmp_path / "inner/a.py").as_uri()
    documents.open(uri, 1, text)

    def path() -> str | None:
        snapshot = projects.snapshot(uri)
        return None if snapshot is None else snapshot.path

    assert path() == "inner/a.py"
    TrailWriter(tmp_path / "inner")
    assert path() == "a.py"
    documents.set_typing(uri, now=True)
    assert path() == "a.py"


def test_a_trail_is_one_however_the_path_of_a_file_is_spelled(tmp_path: Path) -> None:
    TrailWriter(tmp_path)
    projects = Projects(Documents())
    plain, dotted = (
        projects.owner(f"{tmp_path.as_uri()}/{path}") for path in ("a.py", "inner/../a.py")
    )
    assert plain is not None
    assert plain == dotted
    assert len(projects.all()) == 1


def test_a_link_that_becomes_a_file_is_another_file(tmp_path: Path) -> None:
    writer = TrailWriter(tmp_path)
    writer.environment()
    text = "value = compute(1)\n"
    (tmp_path / "real.py").write_text(text)
    (tmp_path / "link.py").symlink_to("real.py")
    writer.line("real.py", 1, 1)
    documents = Documents()
    projects, uri = Projects(documents), (tmp_path / "link.py").as_uri()
    documents.open(uri, 1, text)

    def seen() -> tuple[str, int]:
        snapshot = projects.snapshot(uri)
        assert snapshot is not None
        return snapshot.path, len(snapshot.placements)

    assert seen() == ("real.py", 1)
    (tmp_path / "link.py").unlink()
    (tmp_path / "link.py").write_text(text)
    assert seen() == ("link.py", 0)


def test_two_open_documents_of_one_file_are_looked_up_once(tmp_path: Path) -> None:
    TrailWriter(tmp_path)
    (tmp_path / "real.py").write_text("one\n")
    (tmp_path / "link.py").symlink_to("real.py")
    documents = Documents()
    projects = Projects(documents)
    for name, text in (("real.py", "one\n"), ("link.py", "one\n"), ("./real.py", "other\n")):
        documents.open(f"{tmp_path.as_uri()}/{name}", 1, text)
    owner = projects.owner(documents.uris()[0])
    assert owner is not None
    coverage, opened = owner[0].coverage, projects.opened_in(owner[0])
    assert [path for path, _ in opened] == ["real.py"] * 3
    request = coverage.request(opened, {}, use_git=True)
    assert request is not None
    assert [*request.texts] == ["real.py"]
    coverage.cover(request)
    request = coverage.request(opened, {}, use_git=True)
    assert request is not None
    assert (request.texts, request.of_all_files) == ({}, True)
    coverage.cover(request)
    assert coverage.request(opened, {}, use_git=True) is None


def test_an_answer_without_a_history_lookup_is_provisional(
    tmp_path: Path,
) -> None:
    documents = Documents()
    projects = Projects(documents)
    TrailWriter(tmp_path)
    first, second = ((tmp_path / path).as_uri() for path in ("first.py", "second.py"))

    def provisional() -> list[bool]:
        return [
            view.is_provisional
            for uri in (first, second)
            if (view := projects.snapshot(uri)) is not None
        ]

    for uri in (first, second):
        documents.open(uri, 1, "")
    found = projects.owner(first)
    assert found is not None
    project, _ = found

    def look(*paths: str) -> None:
        opened = [each for each in projects.opened_in(project) if each[0] in paths]
        request = project.coverage.request(opened, {}, use_git=True)
        assert request is not None
        project.accept_history(
            request,
            HistorySnapshot(is_done=True, has_git=True, files=dict.fromkeys(paths, LookedUpFile())),
        )

    assert provisional() == [True, True]
    look("first.py")
    assert provisional() == [False, True]
    look("first.py", "second.py")
    assert provisional() == [False, False]
    documents.change(first, 2, [types.TextDocumentContentChangeWholeDocument("other")])
    assert provisional() == [False, False], "history is asked again once it is saved"
    documents.save(first)
    assert provisional() == [True, False]
    look("first.py", "second.py")
    writer = TrailWriter(tmp_path)
    writer.environment()
    writer.line("first.py", 1, 1, text=None)
    assert provisional() == [True, True], "a record may be about a text that is in git"


def test_an_outdated_index_is_refreshed_before_a_file_is_answered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    TrailWriter(tmp_path)
    (tmp_path / "a.py").write_text("x = 1\n")
    answer = DocumentState.snapshot
    failures = [OutdatedIndex("damaged")]

    def snapshot(*arguments: Any, **options: Any) -> DocumentSnapshot:
        if failures:
            raise failures.pop()
        return answer(*arguments, **options)

    monkeypatch.setattr(DocumentState, "snapshot", snapshot)
    opened, uri = Documents(), (tmp_path / "a.py").as_uri()
    opened.open(uri, 1, "x = 1\n")
    projects = Projects(opened)
    assert projects.snapshot(uri) is not None
    failures.append(OutdatedIndex("damaged"))
    document = opened.get(uri)
    assert document is not None
    document.change(2, [types.TextDocumentContentChangeWholeDocument("x = 2\n")], "utf-16")
    document.is_typing = True
    typed = projects.snapshot(uri)
    assert typed is not None, "while the user types, too"
    assert (typed.version, failures) == (2, [])


def test_an_index_that_a_thread_writes_is_not_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite would end the process."""
    TrailWriter(tmp_path)
    project = Projects(Documents()).refreshed(AuditDir(tmp_path / ".ai-audit"))
    closed: list[Trail] = []

    def close(trail: Trail) -> None:
        closed.append(trail)

    with monkeypatch.context() as patch:
        patch.setattr(Trail, "close", close)
        project.begin_indexing()
        project.close()
        assert project.trail not in closed
        project.end_indexing()
        project.close()
        assert project.trail in closed
    project.close()


def test_an_outdated_index_fails_no_lookup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failures = [OutdatedIndex("damaged")]

    def answer(*_: object) -> HistorySnapshot:
        if failures:
            raise failures.pop()
        return HistorySnapshot(is_done=True)

    monkeypatch.setattr(HistoryLookup, "_look_up", answer)
    TrailWriter(tmp_path)
    lookup = HistoryLookup(Trail(AuditDir(tmp_path / ".ai-audit")))
    assert lookup.look_up(LookupRequest()).is_done
    assert failures == []

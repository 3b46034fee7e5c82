"""Several folders and trails, documents that are no files, all line ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.exceptions import JsonRpcException

from tests.server.editor import Editor, Message
from tests.server.profiles import PROFILES
from tests.server.project import STORY, Project
from tests.server.sessions import as_folder, session
from tests.trails import Repository
from tests.unit.recording.projects import new_project

NOWHERE = (
    "untitled:Untitled-1",
    "untitled:{file}",
    "vscode-notebook-cell:{file}#W0sZmlsZQ%3D%3D",
    "git:{file}?%7B%22ref%22%3A%22HEAD%22%7D",
    "https://example.org{file}",
    "file:",
    "file://",
    "file:///%00",
    "file:///" + "deep/" * 2000,
    "file:///" + "long" * 2000 + ".py",
    "no uri at all",
    "%%%",
    "http://[",
    "",
)


def named(root: Path, name: str) -> Project:
    """Return a project of that name, with one annotation of `a.py`."""
    project = Project(root, project=name)
    project.config()
    project.environment(model=f"model-{name}")
    project.annotated()
    return project


async def models(editor: Editor, uri: str) -> list[str]:
    return [each["model"]["name"] for each in (await editor.provenance(uri))["placements"]]


async def first_project(editor: Editor) -> Any:
    return (await editor.run("vibes.check"))["project"]


async def lines(editor: Editor, uri: str) -> list[tuple[Any, Any, str]]:
    found = (await editor.provenance(uri))["placements"]
    return [(each["lineStart"], each["lineEnd"], each["state"]) for each in found]


async def test_each_folder_has_its_own_trail(tmp_path: Path) -> None:
    one, two = named(tmp_path / "one", "one"), named(tmp_path / "two", "two")
    async with session(tmp_path, [one.root, two.root]) as editor:
        for project in (one, two):
            assert await models(editor, editor.open(project.root / "a.py")) == [
                f"model-{project.project}"
            ]
        assert await first_project(editor) == "one"
        (identifier,) = (record["annotation_id"] for record in two.files.records())
        shown = await editor.run("vibes.show", {"id": identifier, "uri": two.root.as_uri()})
        assert shown["record"]["file_path"] == "a.py"


async def test_a_folder_without_a_trail_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    two = named(tmp_path / "two", "two")
    async with session(tmp_path, [tmp_path / "empty", tmp_path / "absent", two.root]) as editor:
        assert await first_project(editor) == "two"


async def test_the_nearest_trail_above_a_file_owns_it(editor: Editor, tmp_path: Path) -> None:
    outer, inner = (
        named(tmp_path / "outer", "outer"),
        named(tmp_path / "outer" / "lib" / "inner", "inner"),
    )
    outer.line("lib/inner/a.py", 4, 7, text=STORY)
    outer.annotated("lib/b.py")
    inner.annotated("deep/er/c.py")
    for path, name in (
        ("a.py", "outer"),
        ("lib/b.py", "outer"),
        ("lib/inner/a.py", "inner"),
        ("lib/inner/deep/er/c.py", "inner"),
    ):
        assert await models(editor, editor.open(outer.root / path)) == [f"model-{name}"]


async def test_a_trail_that_appears_nearer_takes_over(editor: Editor, tmp_path: Path) -> None:
    outer = named(tmp_path / "outer", "outer")
    uri = editor.open(outer.annotated("lib/a.py"))
    assert await models(editor, uri) == ["model-outer"]
    named(tmp_path / "outer" / "lib", "inner")
    assert await models(editor, uri) == ["model-inner"]


async def test_trails_outside_the_folders_are_watched_where_they_are_and_once(
    tmp_path: Path,
) -> None:
    above, aside = named(tmp_path / "above", "above"), named(tmp_path / "aside", "aside")
    file, inner = (
        above.annotated("lib/a.py"),
        named(tmp_path / "above/lib/inner", "inner").annotated("b.py"),
    )
    async with session(tmp_path, [file.parent]) as editor:
        await editor.client.until(lambda sent: above.files.audit.as_uri() in _watched(sent))
        for path in (
            file,
            inner,
            aside.annotated("c.py"),
            aside.annotated("d.py"),
            named(tmp_path / "last", "last").annotated("e.py"),
        ):
            editor.open(path)
        await editor.client.until(
            lambda sent: (tmp_path / "last/.ai-audit").as_uri() in _watched(sent)
        )
        watched = [place for sent in editor.client.sent for place in _watched(sent)]
        everywhere = "**/{.ai-audit,.git/ai-audit}/**"
        assert sorted(watched) == sorted(
            [
                everywhere,
                *((tmp_path / name / ".ai-audit").as_uri() for name in ("above", "aside", "last")),
            ]
        )


async def test_a_client_that_watches_only_its_folders_is_asked_for_no_more(tmp_path: Path) -> None:
    above = named(tmp_path / "above", "above")
    file = above.annotated("lib/a.py")
    able = types.DidChangeWatchedFilesClientCapabilities(dynamic_registration=True)
    async with session(tmp_path, [file.parent], watches=able) as editor:
        await editor.open_known(file)
        await editor.caught_up()
        assert [place for sent in editor.client.sent for place in _watched(sent)] == [
            "**/{.ai-audit,.git/ai-audit}/**"
        ]


async def test_what_waits_is_watched_in_the_folder_that_work_trees_share(tmp_path: Path) -> None:
    main = named(tmp_path / "main", "main")
    repository = Repository(main.root)
    repository.commit("Begin")
    repository.git("worktree", "add", "-q", str(tmp_path / "linked"))
    async with session(tmp_path, [tmp_path / "linked"]) as editor:
        shared = (main.root / ".git/ai-audit").resolve().as_uri()
        await editor.client.until(lambda sent: shared in _watched(sent))


def _watched(sent: Message) -> list[str]:
    """Return the patterns that a message asks the client to watch; of those that lie somewhere, where."""
    method, params = sent
    if method != types.CLIENT_REGISTER_CAPABILITY:
        return []
    watchers = [
        watcher
        for each in params.registrations
        if each.method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        for watcher in get_converter().unstructure(each.register_options)["watchers"]
    ]
    return [
        pattern if isinstance(pattern := watcher["globPattern"], str) else pattern["baseUri"]
        for watcher in watchers
    ]


async def test_a_file_outside_any_trail_has_nothing(editor: Editor, tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(STORY.encode())
    await nothing(editor, editor.open(file))


@pytest.mark.parametrize("form", NOWHERE, ids=lambda form: form[:24])
async def test_what_is_no_file_is_harmless(editor: Editor, project: Project, form: str) -> None:
    file = project.annotated()
    uri = editor.open_uri(form.replace("{file}", file.as_posix()), STORY)
    await nothing(editor, uri)
    editor.insert(uri, 0, "# one\n")
    editor.save(uri)
    editor.watched(file)
    await nothing(editor, uri)
    assert await lines(editor, file.as_uri()) == [(4, 7, "exact")]


async def nothing(editor: Editor, uri: str) -> None:
    assert await editor.hover_whole(uri, 4) is None
    assert await editor.lens_places(uri) == []
    assert await editor.diagnostics(uri) == []
    with pytest.raises(JsonRpcException, match="no audit directory owns") as caught:
        await editor.provenance(uri)
    assert caught.value.data == {"code": "audit-dir-not-found"}
    assert len(caught.value.message) < 400


async def test_a_folder_added_later_counts_and_one_removed_does_not(tmp_path: Path) -> None:
    one, two = named(tmp_path / "one", "one"), named(tmp_path / "two", "two")
    async with session(tmp_path, [one.root]) as editor:
        assert await first_project(editor) == "one"
        change(editor, added=[two.root], removed=[one.root])
        assert await first_project(editor) == "two"
        assert await models(editor, editor.open(two.root / "a.py")) == ["model-two"]
        change(editor, added=[one.root])
        assert await first_project(editor) == "two"


@pytest.mark.parametrize("profile", PROFILES)
async def test_when_all_folders_are_removed_none_is_left(tmp_path: Path, profile: str) -> None:
    one = named(tmp_path / "one", "one")
    async with session(tmp_path, [one.root], profile=profile) as editor:
        change(editor, removed=[one.root])
        for command, arguments in (("vibes.check", {}), ("vibes.show", {"id": "abcd"})):
            with pytest.raises(JsonRpcException, match="no workspace folder is open"):
                await editor.run(command, arguments)
        assert (await editor.run("vibes.check", {"uri": one.root.as_uri()}))["project"] == "one"


async def test_no_folder_at_first(tmp_path: Path) -> None:
    one = named(tmp_path / "one", "one")
    async with session(tmp_path, []) as editor:
        assert await models(editor, editor.open(one.root / "a.py")) == ["model-one"]
        with pytest.raises(
            JsonRpcException, match="no workspace folder is open; open the folder"
        ) as caught:
            await editor.run("vibes.check")
        assert caught.value.data == {"code": "audit-dir-not-found"}
        change(editor, added=[one.root])
        assert await first_project(editor) == "one"


def change(
    editor: Editor, *, added: list[Path] | None = None, removed: list[Path] | None = None
) -> None:
    event = types.WorkspaceFoldersChangeEvent(
        [as_folder(each) for each in added or []], [as_folder(each) for each in removed or []]
    )
    editor.client.workspace_did_change_workspace_folders(
        types.DidChangeWorkspaceFoldersParams(event)
    )


async def test_a_notebook_is_harmless(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated())
    notebook = (project.root / "n.ipynb").as_uri()
    cell = notebook.replace("file:", "vscode-notebook-cell:") + "#W0"
    item = types.TextDocumentItem(cell, "python", 1, STORY)
    document = types.NotebookDocument(
        notebook, "jupyter-notebook", 1, [types.NotebookCell(types.NotebookCellKind.Code, cell)]
    )
    editor.client.notebook_document_did_open(types.DidOpenNotebookDocumentParams(document, [item]))
    assert await editor.hover_whole(cell, 4) is None
    assert await editor.hover_whole(notebook, 4) is None
    closed = types.DidCloseNotebookDocumentParams(
        types.NotebookDocumentIdentifier(notebook), [types.TextDocumentIdentifier(cell)]
    )
    editor.client.notebook_document_did_close(closed)
    assert await lines(editor, uri) == [(4, 7, "exact")]


async def test_a_path_with_spaces_and_letters_of_all_kinds(editor: Editor, tmp_path: Path) -> None:
    project = Project(tmp_path / "mein Projekt 100% #1")
    project.config()
    project.environment()
    uri = editor.open(project.annotated("größe/漢字 & 😀.py"))
    (found,) = (await editor.provenance(uri))["placements"]
    assert (found["filePath"], found["state"]) == ("größe/漢字 & 😀.py", "exact")


async def test_a_file_that_is_not_utf_8(editor: Editor, project: Project) -> None:
    text = STORY.replace("import hashlib", "größe = 'Ä'").encode("latin-1")
    project.line("a.py", 4, 7, text=text)
    file = project.file("a.py", text)
    assert await lines(editor, file.as_uri()) == [(4, 7, "exact")]
    uri = editor.open(file, text.decode("utf-8", "replace"))
    assert await lines(editor, uri) == [(4, 7, "exact")]
    editor.close(uri)
    project.file("a.py", bytes(range(256)) * 40)
    assert await lines(editor, uri) == [(None, None, "lost")]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\n", "\r\n"),
        ("import hashlib", "\ufeffimport hashlib"),
        ("import hashlib", "import hashlib\x0c\x0b"),
        ("import hashlib", "x = '\u2028\u2029\x85\x1c'"),
        ("import hashlib", "x = '\0'"),
        ("import hashlib", "x = '😀'"),
    ],
    ids=["crlf", "bom", "form-feed", "separators", "nul", "astral"],
)
async def test_line_numbers_stay_right(
    editor: Editor, project: Project, before: str, after: str
) -> None:
    text = STORY.replace(before, after)
    file = project.annotated(text=text)
    assert await lines(editor, file.as_uri()) == [(4, 7, "exact")]
    uri = editor.open(file)
    assert await lines(editor, uri) == [(4, 7, "exact")]
    assert [await editor.hover_whole(uri, line) is not None for line in (3, 4, 7, 8)] == [
        False,
        True,
        True,
        False,
    ]
    editor.replace(uri, (1, 0), (1, 0), "# one\r\n# two\n")
    assert await lines(editor, uri) == [(6, 9, "moved")]
    assert (await editor.provenance(uri, lines=True))["lines"][0]["line"] == 6


async def test_a_byte_order_mark_that_the_editor_keeps_to_itself(
    editor: Editor, project: Project
) -> None:
    project.line("a.py", 1, 7, text=STORY)
    file = project.file("a.py", "\ufeff" + STORY)
    assert await lines(editor, editor.open(file)) == [(1, 7, "exact")]
    assert await lines(editor, editor.open(file, STORY)) == [(1, 7, "exact")]


async def test_line_ends_that_the_editor_changed(editor: Editor, project: Project) -> None:
    file = project.annotated(text=STORY.replace("\n", "\r\n"))
    assert await lines(editor, editor.open(file, STORY)) == [(4, 7, "exact")]


async def test_a_text_without_lines(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated(), "")
    assert await lines(editor, uri) == [(None, None, "lost")]
    editor.insert(uri, 0, STORY)
    assert await lines(editor, uri) == [(4, 7, "exact")]


async def test_an_edit_in_the_second_folder_has_a_session_of_its_own(tmp_path: Path) -> None:
    here, there = new_project(tmp_path / "here"), new_project(tmp_path / "there")
    async with session(tmp_path, [here.root, there.root]) as editor:
        started = await editor.run(
            "vibes.startSession",
            {
                "uri": here.root.as_uri(),
                "tool": {"name": "Some Tool", "version": "1"},
                "model": {"name": "some-model", "version": "1"},
            },
        )
        uri = editor.open(there.root / "a.py")
        answer = await editor.run(
            "vibes.recordAnnotation",
            {
                "uri": uri,
                "range": {
                    "start": {"line": 3, "character": 0},
                    "end": {"line": 5, "character": 1},
                },
                "action": "modify",
                "sessionId": started["sessionId"],
                "prompt": {"text": "Keep this private.", "type": "user_instruction"},
            },
        )
        assert (await models(editor, uri)) == ["some-model"]
    [line] = there.records("line")
    assert line == answer["record"]
    assert [each["session_id"] for each in there.records("session")] == [started["sessionId"]]
    assert there.entries("prompt") == {}
    assert here.records("line") == []

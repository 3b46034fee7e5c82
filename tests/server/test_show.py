"""What commands open in the client: changes, a prompt, a history, an audit record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from tests.server.project import STORY, Project, let_records_wait
from tests.trails import Repository
from vibes_lsp.recording import Model, Origin, Recorder, Tool

if TYPE_CHECKING:
    from tests.server.editor import Editor

VERIFIED: Final = {"verifiedLines": 8, "claimedLines": 0, "editedLines": 0}


@pytest.fixture
def changed(project: Project) -> Project:
    """A repository whose last commit has no line of an AI; since then there are two annotations of one prompt."""
    repository = Repository(project.root)
    project.file("a.py", "import hashlib\n")
    repository.commit("Begin")
    project.line("a.py", 4, 7, text=STORY, prompt=project.prompt("Write a [digest](command:evil)."))
    project.line("a.py", 10, 13, text=STORY, prompt=project.prompt("Compare."))
    project.file("a.py")
    return project


def document(editor: Editor) -> types.ShowDocumentParams:
    """Return what the client was asked to open last."""
    return editor.client.shown_documents[-1]


async def content(editor: Editor, uri: str) -> str:
    """Read a document as the client would: by asking for one of our scheme, else from the disk."""
    if uri.startswith("vibes:"):
        return (
            await editor.client.workspace_text_document_content_async(
                types.TextDocumentContentParams(uri)
            )
        ).text
    written = path_of_uri(uri).read_text(encoding="utf-8")
    assert (written[:5], written[-8:]) == ("\n" * 5, "\n" * 6 + "\f\n"), (
        "an editor would obey settings that stand at the ends of a prompt"
    )
    return written[5:-8]


def path_of_uri(uri: str) -> Path:
    return Path(url2pathname(urlsplit(uri).path))


async def check_shown(editor: Editor, answer: dict[str, Any]) -> None:
    """The text of an answer is what the client shows."""
    if editor.profile == "nothing":
        assert answer["uri"] is None
        assert editor.client.messages[-1].message.startswith("#")
        return
    assert answer["uri"] == document(editor).uri
    assert answer["uri"].startswith("vibes:/" if editor.profile == "vscode_current" else "file:")
    assert await content(editor, answer["uri"]) == answer["text"]


async def test_the_ai_lines_of_what_is_not_committed(editor: Editor, changed: Project) -> None:
    uri = await editor.open_known(changed.root / "a.py")
    answer = await editor.run("vibes.changes", {"uri": uri, "show": True})
    assert answer["total"] == {
        "files": 1,
        "changedLines": 12,
        **VERIFIED,
        "unreviewedLines": 8,
        "share": 0.6667,
    }
    (file,) = answer["files"]
    assert (file["uri"], file["filePath"], file["unreviewedLines"]) == (uri, "a.py", 8)
    assert [
        (each["lineStart"], each["lineEnd"], each["unreviewed"]) for each in file["ranges"]
    ] == [
        (4, 7, True),
        (10, 13, True),
    ]
    shown, code = answer["text"].split("\n"), STORY.split("\n")
    for each in file["ranges"]:
        count = each["lineEnd"] - each["lineStart"] + 1
        first = each["textLine"] - 1
        assert shown[first : first + count] == code[each["lineStart"] - 1 : each["lineEnd"]]
    assert "## `a.py`" in answer["text"]
    assert "Prompt: `Write a [digest](command:evil).`" in answer["text"]
    assert "```py\ndef digest(payload: bytes) -> str:\n" in answer["text"]
    await check_shown(editor, answer)


async def test_unsaved_text_counts_and_nothing_opens_unasked(
    editor: Editor, changed: Project
) -> None:
    uri = editor.open(changed.root / "a.py", "import hashlib\n")
    before = len(editor.client.shown_documents)
    answer = await editor.run("vibes.changes", {"uri": uri})
    assert (answer["uri"], answer["total"]["verifiedLines"]) == (None, 0)
    editor.change(uri, types.TextDocumentContentChangeWholeDocument(STORY))
    assert (await editor.run("vibes.changes", {"uri": uri, "base": "HEAD"}))["total"][
        "verifiedLines"
    ] == 8
    assert len(editor.client.shown_documents) == before


async def test_what_is_staged_is_the_next_commit_whatever_the_editor_has(
    editor: Editor, changed: Project
) -> None:
    uri = editor.open(changed.root / "a.py")
    root = {"uri": changed.root.as_uri(), "staged": True}
    nothing = await editor.run("vibes.changes", root)
    assert (nothing["total"]["files"], nothing["files"]) == (0, [])
    Repository(changed.root).git("add", "a.py")
    staged = await editor.run("vibes.changes", root)
    assert (staged["total"]["changedLines"], staged["total"]["unreviewedLines"]) == (12, 8)
    first = {"annotationIds": [staged["files"][0]["ranges"][0]["annotationId"]]}
    verdict = {"verdict": "approved", "reviewer": "Ada Example"}
    await editor.run("vibes.review", {"uri": uri, **first, **verdict})
    changed.file("a.py", "import hashlib\n")
    editor.change(uri, types.TextDocumentContentChangeWholeDocument("nothing = 1\n"))
    reviewed = await editor.run("vibes.changes", root)
    assert [each["unreviewed"] for each in reviewed["files"][0]["ranges"]] == [False, True]
    assert (reviewed["total"]["verifiedLines"], reviewed["total"]["unreviewedLines"]) == (8, 4)


async def test_code_cannot_end_its_block(editor: Editor, changed: Project) -> None:
    text = "````\n# heading\n\u202e[link](command:evil)\n"
    changed.line("evil.md", 1, 3, text=text)
    changed.file("evil.md", text)
    told = (await editor.run("vibes.changes", {"uri": changed.root.as_uri()}))["text"]
    assert "`````md\n````\n# heading\n\\u202e[link](command:evil)\n`````" in told


async def test_a_change_that_git_does_not_know_is_an_error(
    editor: Editor, project: Project
) -> None:
    uri = await editor.open_known(project.annotated())
    with pytest.raises(JsonRpcException, match="not in a git repository"):
        await editor.run("vibes.changes", {"uri": uri})
    Repository(project.root).commit("Begin")
    with pytest.raises(JsonRpcException, match="names no commit"):
        await editor.run("vibes.changes", {"uri": uri, "base": "nowhere"})


@pytest.mark.every_profile
async def test_a_prompt_is_shown_whole(editor: Editor, project: Project) -> None:
    asked = "Write a digest.\n" + "And more. " * 200 + "\n```\nthe end"
    identifier = project.line("a.py", 4, 7, text=STORY, prompt=project.prompt(asked))
    given = {"uri": await editor.open_known(project.file("a.py")), "annotationId": identifier}
    answer = await editor.run("vibes.showPrompt", given)
    assert answer["text"].startswith(f"# Prompt\n\n````\n{asked}\n````\n")
    await check_shown(editor, answer)
    await editor.set(prompts={"show": False})
    with pytest.raises(JsonRpcException, match="prompts are hidden"):
        await editor.run("vibes.showPrompt", given)


async def test_each_text_is_a_document_of_its_own(editor: Editor, changed: Project) -> None:
    """A client that has one open need not read it again when the next is shown."""
    uri = await editor.open_known(changed.root / "a.py")
    ids = [each["annotationId"] for each in (await editor.provenance(uri))["placements"]]
    first, second = [
        await editor.run("vibes.showPrompt", {"uri": uri, "annotationId": each}) for each in ids
    ]
    if editor.profile == "nothing":
        return
    assert first["uri"] != second["uri"]
    for answer in (first, second):
        assert answer["uri"].endswith("/prompt.md")
        assert await content(editor, answer["uri"]) == answer["text"]


async def test_a_client_that_shows_texts_itself_gets_them_unopened(
    editor: Editor, project: Project
) -> None:
    identifier = project.line("a.py", 4, 7, text=STORY, prompt=project.prompt("Tell a story."))
    uri = await editor.open_known(project.file("a.py"))
    given = {"uri": uri, "annotationId": identifier, "show": False}
    before = len(editor.client.shown_documents), len(editor.client.messages)
    for command in ("vibes.showPrompt", "vibes.showHistory"):
        answer = await editor.run(command, given)
        assert answer["uri"] is None
        assert "Tell a story." in answer["text"]
    assert (await editor.run("vibes.openRecord", given))["shown"] is False
    assert (len(editor.client.shown_documents), len(editor.client.messages)) == before


@pytest.mark.every_profile
async def test_a_history_names_every_record_and_what_was_there_before(
    editor: Editor, project: Project
) -> None:
    older = project.line("a.py", 5, 6, text=STORY, prompt=project.prompt("The older."))
    newer = project.line("a.py", 4, 7, text=STORY, prompt=project.prompt("The newer."))
    project.remap(newer, commit="a1" * 20)
    project.review(newer)
    given = {"uri": await editor.open_known(project.file("a.py")), "annotationId": newer}
    answer = await editor.run("vibes.showHistory", given)
    first, rest = answer["text"].split("## Records")
    assert "The newer." in first
    assert rest.count("- log line") == 2
    assert newer[:11] in rest
    assert "approved by `Ada`" in rest
    assert "The older." in rest
    assert older[:11] in rest
    await check_shown(editor, answer)


@pytest.mark.every_profile
async def test_the_audit_record_opens_at_its_line(editor: Editor, project: Project) -> None:
    project.line("b.py", 1, 2)
    identifier = project.line("a.py", 4, 7, text=STORY)
    answer = await editor.run(
        "vibes.openRecord",
        {"uri": await editor.open_known(project.file("a.py")), "annotationId": identifier},
    )
    log = project.root / ".ai-audit" / "annotations.jsonl"
    assert identifier in log.read_text(encoding="utf-8").splitlines()[answer["line"] - 1]
    assert answer["uri"] == log.as_uri()
    assert answer["shown"] == (editor.profile != "nothing")
    if answer["shown"]:
        place = document(editor).selection
        assert place is not None
        assert (document(editor).uri, place.start.line + 1) == (log.as_uri(), answer["line"])


async def test_a_record_that_waits_has_no_line_in_the_log(editor: Editor, project: Project) -> None:
    project.annotated()
    repository = Repository(project.root)
    repository.commit("Begin")
    let_records_wait(repository)
    by = Origin(tool=Tool("Some Tool", "1"), model=Model("some-model", "1"))
    file = project.file("a.py", STORY + "\n\nlast_line_of_the_story = 'they lived happily'\n")
    last = len(file.read_text(encoding="utf-8").splitlines())
    with Recorder(project.root) as recorder:
        identifier = recorder.annotate_lines("a.py", last, last, "create", by).annotation_id
    given = {"uri": await editor.open_known(file), "annotationId": identifier}
    with pytest.raises(JsonRpcException, match="waits for a commit"):
        await editor.run("vibes.openRecord", given)
    history = (await editor.run("vibes.showHistory", given))["text"]
    assert "- waits for a commit: " in history
    assert "log line" not in history


async def test_an_annotation_that_is_not_there_is_an_error(
    editor: Editor, project: Project
) -> None:
    uri = await editor.open_known(project.annotated())
    for command in ("vibes.showPrompt", "vibes.showHistory", "vibes.openRecord"):
        with pytest.raises(JsonRpcException, match="no annotation"):
            await editor.run(command, {"uri": uri, "annotationId": "ab" * 32})


async def test_a_text_that_is_not_kept_any_more_says_so(editor: Editor) -> None:
    assert "is no longer available. Ask for it again" in await content(
        editor, "vibes:/0/changes.md"
    )


async def test_the_versions_of_a_changed_file_are_documents(
    editor: Editor, changed: Project
) -> None:
    uri = await editor.open_known(changed.root / "a.py")
    (file,) = (await editor.run("vibes.changes", {"uri": uri}))["files"]
    assert (file["uri"], file["filePath"]) == (uri, "a.py")
    assert (file["changedLines"], file["verifiedLines"]) == (12, 8)
    assert "headUri" not in file, "the work tree is the file itself"
    assert await content(editor, file["baseUri"]) == "import hashlib\n"

    head = Repository(changed.root).commit("Add two functions")
    (file,) = (await editor.run("vibes.changes", {"uri": uri, "base": f"{head}^!"}))["files"]
    assert await content(editor, file["baseUri"]) == "import hashlib\n"
    assert await content(editor, file["headUri"]) == STORY


async def test_a_first_commit_is_compared_with_nothing(editor: Editor, project: Project) -> None:
    uri = await editor.open_known(project.annotated())
    head = Repository(project.root).commit("Begin")
    (file,) = (await editor.run("vibes.changes", {"uri": uri, "base": f"{head}^!"}))["files"]
    assert "baseUri" not in file
    assert await content(editor, file["headUri"]) == STORY


async def test_a_document_that_git_does_not_have_says_so(editor: Editor, changed: Project) -> None:
    uri = await editor.open_known(changed.root / "a.py")
    (file,) = (await editor.run("vibes.changes", {"uri": uri}))["files"]
    before = file["baseUri"].partition("=")[0]
    for blob in ("0" * 40, "HEAD", "..", "-p", ""):
        assert "is no longer available" in await content(editor, f"{before}={blob}")


async def test_a_history_can_be_plain_text_that_is_not_opened(
    editor: Editor, project: Project
) -> None:
    identifier = project.line(
        "a.py", 4, 7, text=STORY, prompt=project.prompt("# Write `a`\u202e\ndigest.")
    )
    uri = await editor.open_known(project.file("a.py"))
    before = len(editor.client.shown_documents)
    given = {"uri": uri, "annotationId": identifier, "show": False, "format": "plaintext"}
    answer = await editor.run("vibes.showHistory", given)
    assert answer["uri"] is None
    assert "PROMPT\n\n    # Write `a`\\u202e\n    digest.\n" in answer["text"]
    assert f"record {identifier}" in answer["text"]
    assert "**" not in answer["text"]
    assert len(editor.client.shown_documents) == before

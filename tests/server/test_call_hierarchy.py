"""Call hierarchy: what caused an edit comes in, what came of it goes out; every item opens something."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from lsprotocol import types

from tests.server.editor import Editor, Message, without_age
from tests.server.profiles import members_of
from tests.server.project import STORY, Project
from tests.server.wire import Wire

if TYPE_CHECKING:
    from pathlib import Path

    from tests.trails import CompleteTrail

Item = types.CallHierarchyItem


async def prepared(editor: Editor, uri: str, line: int, character: int = 0) -> list[Item]:
    """Return the items at a 1-based line, once the client may ask for them."""
    if editor.profile == "vscode_current":
        await editor.client.until(_registers_it)
    params = types.CallHierarchyPrepareParams(
        types.TextDocumentIdentifier(uri), types.Position(line - 1, character)
    )
    return list(await editor.client.text_document_prepare_call_hierarchy_async(params) or [])


def _registers_it(message: Message) -> bool:
    return message[0] == types.CLIENT_REGISTER_CAPABILITY and any(
        each.method == types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY
        for each in message[1].registrations
    )


async def causes(editor: Editor, item: Item) -> list[Item]:
    params = types.CallHierarchyIncomingCallsParams(item)
    found = await editor.client.call_hierarchy_incoming_calls_async(params) or []
    assert all(list(each.from_ranges) == [each.from_.selection_range] for each in found)
    return [each.from_ for each in found]


async def effects(editor: Editor, item: Item) -> list[Item]:
    params = types.CallHierarchyOutgoingCallsParams(item)
    return [
        each.to for each in await editor.client.call_hierarchy_outgoing_calls_async(params) or []
    ]


def names(items: list[Item]) -> list[str]:
    return [each.name for each in items]


def line_at(item: Item) -> str:
    """Return the text of the line that an item opens."""
    path = url2pathname(unquote(urlsplit(item.uri).path))
    with open(path, encoding="utf-8") as file:  # noqa: PTH123  # a URI
        return file.read().splitlines()[item.selection_range.start.line]


async def test_what_caused_an_edit_and_who_reviewed_it(
    editor: Editor, trail: CompleteTrail
) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    (item,) = await prepared(editor, uri, 2)
    assert (item.name, item.uri) == ("create auth.py:1-8", uri)
    assert without_age(item.detail or "") == "claude-opus-4-5 · AGE"
    incoming = await causes(editor, item)
    assert [
        (each.name, without_age(each.detail or "").rpartition(" · ")[0]) for each in incoming
    ] == [
        ("prompt: Create a sign-up check for email and password.", "caused"),
        ("command: src/auth.py", "wrote"),
        ("decision: How to check an address", "decided"),
        ("reasoning: An address needs one @ and a dot after it.", "led to"),
        ("session: Sign-up", "made · lead"),
    ]
    keys = [trail.prompt, trail.command, trail.decision, trail.reasoning, trail.session]
    for each, key in zip(incoming, keys, strict=True):
        assert f'"{key}"' in line_at(each)
    (reviewer,) = await effects(editor, item)
    assert without_age(reviewer.detail or "") == "approved by · Ada · AGE"
    assert '"session"' in line_at(reviewer)


async def test_a_prompt_leads_to_its_ranges_where_they_are_now(
    editor: Editor, project: Project
) -> None:
    prompt = project.prompt("Write them.")
    project.line("a.py", 4, 7, text=STORY, prompt=prompt)
    project.line("b.py", 10, 13, text=STORY, prompt=prompt)
    gone = project.line("gone.py", 4, 7, text=STORY, prompt=prompt)
    project.line("../outside.py", 1, 1, prompt=prompt)
    project.file("b.py", "# above\n" + STORY)
    uri = editor.open(project.file("a.py"))
    editor.insert(uri, 0, "# one\n")
    (item,) = await prepared(editor, uri, 5)
    (cause,) = await causes(editor, item)
    found = await effects(editor, cause)
    assert names(found)[:2] == ["create a.py:5-8", "create b.py:11-14"]
    assert [(each.range.start.line, each.range.end.line) for each in found[:2]] == [
        (4, 7),
        (10, 13),
    ]
    assert gone in line_at(found[2])
    assert (found[2].detail or "").endswith("not found now")
    assert len(found) == 4


async def test_sessions_lead_to_those_they_delegated_to_and_to_edits(
    editor: Editor, trail: CompleteTrail
) -> None:
    uri = editor.open(trail.root / "src/middleware.py")
    (item,) = await prepared(editor, uri, 5)
    session = next(each for each in await causes(editor, item) if each.name.startswith("session"))
    assert "create middleware.py:1-6" in names(await effects(editor, session))
    (parent,) = [each for each in await causes(editor, session) if each.name == "session: Sign-up"]
    assert session.name in names(await effects(editor, parent))


async def test_records_and_entries_in_audit_files_have_one(
    editor: Editor, trail: CompleteTrail
) -> None:
    log = trail.root / ".ai-audit/annotations.jsonl"
    lines = log.read_text(encoding="utf-8").splitlines()
    number = next(at for at, line in enumerate(lines, 1) if trail.created in line)
    uri = editor.open(log)
    (edit,) = await prepared(editor, uri, number)
    assert edit.name == "create auth.py:1-8"
    column = lines[number - 1].index(str(trail.prompt)) + 3
    (prompt,) = await prepared(editor, uri, number, column)
    assert prompt.name.startswith("prompt: Create a sign-up check")
    assert await prepared(editor, editor.open(trail.root / ".ai-audit/config.json"), 1) == []


async def test_there_is_none_at_a_persons_line_nor_of_what_is_gone(
    editor: Editor, trail: CompleteTrail
) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    assert await prepared(editor, uri, 10) == []
    assert await prepared(editor, "untitled:x", 1) == []
    nowhere = types.Range(types.Position(0, 0), types.Position(0, 0))
    for data in (None, {"id": "gone" * 16, "uri": uri}, {"id": 7, "uri": uri}, {"id": "x"}):
        item = Item("x", types.SymbolKind.String, uri, nowhere, nowhere, data=data)
        assert await causes(editor, item) == []


async def test_a_cycle_is_walked_one_step_at_a_time(editor: Editor, project: Project) -> None:
    one = project.line("a.py", 4, 7, text=STORY)
    two = project.line("a.py", 10, 13, text=STORY)
    for source, target in ((one, two), (two, one), (one, one)):
        project.edge("informed_by", source, target, target_type="annotation")
    uri = editor.open(project.file("a.py"))
    (item,) = await prepared(editor, uri, 5)
    for expected in ("create a.py:10-13", "create a.py:4-7", "create a.py:10-13"):
        (item,) = await causes(editor, item)
        assert item.name == expected


def test_a_client_that_can_limit_it_gets_it_for_audit_files_only(
    trail: CompleteTrail, tmp_path: Path
) -> None:
    for profile, is_static in (("vscode_current", False), ("neovim", True), ("nothing", True)):
        with Wire(tmp_path / profile) as wire:
            found = wire.initialize(trail.root, members_of(profile))
            assert bool(found.get("callHierarchyProvider")) is is_static
            if not is_static:
                registered = _registration(wire, "textDocument/prepareCallHierarchy")
                assert registered == [{"pattern": "**/.ai-audit/**"}]


def _registration(wire: Wire, method: str) -> object:
    """Return the selector that the server registers a method with; other requests get null."""
    while True:
        message = wire.receive()
        if "id" in message and "method" in message:
            is_question = message["method"] == "workspace/configuration"
            wire.send(id=message["id"], result=[None] if is_question else None)
            for each in message["params"].get("registrations", ()):
                if each["method"] == method:
                    return each["registerOptions"]["documentSelector"]

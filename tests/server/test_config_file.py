"""`config.json` in an editor: completion, hover and findings from the published schema, as it is typed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from lsprotocol import types

from tests.server.editor import Editor
from tests.server.profiles import encoded
from tests.server.project import Project
from tools.docs.json_schemas import schemas

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = schemas()["config.schema.json"]
SOUND = '"standard":"VIBES","standard_version":"1.0","assurance_level":"low","project_name":"p"'


@pytest.fixture
def config(project: Project) -> Path:
    return project.root / ".ai-audit/config.json"


async def complete(editor: Editor, file: Path, text: str) -> list[types.CompletionItem]:
    """Return what can be written at `|` of a text."""
    before, _, after = text.partition("|")
    uri = editor.open(file, before + after)
    column = encoded(before.split("\n")[-1], editor.profile)
    found = await editor.client.text_document_completion_async(
        types.CompletionParams(
            types.TextDocumentIdentifier(uri), types.Position(before.count("\n"), column)
        )
    )
    editor.close(uri)
    return list(found.items if isinstance(found, types.CompletionList) else found or ())


def labels(found: list[types.CompletionItem]) -> list[str]:
    return [each.label for each in found]


def applied(text: str, item: types.CompletionItem) -> Any:
    """Return what a text of one line without other than ASCII is, once an item is accepted."""
    edit = item.text_edit
    assert isinstance(edit, types.TextEdit)
    plain = text.replace("|", "")
    written = edit.new_text
    if item.insert_text_format == types.InsertTextFormat.Snippet:
        head, _, rest = written.partition("${1:")
        inner, _, tail = rest.partition("}")
        written = f"{head}{inner}{tail}"
    return json.loads(
        plain[: edit.range.start.character] + written + plain[edit.range.end.character :]
    )


async def test_every_member_of_the_schema_is_offered_until_it_is_there(
    editor: Editor, config: Path
) -> None:
    assert labels(await complete(editor, config, "{|}")) == list(SCHEMA["properties"])
    found = await complete(editor, config, '{"standard": "VIBES", "durability": "full", "|"}')
    assert set(SCHEMA["properties"]) - set(labels(found)) == {"standard", "durability"}
    for each in found:
        assert each.documentation == SCHEMA["properties"][each.label]["description"]
        assert each.filter_text == f'"{each.label}"'


async def test_what_is_accepted_is_valid(editor: Editor, config: Path) -> None:
    text = '{"standard": "VIBES", "|"}'
    for each in await complete(editor, config, text):
        members = applied(text, each)
        assert list(members) == ["standard", each.label]
        default = SCHEMA["properties"][each.label].get("default")
        assert default in (None, members[each.label])
    before = '{"assu|" "project_name": "p"}'
    item = next(each for each in await complete(editor, config, before) if each.label == "backfill")
    assert applied(before, item) == {"backfill": {}, "project_name": "p"}
    renamed = '{"assu|": "high"}'
    found = await complete(editor, config, renamed)
    item = next(each for each in found if each.label == "assurance_level")
    assert applied(renamed, item) == {"assurance_level": "high"}


async def test_values_and_nested_members(editor: Editor, config: Path) -> None:
    async def offered(text: str) -> list[str]:
        return labels(await complete(editor, config, text))

    assert await offered('{"assurance_level": |}') == ['"low"', '"medium"', '"high"']
    assert await offered('{"durability": "f|"}') == ['"normal"', '"full"']
    assert await offered('{"risk_scoring": {"enabled": |') == ["true", "false"]
    assert await offered('{"ä😀": "ä😀", "backfill": {"|"}}') == ["when"]
    bands = '{"risk_scoring": {\n  "thresholds": {"low": 0, "|"}\n}}'
    assert await offered(bands) == ["medium", "high", "critical"]
    rule = '{"risk_scoring": {"review_rules": [{"condition": "x", "action": "|"}]}}'
    assert await offered(rule) == ['"flag"', '"require_review"', '"block"']
    assert "temperature" in await offered('{"risk_scoring": {"weights": {|')
    for nothing in ("|", "{} |", '{"project_name": "|"}', '{"unknown": {"|"}}', '{"standard" |'):
        assert await offered(nothing) == [], nothing


async def test_nothing_is_offered_in_other_files(editor: Editor, project: Project) -> None:
    assert await complete(editor, project.root / "config.json", "{|}") == []
    assert await complete(editor, project.root / ".ai-audit/manifest.json", "{|}") == []


async def test_a_hover_says_what_a_member_is_for(editor: Editor, config: Path) -> None:
    text = f'{{{SOUND},\n"risk_scoring": {{"thresholds": {{"high": 0.5}}, "enabled": false}}}}'
    uri = editor.open(config, text)
    said = await editor.hover(uri, 1, text.index("low") + 1)
    assert SCHEMA["properties"]["assurance_level"]["description"] in said
    assert "medium" in said.splitlines()[-1]
    second = text.split("\n")[1]
    found = await editor.hover_whole(uri, 2, second.index("high") + 1)
    assert found is not None
    assert found.range is not None
    assert isinstance(found.contents, types.MarkupContent)
    assert "risk_scoring.thresholds.high" in found.contents.value
    assert "default 0.6" in found.contents.value
    assert second[found.range.start.character : found.range.end.character] == '"high"'
    assert await editor.hover_whole(uri, 2, second.index("{")) is None


async def test_findings_are_those_of_the_text_that_is_open(editor: Editor, config: Path) -> None:
    wrong = f'{{{SOUND},\n  "durability": "often",\n  "risk_scoring": {{"thresholds": {{"high": 2}}}}\n}}'
    uri = editor.open(config, f"{{{SOUND}}}")
    assert await editor.diagnostics(uri) == []
    editor.change(uri, types.TextDocumentContentChangeWholeDocument(wrong))
    found = await editor.diagnostics(uri)
    lines = wrong.split("\n")
    marked = {
        lines[each.range.start.line][each.range.start.character : each.range.end.character]
        for each in found
    }
    assert marked == {'"durability"', '"high"'}
    assert all("expected" in each.message for each in found)
    after = len(editor.client.sent)
    editor.change(uri, types.TextDocumentContentChangeWholeDocument('{"standard": '))
    if editor.pulls:  # it may not ask by itself at each key
        await editor.asked(types.WORKSPACE_DIAGNOSTIC_REFRESH, after=after)
    assert [each.code for each in await editor.diagnostics(uri)] == ["config-json"]


def test_all_that_the_schema_declares_is_described() -> None:
    def undescribed(node: dict[str, Any], path: str) -> list[str]:
        found = [] if "description" in node else [path]
        members = {**node.get("properties", {}), **node.get("items", {}).get("properties", {})}
        for name, child in members.items():
            found += undescribed(child, f"{path}.{name}")
        return found

    assert undescribed(SCHEMA, "") == []

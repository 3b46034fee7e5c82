"""Inside the audit files, and from code to them: definition, references, links, hover, symbols, selection."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from lsprotocol import types

from tests.server.editor import Editor, without_age
from tests.server.project import MOSTLY_CRITICAL, STORY, Project
from tests.trails import Repository

if TYPE_CHECKING:
    from tests.trails import CompleteTrail


def place(file: Path, text: str, occurrence: str | None = None) -> types.Position:
    """Return where a text begins in a file, on the first line that also has another one."""
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines()):
        if text in line and (occurrence or "") in line:
            return types.Position(number, line.index(text) + 1)
    raise AssertionError(f"{text} is not in {file}")


async def definitions(editor: Editor, uri: str, at: types.Position) -> list[tuple[str, int]]:
    """Return file names and 1-based lines."""
    params = types.DefinitionParams(types.TextDocumentIdentifier(uri), at)
    found = await editor.client.text_document_definition_async(params) or []
    assert isinstance(found, list)
    return [
        (_name(each), each.range.start.line + 1)
        for each in found
        if isinstance(each, types.Location)
    ]


def _name(found: types.Location) -> str:
    return found.uri.rpartition("/")[2]


def line_of(file: Path, text: str) -> int:
    return place(file, text).line + 1


@pytest.fixture
def log(trail: CompleteTrail) -> Path:
    return trail.root / ".ai-audit/annotations.jsonl"


@pytest.fixture
def manifest(trail: CompleteTrail) -> Path:
    return trail.root / ".ai-audit/manifest.json"


async def test_from_an_ais_line_to_its_record_and_back(
    editor: Editor, trail: CompleteTrail, log: Path
) -> None:
    code = editor.open(trail.root / "src/auth.py")
    record = ("annotations.jsonl", line_of(log, f'"annotation_id":"{trail.created}"'))
    assert await definitions(editor, code, types.Position(1, 0)) == [record]
    assert await definitions(editor, code, types.Position(6, 2)) == [record]
    name = types.Position(5, 6)
    assert await definitions(editor, code, name) == []
    assert await definitions(editor, code, types.Position(9, 0)) == []
    uri = editor.open(log)
    back = types.Position(record[1] - 1, 0)
    assert await definitions(editor, uri, back) == [("auth.py", 1)]
    editor.insert(code, 0, "# one\n")
    assert await definitions(editor, uri, back) == [("auth.py", 2)]
    assert await definitions(editor, uri, place(log, trail.created)) == [("auth.py", 2)]


async def test_from_a_hash_to_its_entry_and_from_there_to_the_lines(
    editor: Editor, trail: CompleteTrail, log: Path, manifest: Path
) -> None:
    uri, prompt = editor.open(log), str(trail.prompt)
    entry = ("manifest.json", line_of(manifest, prompt))
    assert await definitions(editor, uri, place(log, prompt, trail.created)) == [entry]
    stored = editor.open(manifest)
    lines = {("auth.py", 1), ("auth.py", 11), ("auth.py", 6)}
    assert set(await definitions(editor, stored, place(manifest, prompt))) == lines
    assert set(await definitions(editor, stored, place(manifest, "Create a sign-up"))) == lines


async def test_from_an_edge_to_its_ends(editor: Editor, trail: CompleteTrail, log: Path) -> None:
    uri = editor.open(log)
    edge = trail.causes[0]
    source = place(log, trail.created, edge)
    assert await definitions(editor, uri, source) == [
        ("annotations.jsonl", line_of(log, f'"annotation_id":"{trail.created}"'))
    ]
    assert await definitions(editor, uri, types.Position(9999, 0)) == []


async def test_references_of_an_entry_and_of_a_session(
    editor: Editor, trail: CompleteTrail, log: Path, manifest: Path
) -> None:
    async def references(uri: str, at: types.Position) -> set[tuple[str, int]]:
        context = types.ReferenceContext(include_declaration=True)
        params = types.ReferenceParams(context, types.TextDocumentIdentifier(uri), at)
        found = await editor.client.text_document_references_async(params) or []
        return {(_name(each), each.range.start.line + 1) for each in found}

    stored = editor.open(manifest)
    assert await references(stored, place(manifest, str(trail.prompt))) == {
        ("auth.py", 1),
        ("auth.py", 6),
        ("auth.py", 11),
    }
    assert await references(stored, place(manifest, trail.decision)) == {("auth.py", 1)}
    assert ("middleware.py", 1) in await references(
        editor.open(log), place(log, trail.worker_session, '"start"')
    )


async def test_ranges_of_a_session_where_no_prompt_is_recorded(
    editor: Editor, project: Project
) -> None:
    session = project.session_start()
    project.line("a.py", 4, 7, text=STORY, session=session)
    project.line("b.py", 10, 13, text=STORY, session=session)
    project.line("c.py", 4, 7, text=STORY)
    for name in "bc":
        project.file(f"{name}.py")
    uri = editor.open(project.file("a.py"))
    params = types.ReferenceParams(
        types.ReferenceContext(include_declaration=True),
        types.TextDocumentIdentifier(uri),
        types.Position(4, 0),
    )
    found = await editor.client.text_document_references_async(params) or []
    assert [(_name(each), each.range.start.line + 1) for each in found] == [
        ("a.py", 4),
        ("b.py", 10),
    ]


async def test_links_lead_to_entries_and_files_of_the_project_only(
    editor: Editor, project: Project, tmp_path: Path
) -> None:
    prompt = project.prompt("Write them.")
    (tmp_path / "secret.py").write_text(STORY, encoding="utf-8")
    project.file("a.py")
    (project.root / "link.py").symlink_to(tmp_path / "secret.py")
    for path in ("a.py", "../secret.py", "link.py", "missing.py", "/etc/passwd", "x" * 300):
        project.line(path, 4, 7, prompt=prompt)
    log = project.root / ".ai-audit/annotations.jsonl"
    uri = editor.open(log)
    params = types.DocumentLinkParams(types.TextDocumentIdentifier(uri))
    found = await editor.client.text_document_document_link_async(params) or []
    assert [each.target for each in found if each.target] == [(project.root / "a.py").as_uri()]
    text = log.read_text(encoding="utf-8").splitlines()
    named = {
        text[each.range.start.line][each.range.start.character : each.range.end.character]
        for each in found
    }
    environment = str(project.last_environment)
    assert named == {"a.py", prompt, environment}
    lazy = next(each for each in found if not each.target)
    resolved = await editor.client.document_link_resolve_async(lazy)
    manifest = project.root / ".ai-audit/manifest.json"
    assert resolved.target == f"{manifest.as_uri()}#L{line_of(manifest, environment)}"
    gone = types.DocumentLink(lazy.range, data={"uri": uri, "id": "0" * 64})
    assert (await editor.client.document_link_resolve_async(gone)).target is None
    code = types.DocumentLinkParams(
        types.TextDocumentIdentifier(editor.open(project.root / "a.py"))
    )
    assert not await editor.client.text_document_document_link_async(code)


async def test_a_hover_explains_ids_and_records(
    editor: Editor, trail: CompleteTrail, log: Path, manifest: Path
) -> None:
    uri = editor.open(log)

    async def hover(document: str, at: types.Position) -> str:
        return without_age(await editor.hover(document, at.line + 1, at.character))

    strong = "**prompt**" if editor.marks else "prompt"
    said = await hover(uri, place(log, str(trail.prompt), trail.created))
    assert said.startswith(f"{strong} · AGE")
    assert "> Create a sign-up check" in said
    assert "3 edits came of it" in said
    code = "`src/auth.py`" if editor.marks else "src/auth.py"
    record = types.Position(line_of(log, f'"annotation_id":"{trail.created}"') - 1, 0)
    said = await hover(uri, record)
    assert said.startswith(f"Now at {code}:1-8")
    assert "claude-opus-4-5" in said
    said = await hover(uri, place(log, trail.worker_session, '"line"'))
    assert "session" in said.splitlines()[0]
    said = await hover(editor.open(manifest), place(manifest, "How to check"))
    assert "decision" in said.splitlines()[0]


async def test_a_hover_explains_environments_edges_and_reviews(
    editor: Editor, project: Project
) -> None:
    project.annotated()
    created = str(list(project.files.records())[-1]["annotation_id"])
    project.review(created, verdict="rejected", note="Too *short*.")
    log = project.files.log
    uri = editor.open(log)

    async def hover(text: str, occurrence: str) -> list[str]:
        at = place(log, text, occurrence)
        said = without_age(await editor.hover(uri, at.line + 1, at.character))
        return said.replace("**", "").replace("`", "").replace("\n\n", "\n").splitlines()

    assert await hover(str(project.last_environment), '"line"') == [
        "environment · AGE",
        "> Claude Code 1.5.2, claude-opus-4-5 20251101",
    ]
    review = await hover('"type"', '"reviewed_by"')
    session = next(
        str(each["target_ref"]) for each in project.files.records() if "target_ref" in each
    )
    note = "Too \\*short\\*." if editor.marks else "Too *short*."
    assert review[:2] == [
        f"annotation {created[:8]} reviewed by session {session[:8]}",
        f"rejected by Ada: “{note}”",
    ]
    assert review[2].startswith("Now at a.py:4-7")


async def test_a_record_that_was_superseded(editor: Editor, project: Project) -> None:
    older = project.line("a.py", 4, 7, text=STORY)
    newer = project.line("a.py", 4, 7, text=STORY, action="rebase_remap", commit="c0ffee" * 6)
    reason = {"reason": "commit"}
    project.edge("supersedes", newer, older, target_type="annotation", metadata=reason)
    project.file("a.py")
    log = project.files.log
    uri = editor.open(log)
    titles = ["superseded, now at a.py:4-7, exact", "now at a.py:4-7, exact"]
    assert [title for _, title in await editor.lenses(uri)] == titles
    said = await editor.hover(uri, line_of(log, f'"annotation_id":"{older}"'))
    code = f"`{newer[:8]}`" if editor.marks else newer[:8]
    assert said.startswith(f"Superseded by the record {code} of the same edit")
    assert "Superseded" not in await editor.hover(uri, line_of(log, f'"annotation_id":"{newer}"'))
    for each in (older, newer):
        record = ("annotations.jsonl", line_of(log, f'"annotation_id":"{each}"'))
        assert await definitions(editor, uri, place(log, each, '"edge"')) == [record]
        own = types.Position(record[1] - 1, 0)
        assert await definitions(editor, uri, own) == [("a.py", 4)]


@pytest.mark.parametrize("is_open", [True, False])
async def test_a_file_that_was_renamed_by_a_commit(
    editor: Editor, project: Project, is_open: bool
) -> None:
    """Lines and functions are found from the log, whether the file is open or only the log."""
    prompt = project.prompt("Write them.")
    project.line("before.py", 4, 7, text=STORY, prompt=prompt)
    project.function("before.py", "same", text=STORY, lines=(10, 13), prompt=prompt)
    project.file("before.py")
    other = project.annotated("other.py", prompt=prompt)
    repository = Repository(project.root)
    repository.commit("Add files")
    repository.git("mv", "before.py", "after.py")
    repository.commit("Rename a file")
    log = project.files.log
    uri = editor.open(log)
    wanted = [("after.py", 4)]
    start = len(editor.client.sent)
    opened = await editor.open_known(project.root / "after.py" if is_open else other)
    while await definitions(editor, uri, types.Position(_line(log, '"line"'), 0)) != wanted:
        await editor.told(opened, after=start)
        start = len(editor.client.sent)
    assert await definitions(editor, uri, types.Position(_line(log, '"function"'), 0)) == [
        ("after.py", 10)
    ]
    assert [title for _, title in await editor.lenses(uri)] == [
        "now at after.py:4-7, exact",
        "now at after.py:10-13, exact",
        "now at other.py:4-7, exact",
    ]
    code = "`after.py`" if editor.marks else "after.py"
    said = await editor.hover(uri, _line(log, '"function"') + 1)
    assert f"Now at {code}:10-13" in said
    assert "moved from " in said
    assert "other lines" not in said
    links = types.DocumentLinkParams(types.TextDocumentIdentifier(uri))
    found = await editor.client.text_document_document_link_async(links) or []
    assert {_base(each.target) for each in found if each.target} == {"after.py", "other.py"}
    at = types.Position(_line(log, '"function"'), 0)
    context = types.ReferenceContext(include_declaration=True)
    params = types.ReferenceParams(context, types.TextDocumentIdentifier(uri), at)
    references = await editor.client.text_document_references_async(params) or []
    assert sorted((_name(each), each.range.start.line + 1) for each in references) == [
        ("after.py", 4),
        ("after.py", 10),
        ("other.py", 4),
    ]


def _line(file: Path, kind: str) -> int:
    """Return the 0-based line of the first record of a kind."""
    return place(file, f'"type":{kind}').line


def _base(target: str) -> str:
    return target.rpartition("/")[2]


async def test_an_audit_file_has_no_placements(editor: Editor, project: Project) -> None:
    project.annotated()
    uri = editor.open(project.files.log)
    found = await editor.provenance(uri, lines=True)
    assert found == {"uri": uri, "version": 1, "placements": [], "lines": []}


async def test_a_hover_explains_digests_and_commits(
    editor: Editor, trail: CompleteTrail, log: Path
) -> None:
    uri = editor.open(log)

    async def first_line(member: str) -> str:
        at = place(log, f'"{member}":"', f'"annotation_id":"{trail.created}"')
        said = await editor.hover(uri, at.line + 1, at.character + len(member) + 5)
        assert "Now at" in said
        return said.splitlines()[0]

    code = editor.open(trail.root / "src/auth.py")
    lines = "Digest of the lines as recorded: "
    at = place(log, '"anchor_hash":"', f'"annotation_id":"{trail.created}"')
    hash_of_lines = at.line + 1, at.character + len("anchor_hash") + 5
    assert await first_line("anchor_hash") == f"{lines}unchanged since"
    editor.insert(code, 3, "# why?\n")
    assert "edited since" in await first_line("anchor_hash")
    said = await first_line("file_content_hash")
    assert said == "Digest of the file as recorded: the file was changed since"
    lost = types.TextDocumentContentChangeWholeDocument("nothing = 1\n")
    editor.change(code, lost)
    said = await editor.hover(uri, *hash_of_lines)
    assert said.startswith(f"{lines}could not be found")
    remap = place(log, '"commit_hash":"', f'"annotation_id":"{trail.remapped}"')
    said = await editor.hover(uri, remap.line + 1, remap.character + 20)
    assert said.startswith("The commit that the lines came with")


async def test_an_unknown_session_is_not_in_the_trail(editor: Editor, project: Project) -> None:
    project.line("a.py", 1, 1, session="who")
    log = project.root / ".ai-audit/annotations.jsonl"
    at = place(log, "who")
    assert await editor.hover(editor.open(log), at.line + 1, at.character) == "not in this trail"


async def test_a_hover_names_what_is_not_there(editor: Editor, project: Project) -> None:
    project.line("a.py", 1, 1, prompt="ab" * 32)
    log = project.root / ".ai-audit/annotations.jsonl"
    uri = editor.open(log)
    at = place(log, "abab")
    assert await editor.hover(uri, at.line + 1, at.character) == "not in this trail"
    at = place(log, "type")
    assert await editor.hover(uri, at.line + 1, at.character) != "not in this trail"


async def test_symbols_are_prompts_decisions_sessions_and_risks_by_text(
    editor: Editor, trail: CompleteTrail, project: Project
) -> None:
    async def symbols(query: str) -> list[tuple[str, str, int]]:
        params = types.WorkspaceSymbolParams(query)
        found = await editor.client.workspace_symbol_async(params) or []
        return [
            (each.name, _name(each.location), each.location.range.start.line + 1)
            for each in found
            if isinstance(each.location, types.Location)
        ]

    stored = trail.root / ".ai-audit/manifest.json"
    assert await symbols("SIGN-UP email") == [
        (
            "prompt: Create a sign-up check for email and password.",
            "manifest.json",
            line_of(stored, str(trail.prompt)),
        )
    ]
    assert [name for name, _, _ in await symbols("check an address")] == [
        "decision: How to check an address"
    ]
    assert ("session: Sign-up lead", "annotations.jsonl") in [
        found[:2] for found in await symbols("sign-up")
    ]
    long = project.prompt("Please make it so that nobody can ever guess a password again.")
    editor.open(project.files.manifest)
    (found,) = await symbols("guess")
    assert found[0] == "prompt: … that nobody can ever guess a password again."
    assert found[2] == line_of(project.files.manifest, long)
    assert await symbols("si") == []
    assert await symbols("no such text") == []

    project.config(risk_scoring=MOSTLY_CRITICAL)
    project.line("deep/risky.py", 4, 7, text=STORY, risk_score=0.9)
    editor.open(project.file("deep/risky.py"))
    assert await symbols("risky") == [("critical risk: digest in deep/risky.py", "risky.py", 4)]
    await editor.set(prompts={"show": False})
    assert "prompt" not in str(await symbols("sign-up"))


async def test_selection_grows_from_the_line_to_the_edit(editor: Editor, project: Project) -> None:
    project.line("a.py", 4, 13, text=STORY, session="s1")
    project.line("a.py", 5, 6, text=STORY, session="s2")
    uri = editor.open(project.file("a.py"))

    async def selections(line: int, character: int) -> list[tuple[int, int, int, int]]:
        at = types.Position(line - 1, character)
        params = types.SelectionRangeParams(types.TextDocumentIdentifier(uri), [at])
        found = await editor.client.text_document_selection_range_async(params)
        each = found[0].parent if found else None
        spans = []
        while each is not None:
            start, end = each.range.start, each.range.end
            spans.append((start.line + 1, start.character, end.line + 1, end.character))
            each = each.parent
        return spans

    lines = STORY.splitlines()
    assert await selections(5, 6) == [
        (5, 4, 5, len(lines[4])),
        (5, 0, 6, len(lines[5])),
    ]
    assert await selections(8, 0) == [
        (8, 0, 8, 0),
        (7, 0, 13, len(lines[12])),
        (4, 0, 13, len(lines[12])),
    ]
    assert (await selections(5, 1))[0] == (5, 1, 5, len(lines[4]))
    assert await selections(1, 0) == []

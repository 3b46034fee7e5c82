"""Hover: everything about the annotations of a line, the owner first."""

from __future__ import annotations

from functools import partial

import pytest
from lsprotocol import types

from tests.server.editor import Editor, without_age
from tests.server.profiles import encoded
from tests.server.project import AS_RECORDED, STORY, Project
from tests.trails import CompleteTrail, Repository


async def lines_of(editor: Editor, uri: str, line: int) -> list[str]:
    """Return the lines of a hover as a user reads them, without the marks."""
    text = await editor.hover(uri, line)
    return [
        without_age(each.rstrip()).replace("`", "").replace("**", "").replace("\\", "")
        for each in text.split("\n")
        if each.strip()
    ]


async def details_of(editor: Editor, uri: str) -> list[str]:
    """Return the head and the details of an annotation's history, without the marks."""
    (first, *_) = (await editor.provenance(uri))["placements"]
    given = {"uri": uri, "annotationId": first["annotationId"], "show": False}
    head, *sections = (await editor.run("vibes.showHistory", given))["text"].split("\n## ")
    (details,) = [each for each in sections if each.startswith("Details\n")]
    text = head + details.removeprefix("Details\n")
    return [
        without_age(each.rstrip()).replace("`", "").replace("**", "").replace("\\", "")
        for each in text.split("\n")[2:]
        if each.strip()
    ]


async def test_the_whole_story_of_a_line(editor: Editor, trail: CompleteTrail) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    assert await lines_of(editor, uri, 3) == [
        "claude-opus-4-5 · Maestro · AGE",
        "> Create a sign-up check for email and password.",
        "unchanged since · approved by Ada AGE",
        "Commit 5eed5eed",
        "Decision: “How to check an address”: “One expression”, not “A parser”",
        "Reasoning: “An address needs one @ and a dot after it.”",
    ]


async def test_the_details_are_in_the_history(editor: Editor, trail: CompleteTrail) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    assert await details_of(editor, uri) == [
        "claude-opus-4-5 · Maestro · AGE",
        "unchanged since",
        "create by claude-opus-4-5 20251101 in Maestro 1.0.0, 2026-02-03T10:00:01.000Z",
        f"commit {trail.commit}",
        "Files given: src/user.py",
        "Decision: How to check an address",
        "chosen: One expression",
        "not chosen: A parser",
        "because: A confirmation mail follows anyway.",
        "Reasoning: “An address needs one @ and a dot after it.”",
        "approved by Ada AGE",
        f"high assurance, session {trail.session}, record {trail.created}",
    ]


@pytest.mark.every_profile
async def test_markdown_only_for_a_client_that_renders_it(
    editor: Editor, trail: CompleteTrail
) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    hover = await editor.hover_whole(uri, 3)
    assert hover is not None
    assert isinstance(hover.contents, types.MarkupContent)
    assert hover.contents.kind == (
        types.MarkupKind.Markdown if editor.marks else types.MarkupKind.PlainText
    )
    assert ("**claude-opus-4-5** · Maestro · " in hover.contents.value) == editor.marks
    assert "\n> Create a sign-up check" in hover.contents.value
    assert hover.range == types.Range(types.Position(0, 0), types.Position(8, 0))


async def test_a_line_that_no_ai_wrote_says_nothing(editor: Editor, trail: CompleteTrail) -> None:
    uri = editor.open(trail.root / "src/auth.py")
    assert await editor.hover_whole(uri, 9) is None
    assert await editor.hover_whole(uri, 500) is None


@pytest.mark.parametrize(
    ("path", "line", "reasoning"),
    [
        ("src/auth.py", 2, "An address needs one @ and a dot after it."),
        ("src/auth.py", 12, "Length first. Length first."),
        ("src/middleware.py", 2, "Windows slide. Windows slide."),
    ],
    ids=["inline", "compressed", "external"],
)
async def test_reasoning_in_each_of_its_forms(
    editor: Editor, trail: CompleteTrail, path: str, line: int, reasoning: str
) -> None:
    uri = editor.open(trail.root / path)
    (told,) = [each for each in await lines_of(editor, uri, line) if each.startswith("Reasoning:")]
    assert told.startswith(f"Reasoning: “{reasoning}")
    assert len(told) < 250


async def test_reasoning_that_cannot_be_read_says_so(editor: Editor, project: Project) -> None:
    key = project.reasoning("Thought of much. " * 9000, form="external")
    uri = editor.open(project.annotated(reasoning=key))
    (blob,) = (project.root / ".ai-audit" / "blobs").iterdir()
    assert "Reasoning: “Thought of much." in "\n".join(await lines_of(editor, uri, 4))
    blob.unlink()
    assert f"Reasoning: cannot be read: blob blobs/{blob.name} does not exist" in await lines_of(
        editor, uri, 4
    )


async def test_a_key_that_names_another_kind_of_entry_is_not_taken_for_it(
    editor: Editor, project: Project
) -> None:
    prompt = project.prompt("Write a digest.")
    uri = editor.open(project.annotated(prompt=prompt, decision=prompt, reasoning=prompt))
    told = "\n".join(await lines_of(editor, uri, 4))
    assert "> Write a digest." in told
    assert "Decision:" not in told
    assert "Reasoning:" not in told


async def test_a_long_prompt_is_shortened(editor: Editor, project: Project) -> None:
    uri = editor.open(
        project.annotated(
            prompt=project.prompt("First line.\n\n\tSecond  line. " + "And more. " * 500)
        )
    )
    told = [each for each in await lines_of(editor, uri, 5) if each.startswith("> ")]
    assert told[0] == "> First line."
    assert told[1].startswith("> Second line. And more.")
    assert told[-1].endswith("…")
    assert len("".join(told)) < 420


async def test_many_lines_of_a_prompt_are_cut(editor: Editor, project: Project) -> None:
    lines = "\n".join(f"line {number}" for number in range(40))
    uri = editor.open(project.annotated(prompt=project.prompt(lines)))
    told = [each for each in await lines_of(editor, uri, 5) if each.startswith("> ")]
    assert told == [*(f"> line {number}" for number in range(7)), "> line 7…"]


async def test_an_empty_prompt_says_so(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated(prompt=project.prompt(" \n ")))
    assert "The prompt is empty." in await lines_of(editor, uri, 5)


async def test_many_context_files_are_cut(editor: Editor, project: Project) -> None:
    uri = editor.open(
        project.annotated(
            prompt=project.prompt("Look.", files=[f"f{number}.py" for number in range(9)])
        )
    )
    assert "Files given: f0.py, f1.py, f2.py, f3.py, f4.py, f5.py …" in await details_of(
        editor, uri
    )


async def test_the_stored_score_with_its_factors(editor: Editor, project: Project) -> None:
    factors = [
        {"signal": "scope_lines", "value": 0.9, "weight": 0.15, "reason": "430 lines"},
        {"signal": "temperature", "value": 1, "weight": 0.2},
    ]
    uri = editor.open(project.annotated(risk_score=0.7, risk_factors=factors))
    assert "Risk 0.70 high (as recorded): temperature; 430 lines" in await lines_of(editor, uri, 4)
    told = await details_of(editor, uri)
    start = told.index("PRISM: 0.70 high (as recorded)")
    assert told[start + 1 : start + 3] == [
        "scope_lines 0.9 x 0.15: 430 lines",
        "temperature 1 x 0.2",
    ]


async def test_the_band_follows_the_thresholds_of_the_project(
    editor: Editor, project: Project
) -> None:
    project.config(
        risk_scoring={
            **AS_RECORDED,
            "thresholds": {"low": 0, "medium": 0.1, "high": 0.2, "critical": 0.69},
        }
    )
    uri = editor.open(project.annotated(risk_score=0.7))
    assert "Risk 0.70 critical (as recorded)" in await lines_of(editor, uri, 4)


@pytest.mark.parametrize("score", [-0.1, 1.1, "0.5", True, None, [0.5]])
async def test_what_is_no_score_is_not_shown(
    editor: Editor, project: Project, score: object
) -> None:
    uri = editor.open(project.annotated(risk_score=score))
    assert "Risk" not in await editor.hover(uri, 4)


@pytest.mark.parametrize(
    ("review", "told"),
    [
        ({}, "approved by Ada AGE"),
        ({"verdict": "rejected"}, "rejected by Ada AGE"),
        ({"kind": "ai", "reviewer": "critic"}, "approved by critic (AI) AGE"),
        ({"text_hash": "0" * 64}, "approved by Ada AGE, but the lines have changed since"),
    ],
    ids=["approved", "rejected", "ai", "stale"],
)
async def test_who_reviewed(
    editor: Editor, project: Project, review: dict[str, str], told: str
) -> None:
    identifier = project.line("a.py", 4, 7, text=STORY)
    project.review(identifier, **review)
    uri = editor.open(project.file("a.py"))
    assert f"unchanged since · {told}" in await lines_of(editor, uri, 4)


async def test_a_review_goes_stale_while_one_types(editor: Editor, project: Project) -> None:
    identifier = project.line("a.py", 4, 7, text=STORY)
    project.review(identifier)
    uri = editor.open(project.file("a.py"))
    assert "unchanged since · approved by Ada AGE" in await lines_of(editor, uri, 4)
    editor.insert(uri, 6, "    log(seen)\n")
    stale = "approved by Ada AGE, but the lines have changed since"
    assert (await lines_of(editor, uri, 4))[1].endswith(f" · {stale}")
    editor.replace(uri, (6, 0), (7, 0), "")
    assert "unchanged since · approved by Ada AGE" in await lines_of(editor, uri, 4)


async def test_a_person_counts_before_an_ai_that_came_later(
    editor: Editor, project: Project
) -> None:
    identifier = project.line("a.py", 4, 7, text=STORY)
    project.review(identifier, verdict="rejected")
    project.review(identifier, kind="ai", reviewer="critic")
    uri = editor.open(project.file("a.py"))
    assert "unchanged since · rejected by Ada AGE" in await lines_of(editor, uri, 4)


async def test_not_reviewed(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated())
    assert "unchanged since · not reviewed" in await lines_of(editor, uri, 4)


async def test_moved_in_text_that_is_not_saved(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated())
    editor.insert(uri, 0, "# one\n# two\n")
    assert await editor.hover_whole(uri, 4) is None
    told = await lines_of(editor, uri, 6)
    assert told[1].partition(" · ")[0] == "moved from lines 4-7"
    hover = await editor.hover_whole(uri, 9)
    assert hover is not None
    assert hover.range == types.Range(types.Position(5, 0), types.Position(9, 0))


@pytest.mark.parametrize(
    ("has_hashes", "state"),
    [
        (True, "edited since: 3 of 4 lines unchanged"),
        (False, "edited since (was lines 4-7)"),
    ],
)
async def test_edited_since(editor: Editor, project: Project, has_hashes: bool, state: str) -> None:
    (project.hashed if has_hashes else partial(project.line, text=STORY))("a.py", 4, 7)
    uri = await editor.open_known(project.file("a.py"))
    editor.replace(uri, (6, 0), (7, 0), "    return seen.digest()\n")
    said = (await lines_of(editor, uri, 4))[1].partition(" · ")[0]
    assert said == state


async def test_what_could_not_be_found_is_on_no_line(editor: Editor, project: Project) -> None:
    uri = editor.open(project.annotated())
    editor.change(
        uri, types.TextDocumentContentChangeWholeDocument("import os\n\n\nprint(os.name)\n")
    )
    assert [await editor.hover_whole(uri, line) for line in range(1, 6)] == [None] * 5


async def test_a_second_copy_makes_it_ambiguous(editor: Editor, project: Project) -> None:
    project.annotated()
    copy = "".join(STORY.splitlines(keepends=True)[3:7])
    uri = editor.open(project.file("a.py", STORY + copy))
    assert (await lines_of(editor, uri, 4))[1].partition(" · ")[
        0
    ] == "unchanged since, but other places may fit as well"


async def test_nothing_to_check_against(editor: Editor, project: Project) -> None:
    project.line("a.py", 2, 3)
    uri = editor.open(project.file("a.py"))
    assert (await lines_of(editor, uri, 2))[1].partition(" · ")[
        0
    ] == "not verified: the record has nothing to check against"


async def test_a_function_is_found_by_its_name(editor: Editor, project: Project) -> None:
    project.function("a.py", "same")
    uri = editor.open(project.file("a.py"))
    told = await lines_of(editor, uri, 10)
    assert told[0] == "claude-opus-4-5 · Claude Code · AGE · function same"
    assert told[1].partition(" · ")[0] == "found by name only"


@pytest.mark.parametrize(
    ("name", "line"), [("Store.same", 10), ("store::digest", 4), ("a#same", 10), ("same", 10)]
)
async def test_qualified_names_of_functions(
    editor: Editor, project: Project, name: str, line: int
) -> None:
    project.function("a.py", name)
    uri = editor.open(project.file("a.py"))
    assert name in (await lines_of(editor, uri, line))[0]


@pytest.mark.parametrize("name", ["", ".", "::", "sam", "ame", "other"])
async def test_a_name_that_no_line_defines_is_nowhere(
    editor: Editor, project: Project, name: str
) -> None:
    project.function("a.py", name)
    uri = editor.open(project.file("a.py"))
    assert [await editor.hover_whole(uri, line) for line in (1, 4, 10)] == [None] * 3


async def test_a_deletion_is_told_where_the_lines_were(editor: Editor, project: Project) -> None:
    project.line("a.py", 2, 3, action="delete", text=STORY)
    uri = editor.open(project.file("a.py"))
    told = await lines_of(editor, uri, 2)
    assert told[1].partition(" · ")[0] == "removed lines 2-3 of an earlier version"
    assert await editor.hover_whole(uri, 3) is None


@pytest.mark.every_profile
async def test_the_owner_comes_first_then_what_it_replaced(
    editor: Editor, project: Project
) -> None:
    project.line("a.py", 1, 13, text=STORY)
    other = project.environment(model="gpt-5", tool="Codex")
    project.line("a.py", 4, 7, text=STORY, action="modify", environment=other)
    uri = editor.open(project.file("a.py"))
    assert await lines_of(editor, uri, 5) == [
        "gpt-5 · Codex · AGE",
        "unchanged since · not reviewed",
        *(["---"] if editor.marks else []),
        "claude-opus-4-5 · Claude Code · AGE",
        "history: a later edit owns this line; unchanged since",
    ]
    alone = await lines_of(editor, uri, 2)
    assert alone[:2] == ["claude-opus-4-5 · Claude Code · AGE", "unchanged since · not reviewed"]


async def test_what_was_superseded_is_called_history(editor: Editor, project: Project) -> None:
    older = project.line("a.py", 4, 7, text=STORY, prompt=project.prompt("Digest it."))
    newer = project.line("a.py", 4, 7, text=STORY, action="modify")
    project.edge(
        "supersedes", newer, older, target_type="annotation", metadata={"reason": "covers"}
    )
    uri = editor.open(project.file("a.py"))
    told = [each for each in await lines_of(editor, uri, 5) if each != "---"]
    assert told[1:] == [
        "unchanged since · not reviewed",
        "claude-opus-4-5 · Claude Code · AGE",
        "history: a later edit supersedes it; unchanged since",
        "“Digest it.”",
    ]


async def test_a_line_inside_that_no_record_names_is_not_the_ais(
    editor: Editor, project: Project
) -> None:
    project.hashed("a.py", 4, 7)
    uri = await editor.open_known(project.file("a.py"))
    editor.insert(uri, 5, "    log(payload)\n")
    assert (await lines_of(editor, uri, 6))[1].startswith("not recorded: a line inside this edit")
    assert (await lines_of(editor, uri, 7))[1].startswith("moved from lines 4-7 · not reviewed")


async def test_more_than_five_are_counted(editor: Editor, project: Project) -> None:
    for number in range(8):
        project.line(
            "a.py",
            4,
            7,
            text=STORY,
            action="modify",
            session=f"session {number}",
            prompt=project.prompt(f"Try {number}."),
        )
    uri = editor.open(project.file("a.py"))
    told = await lines_of(editor, uri, 5)
    assert [each for each in told if "Try" in each] == [
        "> Try 7.",
        *(f"“Try {number}.”" for number in (6, 5, 4, 3)),
    ]
    assert told[-1] == "… and 3 earlier"


async def test_repeats_are_told_once(editor: Editor, project: Project) -> None:
    for _ in range(3):
        project.line("a.py", 4, 7, text=STORY)
    uri = editor.open(project.file("a.py"))
    told = await lines_of(editor, uri, 5)
    assert sum("Claude Code" in each for each in told) == 1
    assert "recorded 3 times" in await details_of(editor, uri)


async def test_placeholders_are_on_no_line(editor: Editor, project: Project) -> None:
    for number in range(2):
        project.line("a.py", 1, 1, action="modify", prompt=project.prompt(f"Edit {number}."))
    uri = editor.open(project.file("a.py"))
    assert await editor.hover_whole(uri, 1) is None


async def test_a_context_that_is_not_published(editor: Editor, project: Project) -> None:
    project.line("a.py", 4, 7, text=STORY, environment="e0" * 32)
    uri = editor.open(project.file("a.py"))
    told = await lines_of(editor, uri, 4)
    assert told[0] == "unknown model · unknown tool · AGE"
    assert "context not published: the manifest has no entry for this tool and model" in told[1]


async def test_the_columns_of_a_hover_do_not_matter(editor: Editor, project: Project) -> None:
    text = '"😀" + "größe" + "漢字"; x = digest(b"")\nsecond = True\nthird = False\n'
    uri = editor.open(project.annotated(start=1, end=3, text=text, commit="c0ffee" * 6))
    columns = encoded(text.split("\n", maxsplit=1)[0], editor.profile)
    assert await editor.hover(uri, 1, columns) == await editor.hover(uri, 1, 0)
    assert await editor.hover(uri, 1, columns + 1000) == await editor.hover(uri, 1, 0)


@pytest.mark.every_profile
async def test_edits_within_wide_characters_land_in_the_column_they_name(
    editor: Editor, project: Project
) -> None:
    text = 'label = "😀größe漢字"; mark = True\nsecond = True\nthird = False\n'
    uri = editor.open(project.annotated(start=1, end=3, text=text))
    before = encoded('label = "😀größe', editor.profile)
    after = encoded('label = "😀größe漢', editor.profile)
    editor.replace(uri, (0, before), (0, after), "字")
    assert (await lines_of(editor, uri, 2))[1].startswith("edited since")
    editor.replace(uri, (0, before), (0, before + encoded("字", editor.profile)), "漢")
    assert (await lines_of(editor, uri, 2))[1].partition(" · ")[0] == "unchanged since"


class TestCommits:
    """Where a record does not name its commit, git's history does (R4, R17)."""

    async def test_not_committed_yet_then_committed(self, editor: Editor, project: Project) -> None:
        repository = Repository(project.root)
        uri = await editor.open_settled(project.annotated())
        assert (await lines_of(editor, uri, 4))[-1] == "Not committed yet"
        assert "not committed yet" in await details_of(editor, uri)
        commit = repository.commit("Add a.py", "2026-02-03T11:00:00+00:00")
        after = len(editor.client.sent)
        editor.save(uri)
        await editor.told(uri, after=after)
        assert (await lines_of(editor, uri, 4))[-1] == f"Commit {commit[:8]} “Add a.py”"
        details = await details_of(editor, uri)
        assert f"commit {commit} “Add a.py” (first commit whose log has the record)" in details

    async def test_inferred_where_the_log_is_not_committed(
        self, editor: Editor, project: Project
    ) -> None:
        repository = Repository(project.root)
        repository.write(".gitignore", ".ai-audit/\n")
        file = project.annotated()
        commit = repository.commit("Add a.py", "2026-02-03T11:00:00+00:00")
        uri = await editor.open_settled(file)
        assert (await lines_of(editor, uri, 4))[-1] == f"Commit {commit[:8]} “Add a.py”"
        details = await details_of(editor, uri)
        how = "(inferred: first commit that touched the file)"
        assert f"commit {commit} “Add a.py” {how}" in details

    async def test_recorded(self, editor: Editor, project: Project) -> None:
        uri = editor.open(project.annotated(commit="c0ffee" * 6 + "abcd"))
        assert (await lines_of(editor, uri, 4))[-1] == "Commit c0ffeec0"

    async def test_nothing_is_said_where_there_is_no_history_then_it_is(
        self, editor: Editor, project: Project
    ) -> None:
        uri = await editor.open_settled(project.annotated())
        assert (await lines_of(editor, uri, 4))[-1] == "unchanged since · not reviewed"
        Repository(project.root)
        after = len(editor.client.sent)
        editor.save(uri)
        await editor.told(uri, after=after)
        assert (await lines_of(editor, uri, 4))[-1] == "Not committed yet"

    async def test_a_hostile_subject_is_text(self, editor: Editor, project: Project) -> None:
        repository = Repository(project.root)
        file = project.annotated()
        repository.commit("[x](command:y) <b>*#* https://a.example", "2026-02-03T11:00:00+00:00")
        uri = await editor.open_settled(file)
        told = (await editor.hover(uri, 4)).rstrip().split("\n")[-1]
        shown = r"\[x\](command:y) \<b>\*#\* https\://a.example"
        assert told.endswith(f"“{shown if editor.marks else shown.replace(chr(92), '')}”")

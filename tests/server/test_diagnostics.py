"""Diagnostics: risk and doubt at the lines, everything that is wrong in the audit files; pulled or pushed, never both."""

from __future__ import annotations

import json
from typing import Any

import pytest
from lsprotocol import types

from tests.server.editor import Editor
from tests.server.profiles import encoded
from tests.server.project import AS_RECORDED, STORY, Project
from tests.trails import CompleteTrail

PUBLISH = types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS
LENIENT = {"risk_scoring": AS_RECORDED}
CONFIG, MANIFEST, LOG = (
    f".ai-audit/{name}" for name in ("config.json", "manifest.json", "annotations.jsonl")
)


def brief(found: list[types.Diagnostic]) -> list[tuple[Any, int]]:
    """Return code and 1-based line of diagnostics, none of which is longer than its line."""
    assert all(each.range.start.line == each.range.end.line for each in found)
    return [(each.code, each.range.start.line + 1) for each in found]


def underlined(found: list[types.Diagnostic], text: str, editor: Editor) -> list[str]:
    """Return what diagnostics underline in a text."""
    lines = text.split("\n")
    encoded_lines = [
        [encoded(line[:cut], editor.profile) for cut in range(len(line) + 1)] for line in lines
    ]
    return [
        lines[line][
            encoded_lines[line].index(each.range.start.character) : encoded_lines[line].index(
                each.range.end.character
            )
        ]
        for each in found
        for line in [each.range.start.line]
    ]


@pytest.mark.every_profile
async def test_risk_stands_at_the_name_where_it_is_now(editor: Editor, project: Project) -> None:
    project.config(**LENIENT)
    uri = editor.open(project.annotated(risk_score=0.7251))
    (found,) = await editor.diagnostics(uri)
    assert found == types.Diagnostic(
        types.Range(types.Position(3, 4), types.Position(3, 10)),
        "risk 0.73 high (as recorded), not reviewed",
        types.DiagnosticSeverity.Warning,
        "risk-high",
        source="vibes",
    )
    editor.insert(uri, 0, "# one\n# two\n")
    assert brief(await editor.diagnostics(uri)) == [("risk-high", 6)]


@pytest.mark.parametrize("scoring", [None, {}, {"enabled": False}, "broken"])
async def test_no_risk_while_scoring_is_off(
    editor: Editor, project: Project, scoring: object
) -> None:
    project.config(risk_scoring=scoring)
    uri = editor.open(project.annotated(risk_score=0.9))
    assert await editor.diagnostics(uri) == []


@pytest.mark.parametrize(
    ("score", "shown"),
    [(0.5999, []), (0.6, ["risk-high"]), (0.79999, ["risk-high"]), (0.8, ["risk-critical"])],
)
async def test_from_the_band_high_on_by_default(
    editor: Editor, project: Project, score: float, shown: list[str]
) -> None:
    project.config(**LENIENT)
    uri = editor.open(project.annotated(risk_score=score))
    assert [each.code for each in await editor.diagnostics(uri)] == shown


async def test_another_band_can_be_chosen(editor: Editor, project: Project) -> None:
    project.config(**LENIENT)
    uri = editor.open(project.annotated(risk_score=0.31))
    assert await editor.diagnostics(uri) == []
    await editor.set(diagnostics={"minimumBand": "medium"})
    assert brief(await editor.diagnostics(uri)) == [("risk-medium", 4)]
    await editor.set(diagnostics={"minimumBand": "critical"})
    assert await editor.diagnostics(uri) == []
    await editor.set(diagnostics={"minimumBand": "low", "enable": False})
    assert await editor.diagnostics(uri) == []


@pytest.mark.parametrize(
    ("review", "words"),
    [
        ({}, None),
        ({"verdict": "rejected"}, "rejected"),
        ({"kind": "ai"}, "approved, but not by a person"),
        ({"text_hash": "0" * 64}, "approved, but changed since"),
    ],
    ids=["approved", "rejected", "ai", "stale"],
)
async def test_only_a_persons_approval_of_this_text_settles_it(
    editor: Editor, project: Project, review: dict[str, Any], words: str | None
) -> None:
    project.config(**LENIENT)
    project.review(project.line("a.py", 4, 7, text=STORY, risk_score=0.9), **review)
    uri = editor.open(project.file("a.py"))
    found = [each.message for each in await editor.diagnostics(uri)]
    assert found == ([] if words is None else [f"risk 0.90 critical (as recorded), {words}"])


@pytest.mark.parametrize(
    ("text", "lines", "word"),
    [
        ("\n\n# größe 😀\n@cached\nasync def größe(x):\n    return x\n", (1, 6), "größe"),
        ('"😀"; value = 1\n', (1, 1), '"'),
        ("    if (a) {\n      b();\n    }\n", (1, 3), "if"),
        ("  public static int sum(int a, int b) {\n    return a + b;\n  }\n", (1, 3), "sum"),
        ("func (s *Store) Put(x int) error {\n\treturn nil\n}\n", (1, 3), "Put"),
        ("// why\n\nexport const login = async () => {};\n", (1, 3), "login"),
        ("# a comment\n\n# alone\n", (1, 3), "#"),
    ],
    ids=["python", "value", "block", "java", "go", "typescript", "comment"],
)
async def test_it_underlines_a_name_or_a_word_of_code(
    editor: Editor, project: Project, text: str, lines: tuple[int, int], word: str
) -> None:
    project.config(**LENIENT)
    uri = editor.open(project.annotated(start=lines[0], end=lines[1], text=text, risk_score=0.9))
    found = await editor.diagnostics(uri)
    assert underlined(found, text, editor) == [word]


async def test_no_line_of_a_person_is_underlined(editor: Editor, project: Project) -> None:
    project.config(**LENIENT)
    uri = editor.open(project.annotated(risk_score=0.9))
    editor.replace(uri, (3, 0), (4, 0), "def my_own(name):\n")
    await editor.final(uri)
    (found,) = await editor.diagnostics(uri)
    answer = await editor.provenance(uri, runs=True)
    (placement,) = answer["placements"]
    of_people = {
        line
        for run in placement["runs"]
        for line in range(run["lineStart"], run["lineEnd"] + 1)
        if run["kind"] == "human"
    }
    assert found.range.start.line + 1 not in of_people


async def test_the_reasons_are_named(editor: Editor, project: Project) -> None:
    factors = [
        {"signal": "scope_lines", "value": 0.9, "weight": 0.15, "reason": "430 lines"},
        {
            "signal": "temperature",
            "value": 1,
            "weight": 0.2,
            "reason": "temperature 2, where 2 counts as 1.0",
        },
        {"signal": "human_review_present", "value": 1, "weight": 0.9, "reason": "no review"},
        {"signal": "action_type", "value": 0.1, "weight": 0.1, "reason": "the action is review"},
    ]
    project.config(**LENIENT)
    uri = editor.open(project.annotated(risk_score=0.9, risk_factors=factors))
    assert [each.message for each in await editor.diagnostics(uri)] == [
        "risk 0.90 critical (as recorded), not reviewed: temperature 2; 430 lines"
    ]


async def test_typing_in_approved_lines_brings_the_risk_back(
    editor: Editor, project: Project
) -> None:
    project.config(**LENIENT)
    project.review(project.line("a.py", 4, 7, text=STORY, risk_score=0.9))
    uri = editor.open(project.file("a.py"))
    assert await editor.diagnostics(uri) == []
    editor.insert(uri, 6, "    log(seen)\n")
    assert brief(await editor.diagnostics(uri)) == [("risk-critical", 4)]


async def test_no_risk_of_what_is_history_removed_lost_or_untracked(
    editor: Editor, project: Project
) -> None:
    project.config(**LENIENT, tracked_extensions=[".py"])
    older = project.line("a.py", 4, 7, text=STORY, risk_score=0.9)
    newer = project.line("a.py", 4, 7, text=STORY, action="modify", risk_score=0.1)
    project.edge(
        "supersedes", newer, older, target_type="annotation", metadata={"reason": "covers"}
    )
    project.line("a.py", 1, 1, action="delete", text=STORY, risk_score=0.9)
    project.line("a.py", 1, 3, text="gone = 1\naway = 2\nlost = 3\n", risk_score=0.9)
    project.line("a.txt", 4, 7, text=STORY, risk_score=0.9)
    found = await editor.diagnostics(editor.open(project.file("a.py")))
    assert [(each.code, each.message) for each in found] == [
        ("lost", "1 annotation of this file could not be found")
    ]
    assert await editor.diagnostics(editor.open(project.file("a.txt"))) == []


async def test_doubts_are_hints(editor: Editor, project: Project) -> None:
    project.line("a.py", 4, 7, text=STORY)
    for number in range(2):
        project.line("a.py", 1, 3, text=f"gone = {number}\naway = 2\nlost = 3\n")
    copy = "".join(STORY.splitlines(keepends=True)[3:7])
    uri = editor.open(project.file("a.py", STORY + copy))
    found = await editor.diagnostics(uri)
    assert [(each.severity, each.code, each.message) for each in found] == [
        (
            types.DiagnosticSeverity.Hint,
            "ambiguous",
            "create: unchanged since, but other places may fit as well",
        ),
        (types.DiagnosticSeverity.Hint, "lost", "2 annotations of this file could not be found"),
    ]
    assert brief(found) == [("ambiguous", 4), ("lost", 1)]


async def test_nothing_is_wrong_with_a_sound_trail(editor: Editor, trail: CompleteTrail) -> None:
    for path in ("src/auth.py", "src/limits.py", MANIFEST, LOG, CONFIG):
        uri = editor.open(trail.root / path)
        assert await editor.diagnostics(uri) == [], path


async def test_nothing_outside_of_any_trail(editor: Editor, project: Project) -> None:
    outside = project.root.parent / "outside.py"
    outside.write_text(STORY, encoding="utf-8")
    assert await editor.diagnostics(editor.open(outside)) == []
    assert await editor.diagnostics(editor.open_uri("untitled:Untitled-1", STORY)) == []


@pytest.mark.every_profile
async def test_a_client_is_pushed_to_or_asks_never_both(editor: Editor, project: Project) -> None:
    project.config(**LENIENT)
    file = project.annotated(risk_score=0.9)
    before = len(editor.client.sent)
    uri = editor.open(file)
    assert len(await editor.diagnostics(uri)) == 1
    editor.insert(uri, 0, "# one\n")
    editor.save(uri)
    assert len(await editor.diagnostics(uri)) == 1
    editor.close(uri)
    await editor.caught_up()
    pushed = [message for message in editor.client.sent[before:] if message[0] == PUBLISH]
    if editor.pulls:
        assert pushed == []
        return
    told = [(params.version, len(params.diagnostics)) for _, params in pushed if params.uri == uri]
    assert set(told) - {(1, 1), (3, 1)} == {(2, 1), (4, 1), (None, 0)}, (
        "versions 1 and 3 may have been overtaken"
    )
    assert told[-1] == (None, 0), "closed"
    with pytest.raises(Exception, match="Method Not Found"):
        await editor.client.text_document_diagnostic_async(
            types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri))
        )


async def findings(
    editor: Editor, project: Project, path: str
) -> list[tuple[str, types.Diagnostic, str]]:
    """Return the diagnostics of an audit file: code, diagnostic, and the text that it underlines."""
    file = project.root / path
    uri = editor.open_uri(file.as_uri(), file.read_bytes().decode("utf-8", "replace"))
    lines = file.read_bytes().decode("utf-8", "replace").split("\n")
    found = []
    for each in await editor.diagnostics(uri):
        line = lines[each.range.start.line]
        offsets = [encoded(line[:cut], editor.profile) for cut in range(len(line) + 1)]
        start, end = (
            offsets.index(place.character) for place in (each.range.start, each.range.end)
        )
        assert each.range.start.line == each.range.end.line
        assert each.source == "vibes"
        found.append((str(each.code), each, line[start:end]))
    return found


async def test_a_wrong_member_of_the_config(editor: Editor, project: Project) -> None:
    project.config(assurance_level="utmost", project_name="größe 😀", standard_version="9.1")
    found = await findings(editor, project, CONFIG)
    assert [
        (code, each.range.start.line, text) for code, each, text in found if code == "config-field"
    ] == [("config-field", 3, '"assurance_level"')]
    (version,) = [each for code, each, _ in found if code == "version-unsupported"]
    assert version.severity == types.DiagnosticSeverity.Warning
    assert version.range.start.line == 2


@pytest.mark.every_profile
async def test_nested_members_on_one_line_are_told_apart(editor: Editor, project: Project) -> None:
    members = {
        "standard": "VIBES",
        "standard_version": "1.0",
        "project_name": '😀 größe, not the "enabled" meant',
        "assurance_level": "low",
        "risk_scoring": {"enabled": "yes"},
    }
    (project.root / CONFIG).write_text(json.dumps(members, ensure_ascii=False), encoding="utf-8")
    (found,) = [
        each for each in await findings(editor, project, CONFIG) if each[0] == "config-field"
    ]
    assert found[2] == '"enabled"'
    assert found[1].range.start.character == encoded(
        json.dumps(members, ensure_ascii=False).split('"enabled":')[0], editor.profile
    )


async def test_a_member_of_a_record_behind_wide_characters(
    editor: Editor, project: Project
) -> None:
    path, note = "größe 😀 line_end.py", 'the later "line_end"'
    project.line(path, 4, 7, note=note, timestamp="yesterday")
    project.line(path, 4, 7, note=note, line_end=2)
    found = await findings(editor, project, LOG)
    told = {(code, text) for code, _, text in found}
    assert ("timestamp", '"timestamp"') in told
    (at,) = [each for code, each, text in found if text == '"line_end"']
    line = (project.root / LOG).read_text(encoding="utf-8").split("\n")[at.range.start.line]
    assert at.range.start.character == encoded(line.split('"line_end":')[0], editor.profile)


async def test_an_element_of_an_array(editor: Editor, project: Project) -> None:
    project.annotated(
        risk_score=0.5,
        risk_factors=[
            {"signal": "temperature", "value": 0.5, "weight": 1},
            {"signal": "x", "value": "high", "weight": 1},
        ],
    )
    found = await findings(editor, project, LOG)
    places = {
        (each.range.start.line, each.range.start.character)
        for code, each, text in found
        if code == "record-field" and text == '"value"'
    }
    line = (project.root / LOG).read_text(encoding="utf-8").split("\n")[0]
    assert places == {(0, line.rindex('"value"'))}


async def test_an_entry_of_the_manifest(editor: Editor, project: Project) -> None:
    project.prompt("größe 😀", prompt_type="poem")
    project.entry(
        {
            "type": "prompt",
            "prompt_text": "changed",
            "prompt_type": "other",
            "created_at": project.now(),
        },
        key="ab" * 32,
    )
    found = await findings(editor, project, MANIFEST)
    assert [text for code, _, text in found if code == "entry-field"] == ['"prompt_type"']
    (mismatch,) = [each for code, each, _ in found if code == "hash-mismatch"]
    assert mismatch.severity == types.DiagnosticSeverity.Error
    assert mismatch.range.start.line == 3


async def test_lines_of_the_log_that_are_no_records(editor: Editor, project: Project) -> None:
    project.annotated()
    project.raw_log(b"<<<<<<< HEAD\n{broken\n=======\n>>>>>>> other\n")
    project.annotated("b.py")
    found = await findings(editor, project, LOG)
    broken = [
        (code, each.range.start.line, text)
        for code, each, text in found
        if code in ("conflict-marker", "log-line")
    ]
    assert sorted(broken) == [
        ("conflict-marker", 1, "<<<<<<< HEAD"),
        ("conflict-marker", 3, "======="),
        ("conflict-marker", 4, ">>>>>>> other"),
        ("log-line", 2, "{broken"),
    ]


async def test_every_finding_of_a_check_is_shown_in_its_file(
    editor: Editor, project: Project
) -> None:
    project.annotated(timestamp="never", prompt="f" * 64, session="nobody")
    project.config(assurance_level="none")
    uri = editor.open(project.root / LOG)
    report = await editor.run("vibes.check", {"uri": uri})
    for path in (LOG, CONFIG, MANIFEST):
        shown = [
            (code, each.range.start.line + 1, each.message)
            for code, each, _ in await findings(editor, project, path)
        ]
        told = [
            (each["check"], each.get("line", 1), each["message"])
            for each in report["findings"]
            if each["file"] == path
        ]
        assert sorted(shown) == sorted(told)
    assert len(report["findings"]) >= 5


async def test_they_can_be_switched_off(editor: Editor, project: Project) -> None:
    project.raw_log(b"{broken\n")
    assert await findings(editor, project, LOG)
    await editor.set(diagnostics={"enable": False})
    assert await findings(editor, project, LOG) == []

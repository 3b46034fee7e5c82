"""Hostile text of a trail stays text in hovers, lenses and diagnostics."""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import pytest
from markdown_it import MarkdownIt
from pygls.exceptions import JsonRpcException

from tests.server.editor import Editor
from tests.server.project import AS_RECORDED, STORY, Project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from markdown_it.token import Token

HOSTILE: Final = {
    "link": "[x](command:workbench.action.terminal.new)",
    "image": "![](http://example.org/x.png)",
    "reference": "[x]: http://example.org\n\n[x]",
    "bare-link": "see https://example.org/x and www.example.org or mail@example.org",
    "autolink": "<https://example.org>",
    "html": '<img src=x onerror="alert(1)"><script>alert(1)</script><a href="command:x">y</a>',
    "html-block": "<div onclick=x>\nblock\n</div>",
    "entity": "&lt;b&gt; &#x3c;b&#x3e;",
    "fence": "```sh\nrm -rf ~\n```\n~~~\nmore\n~~~",
    "ticks": "a ` b `` c ``` d ```` [x](command:y) `",
    "ticks-only": "`" * 300,
    "ticks-around": "`[x](command:y)`",
    "heading": "# heading\n\nanother\n===",
    "rule": "before\n\n---\n\n***\n\nafter",
    "list": "- one\n- two\n\n1. three\n> quote",
    "table": "| a | b |\n|---|---|\n| c | d |",
    "emphasis": "**bold** __bold__ *x* _y_ ~~z~~ $(zap)",
    "backslash": "\\` \\\\` [x\\](command:y)",
    "bidi": "user\u202e txt.exe\u2066 \u2069 \u200f",
    "zero-width": "a\u200bb\u200cc\u2060d\ufeffe\u00adf\u034fg\u3164h\u180ei",
    "tags": "hi\U000e0041\U000e0042\U000e007f\U000e0100",
    "ansi": "\x1b[31mred\x1b]8;;http://example.org\x07link\x1b]8;;\x07\x9b2J",
    "controls": "a\x00b\x07c\x08d\x7fe\x85f\u2028g\u2029h\r\n\ti",
    "surrogate": "a\udcff b\ud800",
    "empty": "",
    "blank": " \t\n ",
    "long": "AI " * 350_000,
    "long-word": "W" * 1_000_000,
    "ours": "not reviewed  \n**approved** by `Ada`",
}
_INVISIBLE: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_ALLOWED: Final = {
    "inline",
    "paragraph_open",
    "paragraph_close",
    "hr",
    "text",
    "code_inline",
    "strong_open",
    "strong_close",
    "hardbreak",
    "softbreak",
    "blockquote_open",
    "blockquote_close",
}
_RENDERER: Final = MarkdownIt("gfm-like", {"html": True, "linkify": True, "typographer": True})
assert _RENDERER.linkify is not None
_RENDERER.linkify.set({"fuzzy_link": False})  # GFM makes no link of a bare `example.org`
OWN_WORDS: Final = 3500
"""Characters of a hover that stand outside of code spans, at most: each planted text is cut."""


@pytest.fixture(params=list(HOSTILE.values()), ids=list(HOSTILE))
def hostile(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def poisoned(project: Project, text: str) -> str:
    """Write a trail that says this in every place that can say something; return a file of it."""
    usable = text.encode("utf-8", "replace").decode()
    project.config(risk_scoring=AS_RECORDED)
    environment = project.environment(
        tool=usable, tool_version=usable, model=usable, model_version=usable
    )
    decision = project.decision(
        usable,
        [{"id": usable, "description": usable}, {"id": "b", "description": usable}],
        usable,
        usable,
    )
    prompt, reasoning = project.prompt(usable, files=[usable] * 9), project.reasoning(usable)
    usable = usable[:50_000]  # a record of more than 8 MB would be skipped
    contexts = {
        "environment": environment,
        "prompt": prompt,
        "decision": decision,
        "reasoning": reasoning,
        "session": usable,
        "commit": usable[:100] or None,
        "action": usable,
        "assurance_level": usable,
        "timestamp": usable or "x",
        "risk_score": 0.9,
        "risk_factors": [{"signal": usable, "value": usable, "weight": usable, "reason": usable}],
    }
    line = project.line("a.py", 4, 7, text=STORY, **contexts)
    project.review(line, verdict="rejected", reviewer=usable, note=usable, environment=environment)
    project.function("a.py", "same", usable, **contexts)  # type: ignore[arg-type]  # members of all kinds
    named = usable.replace("\x00", "").split("\n")[0][:1000]
    if named.strip():
        project.function("a.py", f"digest.{named} same", **contexts)  # type: ignore[arg-type]  # as above
    project.line(usable or "x", 1, 2)
    project.file("a.py")
    return usable


def all_tokens(markdown: str) -> Iterator[Token]:
    for token in _RENDERER.parse(markdown):
        yield token
        yield from token.children or ()


def assert_visible(text: str) -> None:
    hidden = {
        f"U+{ord(each):04X}"
        for each in text
        if unicodedata.category(each) in _INVISIBLE and each != "\n"
    }
    assert not hidden


def assert_one_short_line(text: str, limit: int) -> None:
    assert_visible(text)
    assert "\n" not in text
    assert len(text) <= limit


def assert_renders_as_text(hover: str, *, marks: bool) -> None:
    assert_visible(hover)
    assert len(hover) < 16_000  # of two annotations, each tick of which is fenced by as many
    if not marks:
        return
    tokens = list(all_tokens(hover))
    assert {token.type for token in tokens} <= _ALLOWED
    own = "".join(token.content for token in tokens if token.type == "text")
    assert len(own) < OWN_WORDS


async def test_every_surface_says_it_as_text(
    editor: Editor, project: Project, hostile: str
) -> None:
    poisoned(project, hostile)
    uri = editor.open(project.root / "a.py")
    for line in (5, 10):
        assert_renders_as_text(await editor.hover(uri, line), marks=editor.marks)
    lenses = await editor.lenses(uri)
    assert len(lenses) >= 2
    for _, title in lenses:
        assert_one_short_line(title, 200)
        assert "$(" not in title, "VS Code draws icons in lenses"
    diagnostics = await editor.diagnostics(uri)
    assert "risk-critical" in {each.code for each in diagnostics}
    for each in diagnostics:
        assert_one_short_line(each.message, 400)


async def test_what_is_found_in_the_audit_files_is_text(
    editor: Editor, project: Project, hostile: str
) -> None:
    text = (
        poisoned(project, hostile[:5000]) or "x"
    )  # every member is looked through for secrets, which takes its time
    project.config(
        assurance_level=text, standard_version=text, risk_scoring={text: {}}, **{text: 1}
    )
    codes: set[str] = set()
    for name in ("config.json", "annotations.jsonl", "manifest.json"):
        file = project.root / ".ai-audit" / name
        written = file.read_text(encoding="utf-8") if name == "config.json" else ""
        for each in await editor.diagnostics(editor.open_uri(file.as_uri(), written)):
            codes.add(str(each.code))
            assert_one_short_line(each.message, 300)
    assert {"config-field", "record-field", "timestamp"} <= codes


async def test_errors_say_it_as_text(editor: Editor, project: Project, hostile: str) -> None:
    uri = project.annotated().as_uri()
    text = hostile.encode("utf-8", "replace").decode()
    wrong = [
        ("vibes.show", {"id": text, "uri": uri}),
        ("vibes.lookup", {"uri": "untitled:" + text}),
        ("vibes.show", {"id": [text]}),
        (text, {}),
    ]
    for command, arguments in wrong:
        with pytest.raises(JsonRpcException) as caught:
            await editor.run(command, arguments)
        assert_one_short_line(caught.value.message, 500)


async def test_nothing_of_it_is_taken_for_our_own_words(editor: Editor, project: Project) -> None:
    poisoned(project, HOSTILE["ours"])
    told = await editor.hover(editor.open(project.root / "a.py"), 5)
    assert [
        line for line in told.split("\n") if line.startswith(("approved by", "**approved** by"))
    ] == []
    if editor.marks:
        strong = [
            token.content
            for inline in _RENDERER.parse(told)
            for before, token in pairwise(inline.children or ())
            if before.type == "strong_open"
        ]
        assert strong == ["rejected", "Risk", "Decision:", "Reasoning:"]
        quoted = [line for line in told.split("\n") if line.startswith(">")]
        assert quoted == ["> not reviewed  ", r"> \*\*approved\*\* by \`Ada\`"]


async def test_names_of_files_are_only_names(editor: Editor, project: Project) -> None:
    name = "[x](command:y) `tick` <b> größe 😀\u202e.py"
    project.line(name, 4, 7, text=STORY, prompt=project.prompt("Look.", files=[name]))
    uri = editor.open(project.file(name))
    assert_renders_as_text(await editor.hover(uri, 5), marks=editor.marks)
    (found,) = (await editor.provenance(uri))["placements"]
    given = {"uri": uri, "annotationId": found["annotationId"], "show": False}
    told = (await editor.run("vibes.showHistory", given))["text"]
    assert "\\u202e" in told
    assert len(await editor.lenses(uri)) == 1


def test_the_renderer_would_show_what_is_looked_for() -> None:
    """The witness itself: plain hostile text does become links, images, HTML, headings, rules, fences and lists."""
    kinds = {
        token.type
        for text in HOSTILE.values()
        if len(text) < 10_000
        for token in all_tokens(text.replace("\x00", ""))
    }
    assert (
        kinds
        >= {
            "link_open",
            "image",
            "html_block",
            "html_inline",
            "heading_open",
            "hr",
            "fence",
            "bullet_list_open",
            "table_open",
        }
        - _ALLOWED
    )

"""Text that somebody planted in a trail is inert on the screen: in hover, lens, line end, views and lists it is text."""

from __future__ import annotations

from pathlib import Path

from tests.editors.vscode.conftest import Open
from tests.server.project import STORY, Project

PROMPT = '[run](command:workbench.action.closeAllEditors) <img src=x onerror="alert(1)"> ![](http://example.org/x.png) $(zap) \u202eevil\x07\n# big'


def test_a_planted_prompt_runs_links_and_draws_nothing(open_window: Open, tmp_path: Path) -> None:
    project = Project(tmp_path / "shop")
    project.config()
    environment = project.environment(model="$(flame)<b>model</b>")
    prompt = project.prompt(PROMPT)
    project.line("a.py", 4, 7, environment=environment, prompt=prompt, text=STORY)
    project.line("a.py", 10, 13, environment=environment, prompt=prompt, text=STORY)
    project.file("a.py", STORY)
    code = open_window(project.root)
    code.open_file("a.py")

    hover = code.hover(5, 8, "Prompt:")
    assert "[run](command:workbench.action.closeAllEditors)" in hover
    shown = code.page.locator(".monaco-hover:not(.hidden) .monaco-hover-content")
    assert shown.locator("img, h1").count() == 0
    assert shown.locator("a[data-href^='command:']").count() == 0
    code.lens("AI edit")
    assert code.until(lambda: "$ (flame)<b>model</b>" in code.painted(5), "text at the line's end")

    code.command("VIBES: Show Provenance")
    row = code.until(
        lambda: next(
            (each for each in code.view("Provenance") if each.startswith("Prompt: ")), None
        ),
        "the prompt in the view",
    )
    assert row.startswith(
        "Prompt: [run](command:workbench.action.closeAllEditors) <img src=x onerror="
    )
    assert "\\u202eevil\\u0007 # big" in row
    assert "$ (zap)" in row
    waiting = code.until(
        lambda: next((each for each in code.view("Review") if each.startswith("Lines 4-7")), None),
        "the range in the queue",
    )
    assert "$ (flame)<b>model</b>" in waiting
    views = code.page.locator(".part.sidebar .monaco-list")
    assert views.locator("img, b, .codicon-zap, .codicon-flame").count() == 0

    code.go_to(5)
    code.command("VIBES: Record a Relation of the Selection")
    code.answer("depends_on", "$ (flame)<b>model</b>")
    listed = code.page.locator(".quick-input-list")
    assert "$ (flame)<b>model</b>" in code.until(
        lambda: "".join(listed.locator("[aria-label*='Lines 10-13']").all_inner_texts()),
        "the other one",
    )
    assert listed.locator("b, .codicon-flame").count() == 0
    code.page.keyboard.press("Escape")

    code.take_action("Show prompt")
    code.wait_for(".tab.active", "prompt.md")
    # An address is underlined in any text, by the editor. Once it is, what Markdown would link would be, too.
    linked = code.editor.locator(".detected-link, .detected-link-active")
    code.until(
        lambda: "example.org" in "".join(linked.all_inner_texts()), "the address in the text"
    )
    assert "command" not in "".join(linked.all_inner_texts())
    assert "[run](command:workbench.action.closeAllEditors)" in code.editor.inner_text().replace(
        "\xa0", " "
    )
    assert code.blocked == [], "something planted was fetched"

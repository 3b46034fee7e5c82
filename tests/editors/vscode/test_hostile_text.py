"""Text that somebody planted in a trail is inert on the screen: in hover, lens, line end, views and lists it is text."""

from __future__ import annotations

from pathlib import Path

from tests.editors.vscode.conftest import Open
from tests.server.project import STORY, Project

PROMPT = '[run](command:workbench.action.closeAllEditors) <img src=x onerror="alert(1)"> ![](http://example.org/x.png) $(zap) \u202eevil\x07\n# big'
OURS = [
    f"command:vibes.ui.{name}"
    for name in ("showPrompt", "showHistory", "approve", "reject", "showProvenance")
]
"""The links below a hover: this extension's own."""


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

    hover = code.hover(5, 8, "closeAllEditors")
    assert "[run](command:workbench.action.closeAllEditors)" in hover
    shown = code.page.locator(".monaco-hover:not(.hidden) .monaco-hover-content")
    assert shown.locator("img, h1").count() == 0
    code.lens("AI edit")
    links = shown.locator("a").evaluate_all("links => links.map(link => link.dataset.href ?? '')")
    assert [each.partition("?")[0] for each in links if each.startswith("command:")] == OURS
    assert not [each for each in links if "evil" in each or "workbench" in each]
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
        lambda: next((each for each in code.view("Review") if "lines 4-7 of" in each), None),
        "the range in the queue",
    )
    assert "$ (flame)<b>model</b>" in waiting
    views = code.page.locator(".part.sidebar .monaco-list")
    assert views.locator("img, b, .codicon-zap, .codicon-flame").count() == 0

    code.go_to(5)
    code.command("VIBES: Record a Relation of the Selection…")
    code.answer("depends_on", "Relation of lines 4-7")
    listed = code.page.locator(".quick-input-list")
    assert "$ (flame)<b>model</b>" in code.until(
        lambda: "".join(listed.locator("[aria-label*='lines 10-13']").all_inner_texts()),
        "the other one",
    )
    assert listed.locator("b, .codicon-flame").count() == 0
    code.page.keyboard.press("Escape")

    code.page.keyboard.press("Alt+Shift+V")
    preview = code.page.locator(".peekview-widget .preview .view-lines")
    code.until(lambda: "[run](command:" in preview.inner_text().replace("\xa0", " "), "the peek")
    for _ in range(2):
        code.page.keyboard.press("Escape")

    code.go_to(5)
    code.take_action("Show prompt")
    code.wait_for(".tab.active", "Preview Prompt.md")
    rendered = code.until(
        lambda: next((each for each in code.page.frames if each.locator("pre").count() == 1), None),
        "the rendered prompt",
    )
    assert "[run](command:workbench.action.closeAllEditors)" in rendered.locator("pre").inner_text()
    hrefs = rendered.locator("a").evaluate_all(
        "links => links.map(link => link.dataset.href ?? '')"
    )
    assert [each for each in hrefs if each] == ["/a.py#L4"]
    assert rendered.locator("img, b").count() == 0
    assert code.blocked == [], "something planted was fetched"

"""Takes the screenshots of the documentation (`make screenshots`)."""

from __future__ import annotations

import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser, ViewportSize, sync_playwright

from tests.demo.workspace import build
from tests.editors.vscode.knowledge import run_kb
from tests.editors.vscode.program import Program, install
from tests.editors.vscode.window import Window
from tests.requirements import REPOSITORY, require_editor
from tests.trails import Repository

PICTURES: Final = REPOSITORY / "docs/pictures"
EXTENSION: Final = REPOSITORY / "dist/vibes-lsp.vsix"
MEDIA: Final = REPOSITORY / "editors/vscode/media"
_SIZE: Final[ViewportSize] = {"width": 1240, "height": 720}
_ICON_SIZE: Final[ViewportSize] = {"width": 128, "height": 128}
_THEMES: Final = {
    "light": "Default Light Modern",
    "dark": "Default Dark Modern",
    "high-contrast": "Default High Contrast",
}
_KINDS: Final = {"light": "vs", "dark": "vs-dark", "high-contrast": "hc-black"}
_HAS_COLOURS: Final = """root => [...root.querySelectorAll('.view-line')]
    .some(line => line.querySelector('span > span')?.textContent === 'def')"""
"""Whether a keyword is an element of its own; scrolling before that colours the rest wrongly."""
_HOVER_OPACITY: Final = """() => getComputedStyle(
    document.querySelector('.monaco-hover:not(.hidden)')).opacity"""


def main() -> None:
    """Take all screenshots."""
    settings = {
        "vibes.server.path": str(Path(sysconfig.get_path("scripts")) / "vibes-lsp"),
        "vibes.reviewer": "Ada Example",
    }
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        shop = build(Path(scratch) / "shop").root
        installed = install([EXTENSION], Path(scratch) / "installed")
        with (
            Program(Path(scratch) / "profile", installed, settings) as program,
            sync_playwright() as playwright,
        ):
            browser = playwright.chromium.launch(
                executable_path=require_editor("chromium"),
                args=["--no-sandbox", "--disable-gpu"],
            )
            known = build(Path(scratch) / "known").root
            propose_claims(known)
            claims = Window(browser.new_page(viewport=_SIZE), program, known)
            _knowledge(claims)
            claims.page.close()
            window = Window(browser.new_page(viewport=_SIZE), program, shop)
            _icon(browser)
            _line(window)
            _views(window)
            _commit(window, shop)
            _blame(window)
            browser.close()


def _icon(browser: Browser) -> None:
    """Draw the extension's icon from its source."""
    page = browser.new_page(viewport=_ICON_SIZE)
    source = (MEDIA / "icon.svg").read_text(encoding="utf-8")
    page.set_content(f"<style>body {{ margin: 0 }} svg {{ display: block }}</style>{source}")
    page.screenshot(path=MEDIA / "icon.png", omit_background=True)
    page.close()


def propose_claims(project: Path) -> None:
    """Create a knowledge base with an approved claim, and one that an agent proposed."""
    run_kb(project, "init")
    fact = ("--type", "fact", "--confidence", "0.9", "--lines", "src/auth.py:13-15")
    proposal = run_kb(
        project, "propose-claim", "--text", "Only the form of an address is checked", *fact
    )
    run_kb(project, "approve", proposal, actor="Grace Example")
    warning = ("--type", "warning", "--lines", "src/auth.py:18-20")
    run_kb(project, "propose-claim", "--text", "Digits are not required", *warning)


def _knowledge(window: Window) -> None:
    """Show a claim at its lines, and a proposal in the review view."""
    window.open_file("src/auth.py")
    window.command("VIBES: Focus on Review View")
    window.lens("1 claim", at=13)
    window.lens("1 pending", at=18)
    window.until(lambda: "Digits" in "".join(window.view("Review")), "the proposal")
    window.until(lambda: window.editor.evaluate(_HAS_COLOURS), "the colours of the code")
    for name in _in_each_theme(window):
        _hover(window, 14, 8, "Archive")
        window.picture(PICTURES / _name("claims", name))
        window.page.keyboard.press("Escape")


def _line(window: Window) -> None:
    """Show a hover over a risky line, with lenses and marks."""
    window.page.keyboard.press("Control+B")
    window.open_file("src/auth.py")
    window.lens("critical risk")
    window.marks_on([*range(13, 21), 23, 24, 25, 27])
    window.until(lambda: window.editor.evaluate(_HAS_COLOURS), "the colours of the code")
    for name in _in_each_theme(window):
        _hover(window, 24, 8, "Details")
        window.picture(PICTURES / _name("hover", name))
        window.page.keyboard.press("Escape")
        window.go_to(23)
        window.command("VIBES: Peek Prompt and History")
        window.wait_for(".peekview-widget .preview .view-line", "Store passwords safely.")
        window.picture(PICTURES / _name("peek", name))
        window.page.keyboard.press("Escape")
        window.page.keyboard.press("Escape")


def _hover(window: Window, line: int, column: int, text: str) -> None:
    """Show the hover that has a text, and wait until it has faded in."""
    window.hover(line, column, text)
    window.until(lambda: window.page.evaluate(_HOVER_OPACITY) == "1", "the whole hover")


def _name(subject: str, theme: str) -> str:
    """Return the file of a picture; the one in the light theme has the plain name."""
    return f"vscode-{subject}.png" if theme == "light" else f"vscode-{subject}-{theme}.png"


def _in_each_theme(window: Window) -> Iterator[str]:
    """Choose one theme of each kind after another, the light one last."""
    for name in ("dark", "high-contrast", "light"):
        window.program.choose({"workbench.colorTheme": _THEMES[name]})
        window.wait_for(f".monaco-workbench.{_KINDS[name]}")
        yield name


def _views(window: Window) -> None:
    """Show the review view and the provenance view."""
    window.go_to(25)
    window.command("VIBES: Show Provenance")
    window.until(lambda: len(window.view("Review")) == 8, "the queue")
    window.until(lambda: "Read: src/auth.py" in window.view("Provenance"), "what led to it")
    window.page.mouse.move(700, 640)
    window.until(lambda: "Store passwords" in window.painted(25), "text at the line's end")
    for name in _in_each_theme(window):
        window.picture(PICTURES / _name("views", name))
    window.command("VIBES: Show AI Changes since HEAD")
    window.wait_for(".multiDiffEntry .line-insert")
    marks = window.page.locator(".multiDiffEntry .glyph-margin-widgets .cgmr")
    window.until(marks.count, "marks in the diff")
    window.picture(PICTURES / "vscode-changes.png")


def _commit(window: Window, shop: Path) -> None:
    """Show the AI lines of the next commit, and badges in the Explorer."""
    Repository(shop).git("add", "--all")
    window.program.choose({"git.enabled": True, "vibes.explorer.badge": "waiting"})
    window.wait_for(".statusbar-item", "main")
    window.command("Source Control: Focus on AI Lines in This Commit View")
    window.wait_for(".pane", "AI lines in this commit:")
    window.page.mouse.move(700, 640)
    window.picture(PICTURES / "vscode-commit.png")


def _blame(window: Window) -> None:
    """Show the blame column in each kind of theme."""
    window.command("File: Focus on Files Explorer")
    window.open_file("src/auth.py")
    window.command("VIBES: Toggle Blame Column")
    window.program.choose({"vibes.blame.heat": "risk", "vibes.lineText": "off"})
    for name in _in_each_theme(window):
        window.until(window.blame, "the blame column")
        window.picture(PICTURES / f"vscode-blame-{name}.png")


if __name__ == "__main__":
    main()

"""Drives a VS Code window with keys and mouse. Every method waits for its effect."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

from playwright.sync_api import Error, Locator, Page, Route

from tests.editors.vscode.program import Program
from tests.editors.vscode.reading import BLAME, LENSES, LINE_END, MARKS, PAINTED
from tests.waiting import TIMEOUT

_TIMEOUT_MS: Final = TIMEOUT * 1000
_ATTEMPT_TIMEOUT: Final = 5000
"""Timeout of a single attempt in milliseconds; attempts repeat until `TIMEOUT`."""
_INTERVAL: Final = 100
"""Milliseconds between two polls."""
_LABELS: Final = "rows => rows.map(row => row.getAttribute('aria-label') ?? '')"
_T = TypeVar("_T")


def _quoted(text: str) -> str:
    """Return a text as a string of a CSS selector, where JSON's escapes mean other characters."""
    return json.dumps(text, ensure_ascii=False)


class Window:
    """Drives one window.

    Args:
        page: The browser's page.
        program: The VS Code server.
        folder: The folder to open.
    """

    def __init__(self, page: Page, program: Program, folder: Path) -> None:
        self.page = page
        self.program = program
        self.console: list[str] = []
        self.blocked: list[str] = []
        self._ask_again: Callable[[], object] = lambda: None
        page.set_default_timeout(_ATTEMPT_TIMEOUT)
        page.on(
            "console", lambda message: self.console.append(f"{message.type}: {message.text[:300]}")
        )
        page.route(re.compile("^https?://"), self._block_remote)
        page.goto(f"{program.url}?folder={quote(str(folder))}", timeout=_TIMEOUT_MS)
        page.locator(".monaco-workbench .part.statusbar").wait_for(timeout=_TIMEOUT_MS)
        page.locator(".explorer-folders-view .monaco-list-row").first.wait_for(timeout=_TIMEOUT_MS)

    def _block_remote(self, route: Route) -> None:
        if route.request.url.startswith(self.program.url):
            route.continue_()
        else:
            self.blocked.append(route.request.url)
            route.abort()

    @property
    def editor(self) -> Locator:
        """The active editor."""
        return self.page.locator(".editor-group-container.active .editor-instance").first

    def until(self, ask: Callable[[], _T | None], what: str) -> _T:
        """Call `ask` until its result is truthy. Vanished elements count as no result."""
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            try:
                answer = ask()
            except Error:
                answer = None
            if answer:
                return answer
            self.page.wait_for_timeout(_INTERVAL)
        raise AssertionError(
            f"timeout while waiting for {what}; editor text:\n"
            f"{self.page.locator('.editor-instance').all_inner_texts()}"
        )

    # --- actions

    def open_file(self, path: str) -> None:
        """Open a file of the folder by its path."""
        self.request_file(path)
        self.editor.locator(".view-line").first.wait_for(timeout=_TIMEOUT_MS)

    def request_file(self, path: str) -> None:
        """Open a file by its path, of which VS Code may not show the text at once."""
        name = path.rsplit("/", maxsplit=1)[-1]
        tab = self.page.locator(".tab.active", has_text=name)

        def opened() -> bool:
            self._in_quick_input("Control+P", path, name)
            tab.wait_for()  # a list that lost the focus closes and opens nothing
            return True

        self.until(opened, f"the tab of {path!r}")

    def go_to(self, line: int, column: int = 1) -> None:
        """Put the cursor at a 1-based line and column."""
        place = self.page.locator(
            ".statusbar-item", has_text=re.compile(rf"^\s*Ln {line}, Col {column}\b")
        )

        def went() -> bool:
            self.page.keyboard.press("Control+G")
            field = self.page.locator(".quick-input-widget input")
            field.fill(f":{line}:{column}")
            self.page.keyboard.press("Enter")
            self.page.locator(".quick-input-widget").wait_for(state="hidden")
            place.wait_for()
            return True

        self.until(went, f"the cursor at {line}:{column}")

    def command(self, title: str) -> None:
        """Run a command by its whole title in the palette."""
        self._ask_again = partial(self._in_quick_input, "F1", f">{title}", title)
        self._ask_again()

    def found_in_palette(self, words: str) -> list[str]:
        """Return the commands of the palette that begin with some words."""
        widget = self.page.locator(".quick-input-widget")
        self.page.keyboard.press("F1")
        widget.locator("input").first.fill(f">{words}", timeout=_TIMEOUT_MS)
        rows = widget.locator(".monaco-list-row")
        rows.first.wait_for(timeout=_TIMEOUT_MS)  # one says that there is no command
        labels = [label.partition(",")[0] for label in rows.evaluate_all(_LABELS)]
        self.page.keyboard.press("Escape")
        widget.wait_for(state="hidden")
        return [label for label in labels if label.startswith(words)]

    def answer(self, text: str, question: str) -> None:
        """Answer the input box or pick list with this title. `text` must match the list entry.

        One that was dismissed, because something else took the focus, is brought up again.
        """
        field = self._question(question)

        def filled() -> bool:
            try:
                field.fill(text)
            except Error:
                if field.count() > 0:
                    self._ask_again()
                raise
            return True

        self.until(filled, f"the question {question!r}")
        entries = self.page.locator(".quick-input-widget .quick-input-list")
        if entries.evaluate(
            "list => getComputedStyle(list).display != 'none'"
        ):  # which may come after its title
            entries.locator(".monaco-list-row.focused", has_text=text).wait_for(timeout=_TIMEOUT_MS)
        field.press("Enter")
        if text:  # the extension validates it; a box that loses the focus before is dismissed
            self.until(
                lambda: field.count() == 0 or not field.is_visible() or field.input_value() != text,
                f"the end of the question {question!r}",
            )

    def choose(self, entry: str) -> None:
        """Choose an entry of the open list by its prefix."""
        row = self.page.locator(
            f".quick-input-list .monaco-list-row[aria-label^={_quoted(entry)}]"
        ).first
        row.wait_for(timeout=_TIMEOUT_MS)

        def chosen() -> bool:
            if row.is_visible():
                row.click()
            row.wait_for(state="hidden", timeout=6 * _ATTEMPT_TIMEOUT)
            return True

        self.until(chosen, f"the choice of {entry!r}")

    def dismiss(self, question: str) -> None:
        """Dismiss the input box or pick list with this title."""
        field = self._question(question)
        field.press("Escape", timeout=_TIMEOUT_MS)
        field.wait_for(state="hidden", timeout=_TIMEOUT_MS)

    def _question(self, title: str) -> Locator:
        asked = self.page.locator(".quick-input-title", has_text=title)
        return self.page.locator(".quick-input-widget", has=asked).locator("input").first

    def take_action(self, title: str) -> None:
        """Run a code action at the cursor."""
        menu = self.page.locator(".action-widget:visible")
        action = menu.locator(".monaco-list-row.action", has_text=title).first

        def taken() -> bool:
            if menu.count() == 0:
                self.page.keyboard.press("Control+.")
            action.click()
            return True

        self.until(taken, f"{title!r} among the actions")

    def press_in_status_bar(self, text: str) -> None:
        """Click an item of the status bar by its text."""
        self.page.locator(".part.statusbar .statusbar-item a", has_text=text).first.click(
            timeout=_TIMEOUT_MS
        )

    def type(self, text: str) -> None:
        """Type at the cursor."""
        self.page.keyboard.type(text)

    def save(self) -> None:
        """Save the active file."""
        self.page.keyboard.press("Control+S")
        self.page.locator(".tab.active:not(.dirty)").wait_for(timeout=_TIMEOUT_MS)

    def _in_quick_input(self, key: str, text: str, label: str) -> None:
        widget = self.page.locator(".quick-input-widget")
        field = widget.locator("input").first
        row = widget.locator(
            f".monaco-list-row[aria-label={_quoted(label)}], .monaco-list-row[aria-label^={_quoted(label + ', ')}], "
            f".monaco-list-row[aria-label^={_quoted(label + ' ')}]"
        ).first

        def chosen() -> bool:
            if not widget.is_visible():
                self.page.keyboard.press(key)
            field.fill(text)
            row.click()
            # a click is lost if the list redraws the row meanwhile
            self.page.wait_for_function(
                "([field, text]) => !field.checkVisibility() || field.value !== text",
                arg=[field.element_handle(), text],
                timeout=6 * _ATTEMPT_TIMEOUT,  # a second click would run the command again
            )
            return True

        self.until(chosen, f"{label!r} in the list that {key} brings up")

    # --- reading

    def hover(self, line: int, column: int, expected: str) -> str:
        """Hover at a 1-based position until the text is complete and has `expected`; return it."""
        self.go_to(line, column)
        cursor = self.editor.locator(".cursors-layer .cursor").first
        hovers = self.page.locator(".monaco-hover:not(.hidden) .monaco-hover-content")

        def shown() -> str | None:
            box = cursor.bounding_box()
            if box is None:
                return None
            self.page.mouse.move(box["x"] + 80, box["y"] - 70)  # a resting mouse opens no hover
            self.page.mouse.move(box["x"] + 4, box["y"] + box["height"] / 2, steps=5)
            hovers.filter(has_text=expected).first.wait_for(timeout=3000)
            said = "\n".join(hovers.all_inner_texts()).replace("\xa0", " ")
            return None if "Loading..." in said else said

        return self.until(shown, f"a hover at {line}:{column} that says {expected!r}")

    def lenses(self) -> list[tuple[int, str]]:
        """Return line and text of the visible lenses."""
        return [
            (each["line"], each["text"].replace("\xa0", " "))
            for each in self.editor.evaluate(LENSES)
        ]

    def hover_line_end(self, line: int, expected: str) -> None:
        """Point at the text after a line's end until a hover shows that has `expected`."""
        hovers = self.page.locator(".monaco-hover:not(.hidden) .monaco-hover-content")

        def shown() -> bool:
            place = self.editor.evaluate(LINE_END, line)
            if place is None:
                return False
            self.page.mouse.move(place["x"], place["y"] + 150)  # a resting mouse opens no hover
            self.page.mouse.move(place["x"] + 60, place["y"], steps=5)
            hovers.filter(has_text=expected).first.wait_for(timeout=3000)
            return True

        self.until(shown, f"a hover on the text after line {line} that says {expected!r}")

    def lens(self, expected: str, at: int | None = None) -> tuple[int, str]:
        """Wait for a lens that contains a text, optionally above a line; return line and text.

        Focuses the editor, because VS Code cancels lens requests when the focus leaves.
        """

        def found() -> tuple[int, str] | None:
            self.editor.locator(".native-edit-context, .inputarea").first.focus()
            return next(
                (
                    each
                    for each in self.lenses()
                    if expected in each[1] and (each[0] == at if at is not None else each[0])
                ),
                None,
            )

        return self.until(
            found,
            f"a lens that says {expected!r}" + (f" above line {at}" if at is not None else ""),
        )

    def marks_on(self, lines: list[int]) -> dict[int, str]:
        """Wait until exactly these visible lines have a mark; return the image URLs."""
        return self.until(
            lambda: found if sorted(found := self.marks()) == lines else None,
            f"marks on {lines} alone",
        )

    def marks(self) -> dict[int, str]:
        """Return the image URL of each visible line with one of our marks."""
        return {int(line): picture for line, picture in self.editor.evaluate(MARKS).items()}

    def painted(self, line: int) -> str:
        """Return the rendered text of a visible line, with line-end text."""
        return str(self.editor.evaluate(PAINTED, line)).replace("\xa0", " ")

    def blame(self) -> dict[int, dict[str, Any]]:
        """Return the blame column's cell beside each visible line; see `reading.BLAME`."""
        return {int(line): cell for line, cell in self.editor.evaluate(BLAME).items()}

    def problems(self) -> list[str]:
        """Return the labels of the visible entries of the Problems panel."""
        panel = self.page.locator(".markers-panel").first
        if not panel.is_visible():
            self.page.keyboard.press("Control+Shift+M")
            panel.wait_for(timeout=_TIMEOUT_MS)
        rows = self.page.locator('.markers-panel .monaco-list-row[aria-level="2"]')
        return list(rows.evaluate_all(_LABELS))

    def status_bar(self) -> str:
        """Return the text of the status bar."""
        return " | ".join(self.page.locator(".part.statusbar .statusbar-item").all_inner_texts())

    def notifications(self) -> list[str]:
        """Return the visible notifications."""
        return self.page.locator(".notification-list-item-message").all_inner_texts()

    def message(self, *parts: str) -> str:
        """Wait for a notification with all parts, visible or hidden; return it."""
        center = self.page.locator(".notifications-center.visible")

        def said() -> str | None:
            if center.count() == 0:
                self.command("Notifications: Show Notifications")
                center.wait_for()
            return next(
                (each for each in self.notifications() if all(part in each for part in parts)), None
            )

        return self.until(said, f"a message that says {parts}")

    def view(self, name: str) -> list[str]:
        """Return the row labels of one of our open views."""
        rows = self.page.locator(f'.pane:has(.pane-header[aria-label^="{name}"]) .monaco-list-row')
        return list(rows.evaluate_all(_LABELS))

    def click_row(self, label: str) -> None:
        """Click a row of our views by the prefix of its label."""
        self._row(label).click(timeout=_TIMEOUT_MS)

    def click_lens(self, expected: str, brings: str, text: str = "") -> None:
        """Click a lens until it brings a visible element.

        VS Code loses a click while it redraws the lenses.
        """
        lens = self.editor.locator(".codelens-decoration a", has_text=expected).first
        brought = self.page.locator(brings, has_text=text).first

        def is_brought() -> bool:
            if not brought.is_visible():
                lens.click()
                brought.wait_for(timeout=6 * _ATTEMPT_TIMEOUT)
            return True

        self.until(is_brought, f"what the lens {expected!r} brings")

    def wait_for(self, selector: str, text: str = "") -> None:
        """Wait until a matching element is visible."""
        self.page.locator(selector, has_text=text).first.wait_for(timeout=_TIMEOUT_MS)

    def _row(self, label: str) -> Locator:
        return self.page.locator(
            f".part.sidebar .monaco-list-row[aria-label^={_quoted(label)}]"
        ).first

    def row_icon(self, label: str) -> str:
        """Return the image URL of a view row's icon, as `marks` does."""
        icon = self._row(label).locator(".custom-view-tree-node-item-icon").first
        return str(icon.evaluate("icon => getComputedStyle(icon).backgroundImage"))

    def press_button_in_row(self, label: str, action: str) -> None:
        """Press a hover button of a view row until the row has gone."""
        row = self._row(label)

        def pressed() -> bool:
            if row.count() == 0:
                return True
            row.hover()
            row.locator(f".action-label[aria-label^={_quoted(action)}]").first.click()
            row.wait_for(state="detached")
            return True

        self.until(pressed, f"the button {action!r} of {label!r}")

    def press_in_row(self, label: str, action: str) -> None:
        """Press a hover button of a view row until an input box opens."""
        row, question = (
            self._row(label),
            self.page.locator(".quick-input-widget:not(.hidden) input"),
        )

        def pressed() -> bool:
            if not question.first.is_visible():  # a second press would ask again
                row.hover()
                row.locator(f".action-label[aria-label^={_quoted(action)}]").first.click()
                question.first.wait_for(timeout=4 * _ATTEMPT_TIMEOUT)
            return True

        self._ask_again = partial(self.until, pressed, f"the button {action!r} of {label!r}")
        self._ask_again()

    def picture(self, file: Path) -> None:
        """Save a screenshot of the window."""
        file.parent.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=file)

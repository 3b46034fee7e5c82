"""The cost of a keystroke in a file of 20,000 lines, against pygls.

Changes in many lines stand for many cursors.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final, TypeAlias

from lsprotocol import types
from pygls.workspace import TextDocument

from benchmarks.measure import median_seconds
from vibes_lsp.lsp.protocol.open_documents import Documents

LINES: Final = 20_000
AT_ONCE: Final = 1_000
"""Changes in one round of ours; for pygls one is enough."""
ROUNDS: Final = 15
URI: Final = "file:///project/large.py"
Change: TypeAlias = types.TextDocumentContentChangeEvent


def main() -> None:
    """Measure and print."""
    text = "".join(
        f"    value_{number} = compute({number}, 'some words')\n" for number in range(LINES)
    )
    print(f"typing: {LINES:,} lines; one change of {AT_ONCE:,}")
    for name, make in _KINDS.items():
        numbers = random.Random(7)
        changes = [make(numbers) for _ in range(AT_ONCE)]
        ours, stock = _Typed(text, changes), TextDocument(URI, text, 1)
        times = median_seconds(
            {
                "ours": ours.type,
                "pygls": partial(stock.apply_change, changes[0]),
            },
            ROUNDS,
        )
        each = times["ours"] / AT_ONCE
        print(
            f"  {name:<24}{each * 1e6:8.1f} µs;"
            f"  pygls / ours {times['pygls'] / each:6.0f}  (target: at least 50)"
        )


class _Typed:
    """A document that is edited."""

    def __init__(self, text: str, changes: Sequence[Change]) -> None:
        self._documents = Documents()
        self._documents.open(URI, 1, text)
        self._changes = changes

    def type(self) -> None:
        """Apply the changes, as after a pause."""
        for change in self._changes:
            self._documents.change(URI, None, [change])


def _change(start: tuple[int, int], end: tuple[int, int], text: str) -> Change:
    return types.TextDocumentContentChangePartial(
        types.Range(types.Position(*start), types.Position(*end)), text
    )


def _in_one_line(_numbers: random.Random) -> Change:
    return _change((LINES // 2, 8), (LINES // 2, 9), "x")


def _in_many_lines(numbers: random.Random) -> Change:
    line = numbers.randrange(LINES)
    return _change((line, 8), (line, 8), "x")


def _line_break(numbers: random.Random) -> Change:
    line = numbers.randrange(LINES)
    return _change((line, 8), (line, 8), "\n    ")


def _whole_line(numbers: random.Random) -> Change:
    line = numbers.randrange(LINES - 1)
    return _change((line, 0), (line + 1, 0), "    other = 1\n")


_KINDS: Final[dict[str, Callable[[random.Random], Change]]] = {
    "character, one line": _in_one_line,
    "character, many lines": _in_many_lines,
    "line break, many lines": _line_break,
    "line, many lines": _whole_line,
}


if __name__ == "__main__":
    main()

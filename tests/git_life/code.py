"""Source code as people and AIs write it: functions of varied length, with boilerplate."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final, NamedTuple


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_WORDS: Final = _words(
    "account address amount archive balance batch border bucket buffer cache cart channel chart city client"
    " column comment contact counter country course credit currency delay device digest discount document"
    " driver element entry event export factor feature filter folder frame gauge group header image index"
    " invoice item journal label layer ledger limit margin market member message meter model network notice"
    " offer option order owner packet page parcel partner patch payment period phase picture planet plugin"
    " pointer policy price profile project quota ratio reader record region report request result route"
    " sample schema season segment sender series signal socket source stage station storage stream student"
    " subject summary switch symbol system table target task template tenant ticket token topic total track"
    " transfer unit update upload vector vendor version visitor volume voucher wallet window worker writer"
)
_VERBS: Final = _words(
    "add apply build check clear close collect compute count drop find fill format join load"
    " map merge open parse pick read save send sort split store sum take test trim update"
    " verify"
)


class Words(NamedTuple):
    """A line to be, and whether others write the same line by chance."""

    text: str
    ordinary: bool


@dataclass(frozen=True, slots=True)
class _Language:
    extension: str
    head: str
    tail: tuple[str, ...]
    special: tuple[str, ...]
    """Lines with made names."""
    ordinary: tuple[str, ...]
    """Lines that everybody writes."""


_LANGUAGES: Final = {
    "py": _Language(
        "py",
        "def {verb}_{a}_{b}({c}, {d}):",
        ("    return {c}", "    return None", ""),
        (
            "    {a}_{b} = {verb}_{c}({d}, {n})",
            "    {a}.{verb}_{b}({c}[{d}])",
            "    for {a} in {b}.{verb}_{c}():",
            '    logger.info("{a} {b} of {c}", {d})',
            "    if {a}.{b} > {c}_{d}:",
            '    {a}["{b}"] = {c} + {n}',
            "    # {verb} the {a} before the {b} of {c}",
            "    {a}, {b} = {verb}({c}), {d}",
        ),
        (
            "    try:",
            "    else:",
            "        pass",
            "        return None",
            "        continue",
            "    except ValueError:",
            "    result = []",
            "",
            "    if value is None:",
            '        raise ValueError("value is missing")',
        ),
    ),
    "js": _Language(
        "js",
        "function {verb}{A}{B}({c}, {d}) {{",
        ("  return {c};", "  return null;", "}}", ""),
        (
            "  const {a}{B} = {verb}{C}({d}, {n});",
            "  {a}.{verb}{B}({c}[{d}]);",
            "  for (const {a} of {b}.{verb}{C}()) {{",
            "  console.log(`{a} {b}`, {c});",
            "  if ({a}.{b} > {c}{D}) {{",
            '  {a}["{b}"] = {c} + {n};',
            "  // {verb} the {a} before the {b} of {c}",
            "  {a}.map(({b}) => {verb}{C}({b}));",
        ),
        (
            "  }",
            "  } else {",
            "    return;",
            "    continue;",
            "  }",
            "  const result = [];",
            "",
            "  if (value === undefined) {",
            '    throw new Error("value is missing");',
            "  });",
        ),
    ),
    "go": _Language(
        "go",
        "func {verb}{A}{B}({c} int, {d} string) error {{",
        ("\treturn nil", "}}", ""),
        (
            "\t{a}{B}, err := {verb}{C}({d}, {n})",
            "\t{a}.{verb}{B}({c}[{d}])",
            "\tfor _, {a} := range {b}.{verb}{C}() {{",
            '\tlog.Printf("{a} {b} %v", {c})',
            "\tif {a}.{b} > {c}{D} {{",
            '\t{a}["{b}"] = {c} + {n}',
            "\t// {verb} the {a} before the {b} of {c}",
            "\tdefer {a}.{verb}({b}, {c})",
        ),
        (
            "\t}",
            "\tif err != nil {",
            "\t\treturn err",
            "\t}",
            "\t\tcontinue",
            "",
            "\tvar result []string",
            '\t\treturn errors.New("value is missing")',
            "\t} else {",
            "\tdefer mutex.Unlock()",
        ),
    ),
}
LANGUAGES: Final = tuple(_LANGUAGES)


class Coder:
    """Writes code of one language; no two special lines of its life are equal.

    Args:
        language: One of `LANGUAGES`.
        rng: Decides everything.
    """

    def __init__(self, language: str, rng: random.Random) -> None:
        self.language, self.extension = language, _LANGUAGES[language].extension
        self._forms = _LANGUAGES[language]
        self._rng = rng
        self.used: set[str] = set()
        """The special lines that were written, without white space."""

    def function(self, size: int | None = None) -> list[Words]:
        """Return a function with about so many lines in its body."""
        size = size or self._rng.choice((2, 3, 4, 5, 6, 8, 11, 16))
        head = self.special(self._forms.head)
        tail = [Words(self._fill(text), True) for text in self._forms.tail[:-1]]
        if len(tail) > 1 and self._forms.extension != "go":
            del tail[self._rng.randrange(2)]  # one of the two ways to return
        return [head, *(self.line() for _ in range(size)), *tail, Words("", True)]

    def line(self) -> Words:
        """Return a line of a function: special, or one that everybody writes."""
        if self._rng.random() < 0.3:
            return Words(self._rng.choice(self._forms.ordinary), True)
        return self.special()

    def special(self, pattern: str | None = None) -> Words:
        """Return a line that nobody has written yet."""
        while True:
            text = self._fill(pattern or self._rng.choice(self._forms.special))
            bare = "".join(text.split())
            if bare not in self.used:
                self.used.add(bare)
                return Words(text, False)

    def body(self, size: int) -> list[Words]:
        """Return lines of a function, at least one of them special."""
        lines = [self.line() for _ in range(size)]
        if all(line.ordinary for line in lines):
            lines[self._rng.randrange(size)] = self.special()
        return lines

    def _fill(self, pattern: str) -> str:
        names = dict(zip("abcd", self._rng.sample(_WORDS, 4), strict=True))
        capital = {name.upper(): word.capitalize() for name, word in names.items()}
        verb, number = self._rng.choice(_VERBS), self._rng.randrange(100)
        return pattern.format(**names, **capital, verb=verb, n=number)


def reindented(text: str) -> str:
    """Return a line as the formatter of the generated projects leaves it: only white space differs."""
    bare = text.lstrip(" \t")
    return "      " + bare if bare and bare != text else text

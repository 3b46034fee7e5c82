"""Every link between pages leads to a file and to a heading, and every page is linked."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Final

from tests.architecture import source_tree
from tests.requirements import REPOSITORY

PAGES: Final = tuple(path for path in source_tree.files() if path.suffix == ".md")
_FENCE: Final = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK: Final = re.compile(r"\]\((?!\w+:)([^)\s]+)\)")
_PAGE: Final = re.compile(r"(?<![\w./])(?:services/)?docs/[\w/-]+\.md")
_FILE: Final = re.compile(r"`((?:tests|benchmarks|editors|tools|vibes_lsp)/[\w./-]*\w)(?:::\w+)?`")
_MODULE: Final = re.compile(r"python -m\s+((?:benchmarks|tests|tools)(?:\.\w+)*)")
_HEADING: Final = re.compile(r"^#+ (.*)$", re.MULTILINE)


def test_every_link_leads_somewhere() -> None:
    assert [
        f"{page.as_posix()}: {link}"
        for page in PAGES
        for link in _LINK.findall(_text(REPOSITORY / page))
        if _is_dead(page, link)
    ] == []


def test_every_page_of_the_documentation_is_linked_from_another() -> None:
    linked = {
        (REPOSITORY / page.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in _LINK.findall(_text(REPOSITORY / page))
        if not link.startswith("#")
    }
    pages = {
        (REPOSITORY / page).resolve() for page in PAGES if page.parts[0] in {"docs", "services"}
    }
    assert pages <= linked


def test_every_page_that_the_programs_name_is_there() -> None:
    """In messages, help and comments; the demonstration has pages of its own."""
    programs = [
        path
        for path in source_tree.files()
        if path.parts[0] in {"vibes_lsp", "services", "editors"}
        and path.suffix in {".py", ".lua", ".ts", ".txt"}
        and path.parts[:2] != ("vibes_lsp", "demo")
    ]
    assert [
        f"{path.as_posix()}: {page}"
        for path in programs
        for page in _PAGE.findall(source_tree.text_of(path) or "")
        if not (REPOSITORY / page).is_file()
    ] == []


def test_every_file_that_a_page_names_is_there() -> None:
    assert [
        f"{page.as_posix()}: {file}"
        for page in PAGES
        if page.name not in {"CHANGELOG.md", "archive.md"}
        for file in _FILE.findall((REPOSITORY / page).read_text(encoding="utf-8"))
        if not (REPOSITORY / file).exists()
    ] == []


def test_every_program_of_ours_that_a_page_runs_is_there() -> None:
    named = {
        (page.as_posix(), module)
        for page in PAGES
        for module in _MODULE.findall((REPOSITORY / page).read_text(encoding="utf-8"))
    }
    assert named
    places = {(page, module): REPOSITORY / module.replace(".", "/") for page, module in named}
    assert [
        name
        for name, place in places.items()
        if not (place.is_dir() or place.with_suffix(".py").is_file())
    ] == []


def test_the_modules_that_the_architecture_names_are_there() -> None:
    page = (REPOSITORY / "docs/architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)`", page))
    named -= {"core.pager"}  # git's
    places = {
        name: REPOSITORY / "vibes_lsp" / name.replace(".", "/")
        for name in named
        if not name.startswith("vibes_lsp.") and not name.endswith((".db", ".py", ".toml"))
    }
    assert [name for name, place in places.items() if not place.with_suffix(".py").is_file()] == []


def test_headings_have_the_anchors_that_github_gives_them(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# `a.b` [of](c.md): it's\n\n## Twice\n\n## Twice\n\n```\n# no heading\n```\n")
    assert _anchors(page) == {"ab-of-its", "twice", "twice-1"}


def _is_dead(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (REPOSITORY / page.parent / name if name else REPOSITORY / page).resolve()
    if anchor and target.suffix == ".md":
        return not target.is_file() or anchor not in _anchors(target)
    return not target.exists()


@cache
def _anchors(page: Path) -> frozenset[str]:
    found: set[str] = set()
    seen: Counter[str] = Counter()
    for heading in _HEADING.findall(_text(page)):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        anchor = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return frozenset(found)


def _text(page: Path) -> str:
    """Return a page without its blocks of code."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))

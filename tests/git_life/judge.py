"""Compares what a tool says with what is known, line by line, and reads its log."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from tests.git_life.lines import PERSON, UNKNOWN, Line, Origin, author_of_text, numbers
from tests.git_life.subject import Claim
from tests.git_life.work_tree import WorkTree

LOG: Final = ".ai-audit/annotations.jsonl"
MANIFEST: Final = ".ai-audit/manifest.json"

ERRORS: Final = (
    "wrong_owner",
    "person_distinctive",
    "person_ordinary",
    "copies",
    "ai_human",
    "edited_verified",
)
"""Counts that have to be 0, or next to it."""
EXCHANGEABLE: Final = ("wrong_owner", "person_distinctive", "person_ordinary", "copies")
"""Errors that no text can avoid where git itself exchanged two equal lines."""
_MAX_PROBLEMS: Final = 10


_HUNK: Final = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@", re.MULTILINE)


@dataclass(slots=True)
class Verdicts:
    """Counts of lines, by place (`checkout`, `clone`, `waiting`) and what was said of them.

    Attributes:
        counts: The numbers.
        problems: The first ones of each sort, in words.
    """

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    _sorts: Counter[str] = field(default_factory=Counter)

    def add(self, place: str, what: str) -> None:
        """Count one line."""
        self.counts[f"{place}.{what}"] += 1

    def report(self, sort: str, text: str) -> None:
        """Keep the first problems of a sort."""
        self._sorts[sort] += 1
        if self._sorts[sort] <= _MAX_PROBLEMS:
            self.problems.append(f"{sort}: {text}")


def judge_file(
    work: WorkTree,
    path: str,
    place: str,
    verdicts: Verdicts,
    typed: AbstractSet[int] = frozenset(),
) -> None:
    """Judge what the tool says of each line of a file on disk.

    Args:
        work: The work tree.
        path: The file.
        place: What committed lines are counted as.
        verdicts: Where they are counted.
        typed: The identities of a person's lines that resemble an AI's; they are counted apart.
    """
    lines = work.lines(path)
    claims = work.history.subject.owners(work.project, work.local(path))
    has_ai = claims or any(line.by_ai for line in lines)
    by_git = lines_by_blame(work, path) if has_ai else {}
    committed = work.commit_of().tree.get(path)
    known = {line.number for line in committed.lines} if committed else set()
    kept: dict[int, str] | None = None
    for number, line in enumerate(lines, 1):
        where = place if line.number in known else "waiting"
        claim = claims.get(number)
        origin = by_git.get(line.number)
        verdict = judge_line(line, claim)
        if verdict in EXCHANGEABLE and claim:
            if line.number not in known:
                kept = kept_by_git(work, path) if kept is None else kept
                twin = kept.get(number - 1)
            else:
                twin = origin.author if origin else None
            if twin == claim.edit:
                verdict = "exchanged"
        described = (
            f"{where} {work.path.name}/{path}:{number} {line.text.strip()!r} of {line.author}"
            f" is {claim.kind if claim else 'unrecorded'} {claim.edit if claim else ''}".rstrip()
        )
        verdicts.add(where, "ai" if line.by_ai else "person")
        if line.number in typed:
            verdicts.add("real", "typed")
            verdicts.add(
                "real", "typed_verified" if claim and claim.kind == "ai" else "typed_right"
            )
        verdicts.add(where, verdict)
        if verdict in ERRORS or verdict == "exchanged":
            verdicts.report(verdict, f"{described}, {line.origin.value}")
        if line.by_ai and line.origin != Origin.FORMATTED and origin and origin.is_brought:
            verdicts.add(place, "blamed")
            verdicts.add(place, "blamed_verified" if verdict == "verified" else "missed")
            if verdict != "verified":
                verdicts.report("missed", described)


def judge_line(line: Line, claim: Claim | None) -> str:
    """Return what has to be counted of a line."""
    kind, edit = claim or ("none", "")
    if line.author == UNKNOWN:
        return "unknown"
    if not line.by_ai:
        return _wrongly_verified(line) if kind == "ai" else f"person_{kind}"
    if kind == "human":
        return "ai_human"
    if kind == "none":
        return "unrecorded"
    if edit != line.author:
        return "wrong_owner"
    if kind != "ai":
        return kind
    return "edited_verified" if line.origin == Origin.FORMATTED else "verified"


def _wrongly_verified(line: Line) -> str:
    """Return how a person's line was verified as an AI's."""
    if line.origin == Origin.COPIED:
        return "copies"
    if line.origin == Origin.UNDONE:
        return "undone"
    return "person_ordinary" if line.ordinary else "person_distinctive"


class Blamed(NamedTuple):
    """What git's blame says of a line.

    Attributes:
        author: Of the line that it is, as git sees it; equal lines may be exchanged.
        is_brought: Whether git is right, and its commit is the one that brought the line first.
    """

    author: str
    is_brought: bool


def lines_by_blame(work: WorkTree, path: str) -> dict[int, Blamed]:
    """Return what git says of each line of a file in HEAD, by identity."""
    history = work.history
    file = work.commit_of().tree.get(path)
    result: dict[int, Blamed] = {}
    if file is None:
        return result
    for line, (commit, source, place) in zip(file.lines, blame(work, path), strict=True):
        known = history.commits.get(commit)
        if known is None or source not in known.tree:
            continue
        there = known.tree[source].lines
        if place < len(there):
            is_it = there[place].number == line.number
            result[line.number] = Blamed(
                there[place].author, is_it and line.number in known.brought
            )
    return result


def kept_by_git(work: WorkTree, path: str) -> dict[int, str]:
    """Return the author of the line of HEAD that each line on disk is, as git's diff sees it."""
    file = work.commit_of().tree.get(path)
    blamed = lines_by_blame(work, path)
    result: dict[int, str] = {}
    if file is None:
        return result
    old = new = 0
    patch = work.git("diff", "-U0", "--no-color", "HEAD", "--", path).stdout.decode()
    ends = [(int(hunk[1]), int(hunk[2] or 1), int(hunk[3] or 1)) for hunk in _HUNK.finditer(patch)]
    for first, count, size in [*ends, (len(file.lines) + 1, 1, 1)]:
        while old < (first - 1 if count else first):
            line = file.lines[old]
            there = blamed.get(line.number)
            result[new] = there.author if there else line.author
            old, new = old + 1, new + 1
        old, new = old + count, new + size
    return result


def disagreements(work: WorkTree) -> list[str]:
    """Return the lines of which git's blame and the generator say different things.

    Lines that may stand in a text twice are compared by text only. Files without a line of an AI
    are left out.
    """
    result = []
    for path, file in work.commit_of().tree.items():
        if not any(line.by_ai for line in file.lines):
            continue
        for line, (commit, source, place) in zip(file.lines, blame(work, path), strict=True):
            there = work.history.commits[commit].tree[source].lines[place]
            if there.text != line.text or (
                line.number != there.number and not line.ordinary and line.origin == Origin.TYPED
            ):
                result.append(f"{path}: {line} is {there} in {commit}")
    return result


def blame(work: WorkTree, path: str) -> list[tuple[str, str, int]]:
    """Return commit, path and place there, from 0, of each line of a file in HEAD."""
    known = work.history.blames.get((work.head, path))
    if known is None:
        known = work.history.blames[work.head, path] = _blame(work, path)
    return known


def _blame(work: WorkTree, path: str) -> list[tuple[str, str, int]]:
    result: list[tuple[str, str, int]] = []
    names: dict[str, str] = {}
    commit, place = "", 0
    arguments = ("-c", "core.quotePath=false", "blame", "--line-porcelain", "HEAD")
    for row in work.git(*arguments, "--", path).stdout.decode().split("\n"):
        words = row.split(" ")
        if row.startswith("\t"):
            result.append((commit, names[commit], place))
        elif row.startswith("filename "):
            names[commit] = _unquoted(row[9:])
        elif len(words) in (3, 4) and len(words[0]) in (40, 64) and words[1].isdigit():
            commit, place = words[0], int(words[1]) - 1
    return result


def _unquoted(name: str) -> str:
    """Return a path that git may have put into quotes."""
    if not name.startswith('"'):
        return name
    return name[1:-1].encode().decode("unicode_escape").encode("latin-1").decode()


def judge_log(work: WorkTree, verdicts: Verdicts) -> None:
    """Judge how often the log of HEAD has each AI line that git gives to the commit that brought it.

    Lines that no commit of HEAD has any more may stand there, too: a log is never shortened. A
    record that a merge of texts repeats, byte for byte, is counted apart.
    """
    history = work.history
    rows = Counter(_trail(work, LOG))
    logged, hashes = _logged(rows, _prompts(work))
    verdicts.counts["log.repeated"] += rows.total() - len(rows)
    anywhere = frozenset[int]().union(*(commit.ever for commit in history.commits.values()))
    lines = [line for lines in history.lines.values() for line in lines if author_of_text(line)]
    standing = {
        line.root or line.number
        for path, file in work.commit_of().tree.items()
        if any(line.by_ai for line in file.lines)
        for line, blamed in zip(
            file.lines, map(lines_by_blame(work, path).get, numbers(file.lines)), strict=True
        )
        if line.by_ai and blamed is not None and blamed.is_brought
    }
    expected, possible = dict[str, Counter[str]](), dict[str, Counter[str]]()
    for root, line in {
        line.root or line.number: line for line in lines if line.number in anywhere
    }.items():
        digest = hashlib.sha256((line.typed or line.text).encode()).hexdigest()[:8]
        author = author_of_text(line)
        possible.setdefault(author, Counter())[digest] += 1
        if root in standing:
            expected.setdefault(author, Counter())[digest] += 1
    for name in sorted({*logged, *possible}):
        needs, may = (counts.get(name, Counter[str]()) for counts in (expected, possible))
        has = hashes.get(name, Counter[str]())
        missing = max(needs.total() - logged[name], (needs - has).total() if has else 0, 0)
        twice = max(logged[name] - may.total(), (has - may).total(), 0)
        for what, count in (
            ("lines", needs.total()),
            ("sum", logged[name]),
            ("missing", missing),
            ("twice", twice),
        ):
            verdicts.counts[f"log.{what}"] += count
        if missing or twice:
            verdicts.report(
                "log",
                f"{work.path.name} {name}: {needs.total()} lines stand, records have"
                f" {logged[name]}: {missing} missing, {twice} too many",
            )


def judge_gate(work: WorkTree, copy: WorkTree, base: str, verdicts: Verdicts) -> None:
    """Judge what the gate asks to review in a work tree and in a clone of it."""
    subject = work.history.subject
    here = subject.unreviewed(work.project, base)
    if here is None:
        return
    there = subject.unreviewed(copy.project, base)
    if there is None:
        verdicts.report("gate", "no answer in the clone")
        there = set()
    verdicts.counts["gate.checkout"] += len(here)
    verdicts.counts["gate.clone"] += len(there)
    verdicts.counts["gate.unseen"] += len(here - there)
    for path, number in sorted(here - there):
        verdicts.report("gate", f"{path}:{number} waits for a review in the checkout only")
    older = work.history.commits[base].ever
    for path, file in copy.disk.items():
        for number, line in enumerate(file.lines, 1):
            if line.by_ai and line.number not in older:
                verdicts.counts["gate.ai"] += 1
                verdicts.counts["gate.ai_seen"] += (copy.local(path), number) in there
            elif line.author == PERSON and (copy.local(path), number) in there:
                verdicts.counts["gate.person"] += 1


def _logged(
    rows: Iterable[str], prompts: Mapping[str, str]
) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """Return the number of lines that RFC 10.2 sums up for each edit, and their hashes."""
    sums: Counter[str] = Counter()
    hashes: dict[str, Counter[str]] = {}
    for record in map(_parsed, rows):
        if record.get("type") != "line" or record.get("action") not in ("create", "modify"):
            continue
        name = record.get("prompt") or prompts.get(record.get("prompt_hash", ""), "")
        sums[name] += record["line_end"] - record["line_start"] + 1
        joined = record.get("line_hashes") or ""
        hashes.setdefault(name, Counter()).update(
            joined[start : start + 8] for start in range(0, len(joined), 8)
        )
    return sums, hashes


def _trail(work: WorkTree, name: str) -> Iterator[str]:
    """Yield the lines of a file of each trail that HEAD has."""
    for path in work.answer("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0"):
        if path == name or path.endswith(f"/{name}"):
            yield from work.committed("HEAD", path) or ()


def _parsed(row: str) -> Mapping[str, Any]:
    try:
        record = json.loads(row)
    except ValueError:
        return {}
    return record if isinstance(record, dict) else {}


def _prompts(work: WorkTree) -> dict[str, str]:
    """Return the prompts of the manifest that HEAD has, by hash."""
    result: dict[str, str] = {}
    for row in _trail(work, MANIFEST):
        for digest, entry in _parsed("{" + row.strip(" ,") + "}").items():
            if isinstance(entry, dict) and "prompt_text" in entry:
                result[digest] = entry["prompt_text"]
    return result

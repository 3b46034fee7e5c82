"""What becomes public with a trail (RFC 13.1): texts, paths and names, for a person to review.

An attestation itself has digests and numbers only, but it is of use only beside the files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from vibes_lsp.checks import catalogue
from vibes_lsp.checks.context import CheckContext
from vibes_lsp.checks.finding import pluralize
from vibes_lsp.checks.report import Report
from vibes_lsp.errors import BrokenBlob
from vibes_lsp.git.project_files import count_foreign
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.vocabulary import ContextType, EdgeType
from vibes_lsp.store.reasoning import reasoning_text

_TEXTS = {
    ContextType.PROMPT: "prompt_text",
    ContextType.COMMAND: "command_text",
    ContextType.REASONING: "reasoning_text",
    ContextType.DECISION: "rationale",
}
"""The member of each type of entry that has what a person or a model wrote."""


@dataclass(frozen=True, slots=True)
class PublishedText:
    """A text of the manifest that becomes public.

    Attributes:
        kind: The type of its entry.
        key: The key of its entry.
        text: The text.
    """

    kind: str
    key: str
    text: str

    def as_json(self) -> Members:
        """Return `{type, hash, text}`."""
        return {"type": self.kind, "hash": self.key, "text": self.text}


@dataclass(frozen=True, slots=True)
class Publication:
    """What becomes public.

    Attributes:
        texts: Prompts, commands, reasoning and decisions.
        paths: The files that annotations name, those outside of the project included.
        foreign: Of these, the number that are not in the project.
        people: The names of reviewers.
        secrets: Where a text may contain a secret.
        home_paths: What was found about paths of home directories.
    """

    texts: tuple[PublishedText, ...]
    paths: tuple[str, ...]
    foreign: int
    people: tuple[str, ...]
    secrets: tuple[str, ...]
    home_paths: tuple[str, ...]

    def summary(self) -> list[str]:
        """Return what becomes public, a line for each kind, without the content."""
        kinds = Counter(published.kind for published in self.texts)
        size = Counter[str]()
        for published in self.texts:
            size[published.kind] += len(published.text)
        lines = [
            f"{pluralize(kinds[kind], f'{kind} text', f'{kind} texts')} ({size[kind]:,} characters)"
            for kind in _TEXTS
            if kinds[kind]
        ]
        if self.paths:
            outside = f", {self.foreign:,} not in this checkout" if self.foreign else ""
            lines.append(f"{pluralize(len(self.paths), 'file name', 'file names')}{outside}")
        if self.people:
            lines.append(pluralize(len(self.people), "reviewer's name", "reviewers' names"))
        lines.extend(self.home_paths)
        if self.secrets:
            lines.append(pluralize(len(self.secrets), "possible secret", "possible secrets"))
        return lines

    def as_json(self) -> Members:
        """Return the member `public` of `vibes attest --json`."""
        return {
            "texts": [published.as_json() for published in self.texts],
            "paths": list(self.paths),
            "people": list(self.people),
            "possibleSecrets": list(self.secrets),
            "homePaths": list(self.home_paths),
        }


def publication(context: CheckContext, report: Report) -> Publication:
    """Return what becomes public with a trail.

    Args:
        context: The trail.
        report: The result of its check, which has found secrets and paths of home directories.
    """
    paths = context.trail.annotated_paths()
    return Publication(
        texts=tuple(_texts(context)),
        paths=tuple(sorted(paths)),
        foreign=count_foreign(paths, context.directory.project),
        people=tuple(sorted(_people(context))),
        secrets=tuple(
            f"{finding.location}: {finding.message}"
            for finding in report.findings
            if finding.check.id == catalogue.SECRET.id
        ),
        home_paths=tuple(
            finding.message
            for finding in report.findings
            if finding.check.id == catalogue.HOME_PATH.id
        ),
    )


def _texts(context: CheckContext) -> Iterator[PublishedText]:
    manifest = context.trail.manifest
    for key, kind in context.entry_types.items():
        member = _TEXTS.get(ContextType(kind)) if kind in set(ContextType) else None
        entry = manifest.entry(key)
        if member is None or entry is None or kind is None:
            continue
        value = text(entry, member)
        if kind == ContextType.REASONING and value is None:
            value = _unpacked(context, entry)
        if value:
            yield PublishedText(kind, key, value)


def _unpacked(context: CheckContext, entry: Members) -> str | None:
    try:
        return reasoning_text(entry, context.directory)
    except BrokenBlob:  # a finding of the check
        return None


def _people(context: CheckContext) -> set[str]:
    """Return the reviewers that reviews name (R6)."""
    reviews = context.trail.edges_of_type(EdgeType.REVIEWED_BY)
    names = (text(edge.metadata, "reviewer") for edge in reviews)
    return {name for name in names if name}

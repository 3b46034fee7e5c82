"""Annotations as one line of text, for lenses and line ends, and the markup of longer texts.

Untrusted text is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from lsprotocol.types import MarkupKind

from vibes_lsp.anchors.location import State
from vibes_lsp.model.ages import describe_age
from vibes_lsp.model.escaping import (
    code_block,
    code_span,
    cut_lines,
    escape_markdown,
    quotation,
    single_line,
    without_invisible,
)
from vibes_lsp.model.members import Members
from vibes_lsp.model.vocabulary import Action, Band
from vibes_lsp.placing.placements import Placement
from vibes_lsp.reports.placement_texts import describe_age_of
from vibes_lsp.reports.placements import model_name, review_label
from vibes_lsp.reports.review_queue import needs_review

INDEXING: Final = "indexing the audit trail …"
"""The answer while a large trail is first read: an empty one would mean that no AI wrote here."""
SEPARATOR: Final = " · "
_PLAIN_NAME: Final = re.compile(r"[^\W_][\w.+/:-]*(?: [^\W_][\w.+/:-]*){0,3}(?<!_)")
"""A name of few words, without anything that separates texts of ours."""
_PLAIN_WORDS: Final = re.compile(r"[\w .,%()/+-]+")


@dataclass(frozen=True, slots=True)
class Markup:
    """The markup of a hover: Markdown or plain text."""

    kind: MarkupKind

    @classmethod
    def named(cls, name: str) -> Markup:
        """Return the markup that a client asks for; Markdown unless that is plain text."""
        return cls(MarkupKind.PlainText if name == MarkupKind.PlainText else MarkupKind.Markdown)

    @property
    def _is_markdown(self) -> bool:
        return self.kind == MarkupKind.Markdown

    @property
    def line_end(self) -> str:
        """The separator of two lines of a paragraph."""
        return "  \n" if self._is_markdown else "\n"

    @property
    def rule(self) -> str:
        """The separator of two annotations."""
        return "\n\n---\n\n" if self._is_markdown else "\n\n"

    def heading(self, text: str, level: int = 2) -> str:
        """Write a trusted heading."""
        return f"{'#' * level} {text}" if self._is_markdown else text.upper()

    def block(self, lines: Sequence[str]) -> str:
        """Write untrusted lines as a block: a code block, or indented."""
        if self._is_markdown:
            return code_block(lines)
        return "\n".join(f"    {without_invisible(line)}".rstrip() for line in lines)

    def strong(self, text: str) -> str:
        """Emphasise trusted text."""
        return f"**{text}**" if self._is_markdown else text

    @property
    def paragraph_end(self) -> str:
        """The separator of two paragraphs."""
        return "\n\n" if self._is_markdown else "\n"

    def quote(self, value: object, limit: int) -> str:
        """Write untrusted text on one line, cut to `limit` characters; in Markdown as code."""
        return code_span(value, limit) if self._is_markdown else single_line(value, limit)

    def name(self, value: object, limit: int) -> str:
        """Write an untrusted name as plain words; as code if it could be taken for our own text."""
        text = str(value)[: limit + 1]
        is_plain = len(text) <= limit and _PLAIN_NAME.fullmatch(text)
        return self._inline(text, limit) if is_plain else self.quote(value, limit)

    def words(self, value: object, limit: int) -> str:
        """Write untrusted text on one line; in quotation marks if it has more than plain words."""
        is_plain = _PLAIN_WORDS.fullmatch(str(value)[: limit + 1])
        return self._inline(value, limit) if is_plain else self.sentence(value, limit)

    def sentence(self, value: object, limit: int) -> str:
        """Write an untrusted sentence on one line, cut, in quotation marks."""
        return f"“{self._inline(value, limit)}”"

    def _inline(self, value: object, limit: int) -> str:
        return escape_markdown(value, limit) if self._is_markdown else single_line(value, limit)

    def quotation(self, text: str, limit: int, lines: int) -> str:
        """Write untrusted text as a quotation, each line of which is marked; empty if it is."""
        if self._is_markdown:
            return quotation(text, limit, lines)
        return "\n".join(f"> {line}" for line in cut_lines(text, limit, lines))


def lens_text(edits: Sequence[tuple[Placement, Members]], now: datetime) -> str:
    """Return the text of a code lens: what starts at its line, how old and risky, what waits.

    Args:
        edits: The annotations that start there, each with its placement as JSON.
        now: The time.
    """
    noun = "AI edit" if len(edits) == 1 else f"{len(edits)} AI edits"
    claimed = sum(not placement.located.is_proven for placement, _ in edits)
    if any(facts.get("captured") for _, facts in edits):
        noun += " (captured)"
    elif claimed:
        noun += " (claimed)" if claimed == len(edits) else f" ({claimed} claimed)"
    parts = [noun]
    moment = max(placement.lineage.first.moment for placement, _ in edits)
    if any(facts["timestamp"] for _, facts in edits):
        age = describe_age(moment, now)
        parts.append(age if len(edits) == 1 else f"latest {age}")
    edit_bands = {facts["band"] for placement, facts in edits if not placement.is_guess}
    bands = [band for band in Band if band in edit_bands]  # from low to critical
    if bands:
        parts.append(f"{bands[-1]} risk")
    if len(edits) == 1:
        parts += _lens_state(*edits[0])
    elif waiting := sum(needs_review(placement, facts) for placement, facts in edits):
        parts.append(f"{waiting} not reviewed")
    return _join(parts)


def _lens_state(placement: Placement, facts: Members) -> Iterator[str]:
    """Yield what waits at the lens of one annotation, else its review."""
    if placement.is_pending:
        yield "not recorded yet"
    elif placement.is_guess:
        yield "may be here"
    elif placement.lineage.action == Action.DELETE:
        yield "removed lines"
    else:
        review = review_label(facts)
        if review is not None or needs_review(placement, facts):
            yield review or "not reviewed"


def line_text(placement: Placement, facts: Members, now: datetime) -> str:
    """Return the text for the end of a line: who, when, what was asked.

    It starts with `AI (claimed)` where no line is verified. The prompt comes last, as the window
    may cut it off.
    """
    age = describe_age_of(facts, now)
    author = f"{_by(placement, model_name(facts))}{f', {age}' if age else ''}"
    parts = [author, *_notable_state(placement)]
    if facts.get("captured"):
        parts.append("captured")
    prompt = facts.get("prompt")
    if isinstance(prompt, str):
        parts.append(f"“{single_line(prompt, 70)}”")
    return _join(parts)


def hint_text(placement: Placement, model: str) -> str:
    """Return the text of an inlay hint: who wrote the range, and what is doubtful about it.

    Args:
        placement: The annotation.
        model: Its model, which is untrusted text.
    """
    return _join([_by(placement, model), *_notable_state(placement)])


def _by(placement: Placement, model: str) -> str:
    """Return who wrote an annotation, by the name of the model, which is untrusted text."""
    head = "AI" if placement.located.is_proven else "AI (claimed)"
    return f"{head}: {single_line(model, 40)}"


def _notable_state(placement: Placement) -> Iterator[str]:
    """Yield the state of an annotation, unless its lines are as they were written."""
    if placement.is_pending:
        yield "not recorded yet"
    elif placement.located.ambiguous:
        yield "may be elsewhere"
    elif placement.located.state == State.EDITED:
        yield "edited since"
    elif placement.located.state == State.UNVERIFIED:
        yield "not verified"


def _join(parts: list[str]) -> str:
    return SEPARATOR.join(parts).replace("$(", "$ (")  # which VS Code would draw as an icon

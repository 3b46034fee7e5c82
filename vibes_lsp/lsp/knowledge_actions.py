"""What a person can do about claims at lines, and in the files of a knowledge base."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from lsprotocol import types

from vibes_lsp.lsp.conversion import range_members
from vibes_lsp.lsp.extensions import (
    CLIENT_KB_CONTRADICT,
    CLIENT_KB_PROPOSE,
    CLIENT_KB_REJECT,
    CLIENT_KB_SUPERSEDE,
    CommandName,
    has_client_command,
)
from vibes_lsp.lsp.knowledge_texts import proposal_text
from vibes_lsp.lsp.placed_evidence import DocumentKnowledge, PlacedCitation
from vibes_lsp.model.escaping import single_line
from vibes_lsp.reports.placements import describe_lines

_MAX_CITATIONS: Final = 8
_MAX_LOST: Final = 3
_TEXT: Final = 50


@dataclass(frozen=True, slots=True)
class KnowledgeAction:
    """Something to do.

    Attributes:
        title: What the person reads.
        command: The command, of the server or of the client.
        arguments: Its argument.
        resolves: The code of the diagnostics that it resolves; None for none.
    """

    title: str
    command: str
    arguments: dict[str, Any]
    resolves: str | None = None


@dataclass(frozen=True, slots=True)
class KnowledgeActions:
    """The actions at some lines of a document.

    Attributes:
        knowledge: What the knowledge base says about it.
        capabilities: What the client can do.
        first: First line, 1-based.
        last: Last line, inclusive.
        is_selection: Whether the person selected the lines.
    """

    knowledge: DocumentKnowledge
    capabilities: types.ClientCapabilities
    first: int
    last: int
    is_selection: bool

    def all(self) -> Iterator[KnowledgeAction]:
        """Yield the actions: what is at the lines first, then what can be added."""
        if self.knowledge.is_of_knowledge_base:
            yield from self._of_file()
            return
        here = self.knowledge.at(self.first, self.last)[:_MAX_CITATIONS]
        proposals = dict.fromkeys(each for placed in here for each in placed.citation.proposals)
        for identifier in list(proposals)[:_MAX_CITATIONS]:
            yield from self._decisions(identifier)
        for placed in here:
            if not placed.is_as_quoted:
                yield from self._reanchor(placed, "")
        claims = dict.fromkeys(each for placed in here for each in placed.citation.claims)
        for identifier in list(claims)[:_MAX_CITATIONS]:
            yield from self._changes(identifier)
        if self.is_selection:
            lost = [each for each in self.knowledge.placed if each.located.start is None]
            for placed in lost[:_MAX_LOST]:
                yield from self._reanchor(placed, " lost")
        if has_client_command(self.capabilities, CLIENT_KB_PROPOSE):
            name = "Propose a claim about the selection…"
            title = name if self.is_selection else "Propose a claim about this line…"
            yield KnowledgeAction(title, CLIENT_KB_PROPOSE, self._lines())

    def _of_file(self) -> Iterator[KnowledgeAction]:
        """Yield what can be done about the object of a file of the knowledge base."""
        folder, _, name = self.knowledge.path.removeprefix(".vouch/").partition("/")
        identifier = name.rpartition(".")[0]
        if folder == "proposed":
            yield from self._decisions(identifier)
        elif folder == "claims":
            yield from self._changes(identifier)

    def _decisions(self, identifier: str) -> Iterator[KnowledgeAction]:
        proposal = self.knowledge.snapshot.proposal(identifier)
        if proposal is None:
            return
        text = _quoted(proposal_text(proposal))
        yield self._call(f"Approve: {text}", "kb.approve", proposal_id=identifier)
        if has_client_command(self.capabilities, CLIENT_KB_REJECT):
            arguments = {"uri": self.knowledge.uri, "proposalId": identifier}
            yield KnowledgeAction(f"Reject with reason…: {text}", CLIENT_KB_REJECT, arguments)

    def _changes(self, identifier: str) -> Iterator[KnowledgeAction]:
        claim = self.knowledge.snapshot.claim(identifier)
        if claim is None:
            return
        text = _quoted(claim["text"])
        yield self._call(f"Confirm claim: {text}", "kb.confirm", id=identifier)
        for verb, command in (
            ("Supersede", CLIENT_KB_SUPERSEDE),
            ("Contradict", CLIENT_KB_CONTRADICT),
        ):
            if has_client_command(self.capabilities, command):
                arguments = {**self._lines(), "claimId": identifier}
                yield KnowledgeAction(f"{verb} claim…: {text}", command, arguments)
        yield self._call(f"Archive claim: {text}", "kb.archive", id=identifier)

    def _reanchor(self, placed: PlacedCitation, state: str) -> Iterator[KnowledgeAction]:
        """Yield new evidence on the selected lines, else where the old is now."""
        start, end = placed.located.start, placed.located.end
        is_given = self.is_selection or start is None or end is None
        first, last = (self.first, self.last) if is_given else (start or 1, end or 1)
        for identifier in placed.citation.claims:
            claim = self.knowledge.snapshot.claim(identifier)
            if claim is not None:
                text = f"{state} evidence of {_quoted(claim['text'])}"
                arguments = {
                    **self._lines(first, last),
                    "claimId": identifier,
                    "evidenceId": placed.citation.evidence["id"],
                }
                yield KnowledgeAction(
                    f"Re-anchor{text} ({describe_lines(first, last)})",
                    CommandName.KB_REANCHOR,
                    arguments,
                    resolves=f"evidence-{placed.located.state.value}",
                )

    def _call(self, title: str, method: str, **params: str) -> KnowledgeAction:
        arguments = {"uri": self.knowledge.uri, "method": method, "params": params}
        return KnowledgeAction(title, CommandName.KB, arguments)

    def _lines(self, first: int | None = None, last: int | None = None) -> dict[str, Any]:
        lines = range_members(first or self.first, last or self.last)
        version = {} if self.knowledge.version is None else {"version": self.knowledge.version}
        return {"uri": self.knowledge.uri, "range": lines, **version}


def _quoted(text: object) -> str:
    """Return untrusted text for a title, which some clients would draw icons in."""
    return f"“{single_line(text, _TEXT)}”".replace("$(", "$ (")

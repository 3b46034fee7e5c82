"""The members of the objects in answers of the server, for `docs/protocol.md`.

`tests/server/test_wire_shapes.py` compares them with what a server answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Shape:
    """An object in answers.

    Attributes:
        about: Where it occurs.
        members: What each member is.
        optional: Members that are not always there.
    """

    about: str
    members: Mapping[str, str]
    optional: frozenset[str] = frozenset()


_CITED_PLACE: Final = {
    "evidenceId": "the evidence",
    "sourceId": "its source",
    "locator": "the lines as cited, such as `L4-L7`",
    "quote": "the quoted text, or null",
    "range": "where the lines are now; null when lost",
    "lineStart": "first line; null when lost",
    "lineEnd": "last line; null when lost",
    "recordedLineStart": "first line as captured",
    "recordedLineEnd": "last line as captured",
    "state": "`exact`, `moved`, `edited`, `lost` or `unverified`",
    "ambiguous": "whether other places fit as well",
    "stateText": "the state for people",
    "aiLines": "null if no AI wrote one of the lines, else `{verifiedLines, claimedLines, unreviewedLines, annotationIds}`; a person's approval of the lines as they are makes them reviewed",
}

PLACEMENT: Final = Shape(
    "In `vibes/provenance`, `vibes.lookup` and `vibes.queue`, and on the command line in `vibes blame`, `find` and `gate`. In document order, history after owners.",
    {
        "annotationId": "the current record",
        "ids": "its whole lineage",
        "type": "`line` or `function`",
        "functionName": "of a function",
        "filePath": "the file, relative to the project",
        "movedFrom": "the file it was recorded for, if that is another",
        "action": "what the AI did",
        "timestamp": "when",
        "tool": "tool and version",
        "model": "model and version",
        "environmentHash": "the entry with both",
        "promptHash": "the entry of the prompt",
        "prompt": "its text",
        "sessionId": "the session",
        "pending": "true until it is recorded",
        "captured": "true if [no tool reported it](recording.md#inline-completions)",
        "comparedFiles": "true if no event reported the edit: the file [came into being while a command ran](agents.md#what-is-recorded)",
        "importedFrom": "`{format, id, evidence}` if it was [imported](import.md)",
        "assuranceLevel": "the level at which it was recorded",
        "commitHash": "its commit, if it has one",
        "commitMethod": "`recorded`, `log` or `inferred`",
        "commitSubject": "the subject of the commit, once git was asked; not on the command line",
        "range": "where it is; null when lost",
        "lineStart": "first line; null when lost",
        "lineEnd": "last line; null when lost",
        "ownedRanges": "the lines that it owns; empty if none",
        "recordedLineStart": "first line as recorded",
        "recordedLineEnd": "last line as recorded",
        "state": "`exact`, `moved`, `edited`, `lost` or `unverified`",
        "method": "how it was found",
        "confidence": "from 0 to 1",
        "ambiguous": "whether other places fit as well",
        "intactLines": "lines as the AI wrote them; null when unknown",
        "totalLines": "lines that were recorded",
        "inGitSince": "`{commit, at}` if history contradicts the record: a commit before the edit that has the lines",
        "replacedBy": "if lost: the id of a later edit that wrote the whole file",
        "displayName": "the function that is annotated or that begins at its first line of code, else that line; not in `vibes blame`",
        "age": "such as `8 months ago`; null if unknown; only in editors",
        "reasons": "the two that add most to the risk, without the review; only in editors",
        "stateText": "where it is and how sure that is, such as `edited since: 3 of 4 lines unchanged`; not in the queue",
        "label": "as in the code lens; not in the queue",
        "lineText": "for the end of a line: `AI: `, or `AI (claimed): ` if nothing is verified, then model, age, state unless the lines are as written, and prompt; not in the queue",
        "waits": "whether it is in the review queue; not there itself",
        "runs": "the lines that it owns as `[{lineStart, lineEnd, kind}]`, on request",
        "uri": "the file, in the queue",
        "score": "the live risk; null if there is none",
        "storedScore": "the risk as recorded; null if there is none",
        "band": "of the live score, else of the stored one",
        "factors": "of the same score ([PRISM](prism.md))",
        "review": "`{verdict, by, kind, at, stale}` or null",
    },
    frozenset(
        {
            "functionName", "movedFrom", "promptHash", "prompt", "sessionId", "pending", "captured",
            "comparedFiles", "importedFrom", "commitHash", "commitMethod", "commitSubject", "inGitSince", "replacedBy",
            "stateText", "label", "lineText", "waits", "runs", "uri", "factors",
        }
    ),
)  # fmt: skip
CLAIM: Final = Shape(
    "In `claims` of `vibes.kbAt`: a claim that cites several pieces of evidence in a file is there once for each. Superseded, archived and redacted claims are left out.",
    {
        "claimId": "the claim",
        "text": "what it says",
        "type": "its type",
        "status": "its status",
        "confidence": "from 0 to 1",
        "approvedBy": "who approved it",
        "isApproverProven": "whether a decision of the knowledge base proves that",
        "updatedAt": "when it changed last",
        "lastConfirmedAt": "when it was last confirmed, or null",
        "ageText": "the same for people, such as `confirmed 2 days ago` or `changed 8 months ago`",
        **_CITED_PLACE,
    },
)
PROPOSAL: Final = Shape(
    "In `pending` of `vibes.kbAt` and of `vibes.kbPending`.",
    {
        "proposalId": "the proposal",
        "kind": "what is proposed",
        "text": "what it says",
        "type": "the type of the claim",
        "confidence": "from 0 to 1",
        "proposedBy": "who proposed it",
        "proposedAt": "when",
        "ageText": "the same for people, such as `2 days ago`",
        "rationale": "why",
        "uri": "the file, in `vibes.kbPending`",
        "filePath": "the same, relative to the project",
        **_CITED_PLACE,
    },
    frozenset({"uri", "filePath", *_CITED_PLACE}),
)
FILE: Final = Shape(
    "In `vibes.files`.",
    {
        "uri": "the file",
        "filePath": "the same, relative to the project",
        "lines": "its lines that are not blank",
        "verifiedLines": "lines of an AI, as it wrote them",
        "claimedLines": "lines that a record claims, without proof",
        "editedLines": "lines of an AI that were edited since",
        "share": "verified lines, as a share of all",
        "waiting": "annotations in the review queue",
        "band": "their highest risk band, or null",
    },
)
SHAPES: Final = {
    "Placement": PLACEMENT,
    "Claim": CLAIM,
    "Proposal": PROPOSAL,
    "File": FILE,
}


def tables() -> list[str]:
    """Return the lines of a section for each shape."""
    lines: list[str] = []
    for name, shape in SHAPES.items():
        lines += ["", f"### {name}", "", shape.about, "", "| member | what |", "|---|---|"]
        for member, about in shape.members.items():
            mark = " (optional)" if member in shape.optional else ""
            lines.append(f"| `{member}`{mark} | {about} |")
    return lines

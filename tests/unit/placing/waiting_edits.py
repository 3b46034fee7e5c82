"""Waiting edits as recording leaves them, and files as a commit has them."""

from __future__ import annotations

from vibes_lsp.anchors.create_anchors import make_context, range_hash
from vibes_lsp.anchors.line_hashes import join_hashes
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.hashing import annotation_id, sha256
from vibes_lsp.model.members import Members
from vibes_lsp.placing.edits import LoggedLines, RecordedEdit, read_edit
from vibes_lsp.placing.hunks import FileAtCommit
from vibes_lsp.placing.standing import CandidateEdits


class Waiting:
    """Edits of files, recorded one after the other, with their snapshots."""

    def __init__(self) -> None:
        self.edits: list[RecordedEdit] = []
        self.texts: dict[str, Text] = {}

    def record(
        self, content: str, start: int, end: int, path: str = "a.py", **members: str
    ) -> RecordedEdit:
        """Record that an edit wrote lines, 1-based, of a text."""
        text = Text(content)
        digest = sha256(content.encode())
        lines = text.lines[start - 1 : end]
        record: Members = {
            "type": "line",
            "file_path": path,
            "line_start": start,
            "line_end": end,
            "environment_hash": "ab" * 32,
            "action": "create",
            "timestamp": f"2026-01-01T00:00:{len(self.edits):02}.000Z",
            "commit_hash": None,
            "assurance_level": "medium",
            "anchor_context": make_context(lines),
            "anchor_hash": range_hash(lines),
            "file_content_hash": digest,
            "line_hashes": join_hashes(lines),
            **members,
        }
        record["annotation_id"] = annotation_id(record)
        edit = read_edit(record)
        assert edit is not None
        self.edits.append(edit)
        self.texts[digest] = text
        return edit

    def of(self, path: str = "a.py", logged: LoggedLines | None = None) -> CandidateEdits:
        """Return the edits that lines of a file may be of."""
        own = [edit for edit in self.edits if edit.path == path]
        return CandidateEdits(own, snapshots=self.texts.get, logged=logged or {})


def committed(
    content: str, new: set[int], *, replacing: frozenset[int] = frozenset(), path: str = "a.py"
) -> FileAtCommit:
    """Return a file of a commit being made; the numbers of its new lines are 1-based."""
    return FileAtCommit(
        path,
        Text(content),
        sha256(content.encode()),
        {number - 1 for number in new},
        frozenset(number - 1 for number in replacing),
    )


def lines_of(first: int, last: int, name: str = "value") -> list[str]:
    """Return long lines that differ."""
    return [f"{name}_{number} = compute_{name}({number})" for number in range(first, last + 1)]


def joined(*lines: str) -> str:
    """Return lines as a file."""
    return "".join(f"{line}\n" for line in lines)

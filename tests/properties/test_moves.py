"""The cache of moved text equals a new search after any edits and records."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from tests.properties.edges import COMMITS, IDS, edge
from vibes_lsp.index.moves import MovedOut
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail

FILES = ("a.py", "b.py")
BLOCKS = ("one\ntwo", "three\nfour")

Step = tuple[str, object]


def annotation(
    number: int, path: str, block: str, *, remapped: bool = False, commit: str | None = None
) -> dict[str, object]:
    """Return an annotation whose text is one of the blocks; ids may repeat."""
    return {
        "type": "line",
        "annotation_id": IDS[number],
        "file_path": path,
        "line_start": 1,
        "line_end": 2,
        "anchor_hash": sha256(block.encode()).hexdigest(),
        "action": "rebase_remap" if remapped else "create",
        "commit_hash": commit,
        "timestamp": f"2026-02-03T10:00:0{number}.000Z",
    }


numbers, paths = st.integers(0, len(IDS) - 1), st.sampled_from((*FILES, "./b.py"))
commits = st.sampled_from((None, *COMMITS))
records = st.builds(
    annotation, numbers, paths, st.sampled_from(BLOCKS), remapped=st.booleans(), commit=commits
) | st.builds(edge, numbers, numbers, st.sampled_from((None, "covers", "commit")))
steps: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        st.tuples(st.just("record"), st.lists(records, min_size=1, max_size=3)),
        st.tuples(
            st.just("save"),
            st.tuples(
                st.sampled_from(FILES), st.sampled_from((*BLOCKS, "\n".join(BLOCKS), "else", None))
            ),
        ),
        st.tuples(st.sampled_from(("move HEAD", "lose the log", "cut the last line")), st.none()),
    ),
    max_size=10,
)

TWO_ENDS: Step = (
    "record",
    [
        annotation(0, "a.py", BLOCKS[0]),
        annotation(1, "a.py", BLOCKS[0], remapped=True, commit=COMMITS[1]),
        annotation(2, "b.py", BLOCKS[0], remapped=True, commit=COMMITS[0]),
        edge(1, 0, "commit"),
        edge(2, 0, "commit"),
    ],
)
"""The file of the edit depends on HEAD."""
REPLACED_LATER: list[Step] = [
    ("record", [annotation(0, "a.py", BLOCKS[0])]),
    ("record", [annotation(1, "b.py", BLOCKS[1]), edge(2, 0, "covers"), edge(1, 2, None)]),
    ("record", [annotation(2, "b.py", BLOCKS[1])]),
]
"""An edit in another file replaces an annotation, after an edge named it."""
JOINED_LATER: list[Step] = [
    ("record", [annotation(0, "a.py", BLOCKS[0]), annotation(1, "b.py", BLOCKS[1])]),
    ("record", [edge(1, 0, "covers")]),
]
"""Only an edge is recorded: an edit of one file replaces one of the other."""


class Project:
    """Changing files, log and HEAD."""

    def __init__(self, root: Path) -> None:
        self.directory = AuditDir(root / ".ai-audit")
        self.directory.path.mkdir()
        self._head = 0

    def nearest(self, commits: Sequence[str]) -> str | None:
        """Return the commit of HEAD if it is one of these."""
        return COMMITS[self._head] if COMMITS[self._head] in commits else None

    def change(self, what: str, given: object) -> None:
        """Apply a step."""
        log = self.directory.log
        if what == "move HEAD":
            self._head ^= 1
        elif what == "lose the log":
            log.unlink(missing_ok=True)
        elif what == "cut the last line" and log.exists():
            log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-1]))
        elif isinstance(given, list):
            with log.open("ab") as written:
                written.writelines(json.dumps(record).encode() + b"\n" for record in given)
        elif isinstance(given, tuple):
            name, content = given
            if content is None:
                (self.directory.project / name).unlink(missing_ok=True)
            else:
                (self.directory.project / name).write_text(content, encoding="utf-8")


@given(steps)
@example([TWO_ENDS, ("move HEAD", None)])
@example(REPLACED_LATER)
@example(JOINED_LATER)
def test_cached_moves_equal_those_of_a_new_search(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        trail = Trail(project.directory, nearest_commit=project.nearest)
        moved_out = MovedOut(trail)
        for what, given in steps:
            project.change(what, given)
            trail.refresh()
            for path in FILES:
                assert moved_out.of(path) == MovedOut(trail).of(path), f"{path} after: {what}"

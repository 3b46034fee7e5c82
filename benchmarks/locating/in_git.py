"""Ranges as the product places them in a checkout: by their anchors and git's blame.

A record names the commit that wrote its lines, as after an import of another tool's trail. Only
what the last commit to a file wrote is asked for: nothing else is an edit.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final, Self

from benchmarks.locating.cases import Case, Range, Written
from vibes_lsp.anchors.create_anchors import create_anchors
from vibes_lsp.anchors.location import LocatedRange, Method, State
from vibes_lsp.anchors.text import Text
from vibes_lsp.git.repository import open_repository
from vibes_lsp.placing.project_owners import ProjectOwners
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail

_ENVIRONMENT: Final = {
    "type": "environment",
    "tool_name": "t",
    "tool_version": "1",
    "model_name": "m",
    "model_version": "1",
}
_DIGEST: Final = hashlib.sha256(
    json.dumps(_ENVIRONMENT, sort_keys=True, separators=(",", ":")).encode()
).hexdigest()
_MANIFEST: Final = {"standard": "VIBES", "version": "1.0", "entries": {_DIGEST: _ENVIRONMENT}}
_NOWHERE: Final = LocatedRange(None, None, State.LOST, Method.RECORDED, 0.0)


class Checkout:
    """A clone of a repository without its files, and with a trail.

    Args:
        repository: The repository; nothing is written to it.
    """

    def __init__(self, repository: Path) -> None:
        self._project = Path(tempfile.mkdtemp(prefix="locating-"))
        clone = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(repository.resolve())]
        subprocess.run([*clone, str(self._project)], check=True)
        self._directory = AuditDir(self._project / ".ai-audit")
        self._directory.path.mkdir()
        self._directory.manifest.write_text(json.dumps(_MANIFEST), encoding="utf-8")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._project)

    def locate(self, case: Case, written: Written) -> list[LocatedRange]:
        """Return where the ranges are that a commit wrote."""
        records = [_record(case.old, written, asked) for asked in written.ranges]
        lines = (json.dumps(record) + "\n" for record in records)
        self._directory.log.write_text("".join(lines), encoding="utf-8")
        trail = Trail(self._directory, waiting=False)
        trail.refresh()
        former = [written.path] if written.path != written.now else []
        owners = ProjectOwners(
            trail,
            open_repository(self._project),
            lambda _: None,
            former=lambda _: former,
            head=written.head,
        )
        found = {
            identifier: placement.located
            for placement in owners.locate(written.now, case.new)
            for identifier in placement.lineage.ids
        }
        return [found.get(str(record["annotation_id"]), _NOWHERE) for record in records]


def _record(text: Text, written: Written, asked: Range) -> dict[str, str | int | None]:
    anchors = create_anchors(text, *asked)
    return {
        "type": "line",
        "file_path": written.path,
        "line_start": asked[0],
        "line_end": asked[1],
        "environment_hash": _DIGEST,
        "action": "create",
        "timestamp": written.moment,
        "commit_hash": written.commit,
        "assurance_level": "low",
        "annotation_id": hashlib.sha256(repr(asked).encode()).hexdigest(),
        "anchor_context": anchors.context,
        "anchor_hash": anchors.hash,
        "file_content_hash": anchors.file_hash,
    }

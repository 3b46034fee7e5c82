"""A knowledge base as tests write it, file by file: the product is not its only witness."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import yaml

_TIME = "2026-05-21T10:00:00Z"


class KnowledgeFiles:
    """Writes the files of a `.vouch/` folder."""

    def __init__(self, project: Path) -> None:
        self.project = project
        self.path = project / ".vouch"
        for name in ("claims", "pages", "sources", "evidence", "proposed", "decided", "entities"):
            (self.path / name).mkdir(parents=True, exist_ok=True)
        (self.path / "config.yaml").write_text('version: "0.1"\n')

    def source(self, path: str, content: bytes | str, *, captured: bool = True) -> str:
        """Write a source of type file, and its bytes; return its id."""
        data = content if isinstance(content, bytes) else content.encode()
        identifier = hashlib.sha256(data).hexdigest()
        folder = self.path / "sources" / identifier
        folder.mkdir(exist_ok=True)
        if captured:
            (folder / "content").write_bytes(data)
        members = {"id": identifier, "type": "file", "locator": path, "created_at": _TIME}
        self._write(folder / "meta.yaml", members)
        return identifier

    def evidence(self, identifier: str, source: str, locator: str, **members: Any) -> str:
        """Write evidence; return its id."""
        own = {"id": identifier, "source_id": source, "locator": locator, "created_at": _TIME}
        self._write(self.path / "evidence" / f"{identifier}.yaml", {**own, **members})
        return identifier

    def claim(self, identifier: str, text: str, *evidence: str, **members: Any) -> str:
        """Write an approved claim and the decision; return its id."""
        own = {
            "id": identifier,
            "text": text,
            "type": "fact",
            "status": "stable",
            "confidence": 0.9,
            "evidence": list(evidence),
            "created_at": _TIME,
            "updated_at": _TIME,
            "approved_by": "Grace",
        }
        claim = {**own, **members}
        self._write(self.path / "claims" / f"{identifier}.yaml", claim)
        decision = {
            "id": f"of-{identifier}",
            "kind": "claim",
            "proposed_by": "codex",
            "proposed_at": _TIME,
            "payload": {name: claim[name] for name in ("id", "text", "type", "evidence")},
            "status": "approved",
            "decided_at": _TIME,
            "decided_by": claim["approved_by"],
        }
        self._write(self.path / "decided" / f"{decision['id']}.yaml", decision)
        return identifier

    def proposal(self, identifier: str, text: str, *evidence: str, by: str = "codex") -> str:
        """Write a proposed claim that waits; return the id of the proposal."""
        members = {
            "id": identifier,
            "kind": "claim",
            "proposed_by": by,
            "proposed_at": _TIME,
            "payload": {"id": f"of-{identifier}", "text": text, "evidence": list(evidence)},
            "status": "pending",
        }
        self._write(self.path / "proposed" / f"{identifier}.yaml", members)
        return identifier

    def page(self, identifier: str, body: str, **members: Any) -> str:
        """Write a page; return its id."""
        front = yaml.safe_dump({"id": identifier, "title": identifier, **members})
        (self.path / "pages" / f"{identifier}.md").write_text(f"---\n{front}---\n{body}")
        return identifier

    def events(self) -> list[str]:
        """Return the lines of the audit log."""
        log = self.path / "audit.log.jsonl"
        return log.read_text().splitlines() if log.exists() else []

    def cited(
        self, path: str, content: str, locator: str, *, claim: str = "c", quote: str | None = None
    ) -> str:
        """Write a claim with one piece of evidence; return the id of the claim."""
        source = self.source(path, content)
        return self.claim(
            claim, f"Claim {claim}.", self.evidence(f"ev-{claim}", source, locator, quote=quote)
        )

    @staticmethod
    def _write(path: Path, members: dict[str, Any]) -> None:
        path.write_text(yaml.safe_dump(members, sort_keys=False, allow_unicode=True))

"""The part of the writer for config and manifest: context entries of all types (RFC 6, 8.1)."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal

from tests.trails.content import gzipped
from tests.trails.files import GITATTRIBUTES, GITIGNORE, AuditFiles, Omit, merge_members, to_json
from tests.trails.hashing import context_hash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

ReasoningForm = Literal["inline", "compressed", "external"]


class ContextWriter:
    """Writes context entries.

    Every method returns the key of its entry. Extra members override or add RFC fields.
    """

    def __init__(
        self,
        root: Path,
        *,
        level: str = "medium",
        project: str = "demo",
        start: str = "2026-02-03T10:00:00.000Z",
    ) -> None:
        """Open the trail of the project at `root`, and keep what it contains.

        Args:
            root: The folder with `.ai-audit/`.
            level: The assurance level of config, sessions and annotations.
            project: The project's name.
            start: The time of the first record; each further one is a second later.
        """
        self.root: Final = root
        self.level: Final = level
        self.project: Final = project
        self.start: Final = start
        self.files: Final = AuditFiles(root)
        self.last_environment: str | None = None
        self._time = datetime.fromisoformat(start).astimezone(UTC)

    def now(self) -> str:
        """Return the time of the next record without advancing the clock."""
        return self._time.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def tick(self) -> str:
        """Return the time of the next record and advance the clock by a second."""
        now = self.now()
        self._time += timedelta(seconds=1)
        return now

    def config(self, **members: object) -> dict[str, object]:
        """Write `config.json` and return its content (RFC 8.1)."""
        content = merge_members(
            {
                "standard": "VIBES",
                "standard_version": "1.0",
                "assurance_level": self.level,
                "project_name": self.project,
            },
            members,
        )
        self.files.write(
            "config.json", (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
        )
        return content

    def housekeeping(self) -> None:
        """Write the folder's `.gitignore` and `.gitattributes` (R13)."""
        self.files.write(".gitignore", GITIGNORE.encode())
        self.files.write(".gitattributes", GITATTRIBUTES.encode())

    def raw_manifest(self, content: bytes) -> None:
        """Replace the content of the manifest."""
        self.files.manifest.write_bytes(content)

    def entry(
        self, entry: Mapping[str, object], *, variant: str = "spec", key: str | None = None
    ) -> str:
        """Write an entry under its hash, computed as `variant` names it, or under a given key."""
        name = context_hash(entry, variant) if key is None else key
        self.files.add_entry(name, entry)
        return name

    def environment(
        self,
        *,
        tool: str = "Claude Code",
        tool_version: str | Omit = "1.5.2",
        model: str = "claude-opus-4-5",
        model_version: str | Omit = "20251101",
        parameters: Mapping[str, object] | None = None,
        variant: str = "spec",
        **members: object,
    ) -> str:
        """Write an environment entry (RFC 6.2); later records use it unless they name another."""
        entry: dict[str, object] = {
            "type": "environment",
            "tool_name": tool,
            "tool_version": tool_version,
            "model_name": model,
            "model_version": model_version,
        }
        if parameters is not None:
            entry["model_parameters"] = dict(parameters)
        self.last_environment = self._add(entry, members, variant)
        return self.last_environment

    def prompt(
        self,
        text: str,
        *,
        type: str = "user_instruction",  # noqa: A002 - the RFC's word
        files: Sequence[str] | None = None,
        variant: str = "spec",
        **members: object,
    ) -> str:
        """Write a prompt entry (RFC 6.3)."""
        entry: dict[str, object] = {"type": "prompt", "prompt_text": text, "prompt_type": type}
        if files is not None:
            entry["prompt_context_files"] = list(files)
        return self._add(entry, members, variant)

    def command(
        self,
        text: str,
        *,
        type: str = "shell",  # noqa: A002 - the RFC's word
        exit_code: int | None = None,
        output: str | None = None,
        directory: str | None = None,
        variant: str = "spec",
        **members: object,
    ) -> str:
        """Write a command entry (RFC 6.4)."""
        entry: dict[str, object] = {"type": "command", "command_text": text, "command_type": type}
        if exit_code is not None:
            entry["command_exit_code"] = exit_code
        if output is not None:
            entry["command_output_summary"] = output
        if directory is not None:
            entry["working_directory"] = directory
        return self._add(entry, members, variant)

    def reasoning(
        self,
        text: str,
        *,
        form: ReasoningForm = "inline",
        model: str = "claude-opus-4-5",
        tokens: int | None = None,
        variant: str = "spec",
        **members: object,
    ) -> str:
        """Write a reasoning entry (RFC 6.5) in one of the three forms of RFC 6.7 (R8).

        Extra members apply to the entry in the manifest, never to the content of an external blob.
        """
        head: dict[str, object] = {"type": "reasoning"}
        tail: dict[str, object] = {} if tokens is None else {"reasoning_token_count": tokens}
        tail["reasoning_model"] = model
        inline = {**head, "reasoning_text": text, **tail}
        if form == "inline":
            return self._add(inline, members, variant)
        if form == "compressed":
            packed = base64.b64encode(gzipped(text.encode())).decode("ascii")
            stored = {**head, "reasoning_text_compressed": packed, "compressed": True, **tail}
            return self._add(stored, members, variant)
        path = f"blobs/{context_hash(inline)}.json.gz"
        self.files.write(path, gzipped(to_json({**inline, "created_at": self.now()}).encode()))
        return self._add({**head, "external": True, "blob_path": path, **tail}, members, variant)

    def decision(
        self,
        point: str,
        options: Sequence[Mapping[str, object]],
        selected: str | Omit,
        rationale: str | Omit,
        confidence: str | None = "high",
        *,
        variant: str = "spec",
        **members: object,
    ) -> str:
        """Write a decision entry (RFC 6.6)."""
        entry: dict[str, object] = {
            "type": "decision",
            "decision_point": point,
            "options": [dict(option) for option in options],
            "selected": selected,
            "rationale": rationale,
        }
        if confidence is not None:
            entry["confidence"] = confidence
        return self._add(entry, members, variant)

    def _add(self, entry: Mapping[str, object], members: Mapping[str, object], variant: str) -> str:
        return self.entry(
            merge_members({**entry, "created_at": self.now()}, members), variant=variant
        )

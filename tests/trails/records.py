"""The part of the writer for the log: annotations, sessions, edges, delegations (RFC 7)."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Final

from tests.trails.content import anchors
from tests.trails.contexts import ContextWriter
from tests.trails.files import Omit, merge_members, to_json
from tests.trails.hashing import annotation_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SESSION_NAMESPACE: Final = uuid.UUID("6f4f1f2e-52a0-5b7e-9d0c-3f6f0a6f7a10")


class RecordWriter(ContextWriter):
    """Appends records. Extra members override or add RFC fields; `OMIT` leaves one out."""

    _sessions = 0

    def record(self, record: Mapping[str, object], *, id_variant: str = "spec") -> str:
        """Append a record and return its id.

        The id is computed as `id_variant` names it, unless the record has one. If `annotation_id`
        is `OMIT`, the record is stored without it, and the id of RFC 5.4 is returned.
        """
        stored = merge_members(record, {})
        if "annotation_id" not in record:
            stored["annotation_id"] = annotation_id(stored, id_variant)
        self.raw_log(to_json(stored).encode() + b"\n")
        return str(stored.get("annotation_id", annotation_id(stored)))

    def raw_log(self, content: bytes) -> None:
        """Append bytes to the log unchanged."""
        self.files.append_log(content)

    def session_start(
        self,
        *,
        environment: str | None = None,
        parent: str | None = None,
        agent_name: str | None = None,
        agent_type: str | None = None,
        description: str | None = None,
        timestamp: str | Omit | None = None,
        **members: object,
    ) -> str:
        """Append a session start and return the session id, which is the same in every run."""
        self._sessions += 1
        session = str(
            members.pop(
                "session_id", uuid.uuid5(SESSION_NAMESPACE, f"{self.start} {self._sessions}")
            )
        )
        known: dict[str, object] = {
            "type": "session",
            "event": "start",
            "session_id": session,
            "timestamp": timestamp or self.tick(),
            "environment_hash": self._environment(environment),
            "assurance_level": self.level,
        }
        optional = {
            "description": description,
            "parent_session_id": parent,
            "agent_name": agent_name,
            "agent_type": agent_type,
        }
        self._append(known, optional, members)
        return session

    def session_end(
        self, session: str, *, timestamp: str | Omit | None = None, **members: object
    ) -> str:
        """Append a session end and return the id of the record."""
        known: dict[str, object] = {
            "type": "session",
            "event": "end",
            "session_id": session,
            "timestamp": timestamp or self.tick(),
        }
        return self._append(known, {}, members)

    def line(
        self,
        path: str,
        start: int,
        end: int,
        *,
        text: str | bytes | None = None,
        **members: Any,
    ) -> str:
        """Append a line annotation (RFC 7.3) and return its id.

        Args:
            path: The file, relative to the project, with forward slashes.
            start: The first line, 1-based.
            end: The last line, inclusive.
            text: The text of the file, for the three anchors.
            **members: As for `_annotation`.
        """
        place = {"type": "line", "file_path": path, "line_start": start, "line_end": end}
        content = {} if text is None else anchors(text, start, end).members()
        return self._annotation(place, content, **members)

    def function(
        self,
        path: str,
        name: str,
        signature: str | None = None,
        *,
        text: str | bytes | None = None,
        lines: tuple[int, int] | None = None,
        **members: Any,
    ) -> str:
        """Append a function annotation (RFC 7.4) and return its id.

        The arguments are those of `line`; `lines` is where the function is in `text`, for anchors.
        """
        place: dict[str, object] = {"type": "function", "file_path": path, "function_name": name}
        if signature is not None:
            place["function_signature"] = signature
        content = {} if text is None or lines is None else anchors(text, *lines).members()
        return self._annotation(place, content, **members)

    def edge(
        self,
        type: str,  # noqa: A002 - the RFC's word
        source: str,
        target: str,
        *,
        source_type: str | Omit = "annotation",
        target_type: str | Omit = "context",
        metadata: Mapping[str, object] | None = None,
        session: str | None = None,
        timestamp: str | Omit | None = None,
        old_names: bool = False,
        **members: object,
    ) -> str:
        """Append an edge (RFC 7.6) and return its id.

        `old_names` writes `source_id` and `target_id` without types, as in RFC 7.3.1 (R5).
        """
        ends: dict[str, object] = {
            "source_ref": source,
            "source_type": source_type,
            "target_ref": target,
            "target_type": target_type,
        }
        if old_names:
            ends = {"source_id": source, "target_id": target}
        known = {"type": "edge", "edge_type": type, **ends, "timestamp": timestamp or self.tick()}
        optional = {"session_id": session, "metadata": None if metadata is None else dict(metadata)}
        return self._append(known, optional, members)

    def delegation(
        self,
        parent: str,
        child: str,
        *,
        task: str | None = None,
        files: Sequence[str] | None = None,
        delegation_type: str | None = "task",
        parent_environment: str | None = None,
        child_environment: str | None = None,
        timestamp: str | Omit | None = None,
        **members: object,
    ) -> str:
        """Append a delegation (RFC 7.7), without its edge and child session, and return its id."""
        known: dict[str, object] = {
            "type": "delegation",
            "parent_session_id": parent,
            "child_session_id": child,
            "timestamp": timestamp or self.tick(),
        }
        optional = {
            "task_description": task,
            "delegated_files": None if files is None else list(files),
            "delegation_type": delegation_type,
            "parent_environment_hash": parent_environment,
            "child_environment_hash": child_environment,
        }
        return self._append(known, optional, members)

    def _annotation(
        self,
        place: Mapping[str, object],
        content: Mapping[str, object],
        *,
        action: str | Omit = "create",
        environment: str | None = None,
        command: str | None = None,
        prompt: str | None = None,
        reasoning: str | None = None,
        decision: str | None = None,
        session: str | None = None,
        commit: str | None = None,
        timestamp: str | Omit | None = None,
        id_variant: str = "spec",
        **members: object,
    ) -> str:
        """Append an annotation and return its id.

        Optional members that are None are left out, except `commit_hash`, which is null (R4).

        Args:
            place: The members that say which lines or which function.
            content: The anchors.
            action: What the AI did (RFC 7.9).
            environment: Key of the environment; the last one written if None.
            command: Key of the command.
            prompt: Key of the prompt.
            reasoning: Key of the reasoning.
            decision: Key of the decision.
            session: The session's id.
            commit: The commit's hash.
            timestamp: The time; the writer's clock if None.
            id_variant: How the id is computed; see `hashing`.
            **members: Fields that override or add.
        """
        known = {
            **place,
            "environment_hash": self._environment(environment),
            "action": action,
            "timestamp": timestamp or self.tick(),
            "commit_hash": commit,
            "assurance_level": self.level,
            **content,
        }
        optional = {
            "command_hash": command,
            "prompt_hash": prompt,
            "reasoning_hash": reasoning,
            "decision_hash": decision,
            "session_id": session,
        }
        return self._append(known, optional, members, id_variant)

    def _environment(self, given: str | None) -> str:
        chosen = given or self.last_environment
        if chosen is None:
            raise ValueError("no environment was given and none was written before")
        return chosen

    def _append(
        self,
        known: Mapping[str, object],
        optional: Mapping[str, object],
        members: Mapping[str, object],
        id_variant: str = "spec",
    ) -> str:
        present = {name: value for name, value in optional.items() if value is not None}
        merged = {**known, **present, **members}
        return self.record(merged, id_variant=id_variant)

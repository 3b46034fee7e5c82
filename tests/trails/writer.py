"""The writer that tests use: `records`, `contexts`, and groups of records such as a review."""

from __future__ import annotations

from tests.trails.content import file_hash
from tests.trails.files import merge_members
from tests.trails.records import RecordWriter


class TrailWriter(RecordWriter):
    """Writes an audit trail by the RFC, without code of the product.

    Every call writes the files. Times and session ids are the same in every run: the clock starts
    at `start` and advances by a second with each record.
    """

    def cause(
        self,
        annotation: str,
        cause: str,
        *,
        target_type: str = "context",
        session: str | None = None,
        timestamp: str | None = None,
    ) -> str:
        """Append a `caused_by` edge from an annotation to its prompt or command; return its id."""
        return self.edge(
            "caused_by",
            annotation,
            cause,
            target_type=target_type,
            session=session,
            timestamp=timestamp,
        )

    def informed(
        self,
        annotation: str,
        source: str,
        *,
        target_type: str = "context",
        session: str | None = None,
        timestamp: str | None = None,
    ) -> str:
        """Append an `informed_by` edge from an annotation to what was read; return its id."""
        return self.edge(
            "informed_by",
            annotation,
            source,
            target_type=target_type,
            session=session,
            timestamp=timestamp,
        )

    def remap(
        self,
        annotation: str,
        *,
        commit: str | None,
        start: int | None = None,
        end: int | None = None,
        text: str | bytes | None = None,
        reason: str | None = "commit",
        action: str = "rebase_remap",
        edge_timestamp: str | None = None,
        **members: object,
    ) -> str:
        """Append a copy of an annotation with a commit and lines, and the edge to it (R4).

        All other members are copied, timestamp and anchors included. Returns the new id.

        Args:
            annotation: Id of the old record.
            commit: The new commit.
            start: The new first line; None keeps the old one.
            end: The new last line; None keeps the old one.
            text: The text of the file in that commit, for `file_content_hash`.
            reason: The reason in the metadata of the edge; None writes no metadata.
            action: `rebase_remap` or `rebase_orphan`.
            edge_timestamp: The time of the edge; the writer's clock if None.
            **members: Fields of the new record that override or add.
        """
        changes: dict[str, object] = {"commit_hash": commit, "action": action}
        if start is not None:
            changes["line_start"] = start
        if end is not None:
            changes["line_end"] = end
        if text is not None:
            changes["file_content_hash"] = file_hash(text)
        old = self.files.record(annotation)
        del old["annotation_id"]
        renewed = self.record({**old, **changes, **members})
        metadata = None if reason is None else {"reason": reason}
        self.edge(
            "supersedes",
            renewed,
            annotation,
            target_type="annotation",
            metadata=metadata,
            timestamp=edge_timestamp,
        )
        return renewed

    def review(
        self,
        annotation: str,
        *,
        verdict: str = "approved",
        reviewer: str = "Ada",
        kind: str = "human",
        text_hash: str | None = None,
        note: str | None = None,
        environment: str | None = None,
        session: str | None = None,
        timestamp: str | None = None,
        **metadata: object,
    ) -> str:
        """Append a review edge from an annotation to a session of the reviewer; return its id (R6).

        Without a session, it writes one, with the environment of a human reviewer.

        Args:
            annotation: Id of the reviewed record.
            verdict: `approved` or `rejected`.
            reviewer: The reviewer's name.
            kind: `human` or `ai`.
            text_hash: Hash of the reviewed lines; the record's own `anchor_hash` if None.
            note: The reviewer's remark.
            environment: Key of the reviewer's environment, if it is a model.
            session: An open session of the reviewer.
            timestamp: The time of the edge; the writer's clock if None.
            **metadata: Members of the metadata that override or add; `OMIT` leaves one out.
        """
        before = self.last_environment
        opened = session is None
        if session is None:
            session = self.session_start(
                environment=environment or self.reviewer_environment(),
                agent_name=reviewer,
                agent_type="human" if kind == "human" else "reviewer",
            )
        known: dict[str, object] = {"verdict": verdict, "reviewer": reviewer, "kind": kind}
        if (text := text_hash or self._anchor_hash(annotation)) is not None:
            known["text"] = text
        if note is not None:
            known["note"] = note
        edge = self.edge(
            "reviewed_by",
            annotation,
            session,
            target_type="session",
            metadata=merge_members(known, metadata),
            session=session,
            timestamp=timestamp,
        )
        if opened:
            self.session_end(session)
        self.last_environment = before
        return edge

    def reviewer_environment(self) -> str:
        """Write the environment of a human reviewer: the product, without a model (R6)."""
        return self.environment(
            tool="vibes-lsp", tool_version="0.1.0", model="none", model_version="none"
        )

    def _anchor_hash(self, annotation: str) -> str | None:
        found = next(
            (
                record
                for record in self.files.records()
                if record.get("annotation_id") == annotation
            ),
            {},
        )
        value = found.get("anchor_hash")
        return value if isinstance(value, str) else None

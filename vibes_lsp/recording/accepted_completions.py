"""Record inline completions, whole or in parts: each once, also after a crash.

What waits for another part is in the spool. The caller lets no other thread use the trail.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from vibes_lsp.anchors.text import Text
from vibes_lsp.model.members import Members
from vibes_lsp.recording.annotations import recorded
from vibes_lsp.recording.context import RecordingContext
from vibes_lsp.recording.inline_completions import InlineCompletion, accept_part, redraft
from vibes_lsp.recording.paths import required_path
from vibes_lsp.recording.requests import RecordInlineCompletion
from vibes_lsp.recording.results import Pending, Recorded
from vibes_lsp.recording.spool import Spool, completion_name


class AcceptedCompletions:
    """The inline completions of one trail.

    Args:
        spool: The trail's spool.
        context: Returns the trail as it is now.
        append: Appends records to the log unless it has them.
    """

    def __init__(
        self,
        spool: Spool,
        context: Callable[[], RecordingContext],
        append: Callable[[Sequence[Members]], None],
    ) -> None:
        self._spool: Final = spool
        self._context = context
        self._append = append
        self._texts: Final[dict[str, Text]] = {}
        """The texts of the pending completions that this program has accepted a part of."""

    def accept(self, request: RecordInlineCompletion) -> Recorded | Pending:
        """Record an inline completion, or store a part of it; a repeat changes nothing.

        Raises:
            WrongArgument: An argument does not fit the file or the trail.
            UnknownId: A session or an informant is not in the trail.
            UnreadableFile: No text was given and the file cannot be read.
            RefusedWrite: The trail cannot be locked or written.
        """
        context = self._context()
        path = required_path(context.project, request.required_path)
        if not context.config.tracking.tracks(path):
            return Recorded(None, untracked=True)
        name = completion_name(path, request.completion_id)
        with self._spool.lock():
            done, pending = self._spool.completions.read(name), self._spool.pending.read(name)
            if done is not None and (done.final or request.part in done.parts):
                return self._finish(name, done)
            if pending is not None and request.part in pending.parts and not request.is_final:
                return Pending()
            accepted = accept_part(context, path, request, pending or done, self._texts.get(name))
            if accepted.is_separate and pending is not None:
                self._complete(name, pending, None)
            self._texts[name] = accepted.text
            if not request.is_final:
                self._spool.pending.write(name, accepted.completion)
                return Pending()
            now = request.current_text
            current = None if now is None or now == accepted.text.content else Text(now)
            return self._complete(name, replace(accepted.completion, final=True), current)

    def record_pending(
        self,
        texts: Mapping[str, str] | None = None,
        *,
        paths: Collection[str] | None = None,
        session_id: str | None = None,
        own_after: float = 0,
        others_after: float = 0,
    ) -> bool:
        """Record pending completions as they are; return whether there were any.

        The arguments are those of `Recorder.record_pending_completions`; `own_after` selects those
        of this program whose last part is so many seconds old.

        Raises:
            RefusedWrite: The trail cannot be locked or written.
        """
        is_any = False
        for name, age, seen in list(self._spool.list_pending()):
            is_due = age >= (own_after if name in self._texts else others_after)
            is_selected = (paths is None or seen.path in paths) and session_id in (
                None,
                seen.contexts.session_id,
            )
            if not is_due or not is_selected:
                continue
            with self._spool.lock():
                pending = self._spool.pending.read(name)
                if pending is not None:
                    content = (texts or {}).get(pending.path)
                    self._complete(name, pending, None if content is None else Text(content))
                    is_any = True
        return is_any

    def _complete(self, name: str, pending: InlineCompletion, current: Text | None) -> Recorded:
        """Record a completion unless a program that died has already decided on its records."""
        done = self._spool.completions.read(name)
        if done is not None and not set(done.parts) < set(pending.parts):
            return self._finish(name, done)
        records: Sequence[Members] = pending.records
        lines = pending.lines
        if current is not None and lines is not None:
            records, lines = redraft(self._context(), pending, current, self._texts.get(name))
        result = recorded(records, pending.contexts) if records else Recorded(None, gone=True)
        written = tuple(map(dict, records))
        done = replace(pending, records=written, lines=lines, result=result)
        self._spool.completions.write(name, done)
        return self._finish(name, done)

    def _finish(self, name: str, done: InlineCompletion) -> Recorded:
        self._append(done.records)
        self._spool.remove_pending(name)
        self._texts.pop(name, None)
        return done.result

"""Recording inline completions: once for each, as one annotation however many parts it was accepted in (`docs/recording.md`).

Each part is made into the annotation that would be written if no other came; that is held, and so shows at once, until it is settled.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Final

from vibes_lsp.anchors.create_anchors import Anchors
from vibes_lsp.anchors.locate import locate
from vibes_lsp.anchors.location import AnchoredRange as Range
from vibes_lsp.anchors.location import OriginalText as Made
from vibes_lsp.anchors.text import Text
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.timestamps import parse_timestamp
from vibes_lsp.model.vocabulary import Action
from vibes_lsp.recording.accepting import Accepted, Place, accept, accepted_already, line_count
from vibes_lsp.recording.annotations import (
    Contexts,
    LineSpan,
    draft_annotation,
    recorded,
    write_contexts,
)
from vibes_lsp.recording.arguments import WrongArgument
from vibes_lsp.recording.context import RecordingContext
from vibes_lsp.recording.idempotency import LOCK, PATIENCE
from vibes_lsp.recording.paths import required_path, source_text
from vibes_lsp.recording.pending_completions import Done, HeldCompletion, PendingStore, name_of
from vibes_lsp.recording.requests import RecordInlineCompletion
from vibes_lsp.recording.results import Pending, Recorded
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import make_ignored_folder
from vibes_lsp.store.locks import FileLock
from vibes_lsp.store.locks import LockHandle as Lock

FORGOTTEN: Final = 30.0
"""Seconds after which a held completion is anyone's to record: the program that held it would have done so, were it still there."""


class Completions:
    """Records the inline completions of one trail.

    Args:
        directory: The trail.
        context: Gives the trail as it is now.
        write: Appends records, told whether some of them may be there already.
        threads: Held while anything is done.
    """

    def __init__(
        self,
        directory: AuditDir,
        context: Callable[[], RecordingContext],
        write: Callable[[list[Members], bool], None],
        threads: AbstractContextManager[bool],
    ) -> None:
        self._holding: Final = PendingStore(directory)
        self._folder: Final = directory.spool
        self._situation = context
        self._write = write
        self._threads = threads
        self._texts: dict[str, Text] = {}

    def record(self, request: RecordInlineCompletion) -> Recorded | Pending:
        """Record a completion, or hold a part of it; the same part again changes nothing.

        Raises:
            WrongArgument: Something is missing or not what it may be.
            UnknownId: A session is named and not there.
            UnreadableFile: No text was given and the file cannot be read.
            RefusedWrite: The trail cannot be locked or written.
        """
        with self._threads:
            context = self._situation()
            path = required_path(context.project, request.required_path)
            if not context.config.tracking.tracks(path):
                return Recorded(None, untracked=True)
            return self._record(context, path, request)

    def _record(
        self, context: RecordingContext, path: str, request: RecordInlineCompletion
    ) -> Recorded | Pending:
        name = name_of(path, request.completion_id)
        with self._lock():
            done, held = self._holding.done.read(name), self._holding.held.read(name)
            if done is not None and (done.final or request.part in done.held.parts):
                return self._finish(name, done, repeated=True)
            if held is not None and request.part in held.parts and not request.is_final:
                return Pending()
            accepted, before = _accepted(context, request, path)
            earlier = held or (None if done is None else done.held)
            carried = None if earlier is None else self._carried(name, earlier, accepted, before)
            if (
                carried is not None
                and accepted.lines is not None
                and _are_apart(accepted.text, carried, accepted.lines)
            ):
                if held is not None:
                    self._settle(name, held, None, final=False)  # it stands by itself
                carried = None
            contexts = write_contexts(context, request)
            whole = _whole(
                context,
                request,
                path,
                earlier=earlier,
                contexts=contexts,
                accepted=accepted,
                carried=carried,
            )
            self._texts[name] = Text(accepted.text)
            if not request.is_final:
                self._holding.held.write(name, whole)
                return Pending()
            now = request.current_text
            return self._settle(
                name, whole, None if now is None or now == accepted.text else Text(now), final=True
            )

    def settle(
        self,
        texts: Mapping[str, str] | None = None,
        *,
        paths: Collection[str] | None = None,
        session_id: str | None = None,
        own_after: float = 0,
        others_after: float = 0,
    ) -> bool:
        """Record what is held; say whether anything was.

        Args:
            texts: Files as they are now, by path relative to the project: of what is no longer in them nothing is recorded.
            paths: Only what is about these files.
            session_id: Only what belongs to this session.
            own_after: Only what was accepted so many seconds ago, of what this program holds.
            others_after: Likewise of what other programs hold, which may be dead.

        Raises:
            RefusedWrite: The trail cannot be locked or written.
        """
        is_any = False
        with self._threads:
            for name, age, seen in list(self._holding.waiting()):
                is_due = age >= (own_after if name in self._texts else others_after)
                is_meant = (paths is None or seen.path in paths) and session_id in (
                    None,
                    seen.contexts.session_id,
                )
                if not is_due or not is_meant:
                    continue
                with self._lock():
                    held = self._holding.held.read(name)
                    if held is not None:
                        content = (texts or {}).get(held.path)
                        self._settle(
                            name, held, None if content is None else Text(content), final=False
                        )
                        is_any = True
        return is_any

    def are_waiting(self) -> bool:
        """Whether anything is held, by whichever program, that can be recorded."""
        with self._threads:
            return any(True for _ in self._holding.waiting())

    def _lock(self) -> Lock:
        make_ignored_folder(self._folder)
        return FileLock(self._folder / LOCK, timeout=PATIENCE).acquire()

    def _settle(
        self, name: str, held: HeldCompletion, now: Text | None, *, final: bool
    ) -> Recorded:
        done = self._holding.done.read(name)
        if done is None or set(done.held.parts) < set(held.parts):
            records = self._records(name, held, now)
            result = recorded(records, held.contexts) if records else Recorded(None, gone=True)
            done = Done(held, final, tuple(records), result)
            self._holding.done.write(name, done)
            return self._finish(name, done, repeated=False)
        return self._finish(name, done, repeated=True)  # its writer died before the log had it

    def _finish(self, name: str, done: Done, *, repeated: bool) -> Recorded:
        self._write(list(done.records), repeated)
        self._holding.release(name)
        self._texts.pop(name, None)
        return done.result

    def _records(self, name: str, held: HeldCompletion, now: Text | None) -> list[Members]:
        """Return what is to be written, given the text as it is now; nothing when the completion is not in it any more."""
        records = list(held.records)
        if held.lines is None or now is None:
            return records
        [where] = locate([_range(held)], now, [self._made(name, held)])
        if where.start is None or where.end is None:
            return []
        lines = now.lines[where.start - 1 : where.end]
        if where.sure:
            return self._composed(held, LineSpan(held.path, now, where.start, where.end))
        is_undone = all(not line.strip() or line.strip() in held.replaced for line in lines)
        return [] if is_undone else records  # which say what the AI wrote, before others changed it

    def _composed(self, held: HeldCompletion, lines: LineSpan) -> list[Members]:
        context = self._situation()
        then = replace(context, now=parse_timestamp(held.timestamp) or context.now)
        return draft_annotation(then, held.action, held.contexts, lines).records

    def _carried(
        self, name: str, earlier: HeldCompletion, accepted: Accepted, before: str | None
    ) -> tuple[int, int] | None:
        """Return where the earlier parts are in a text in which one more was accepted; None where nothing of them is found."""
        if earlier.lines is None:
            return None
        [where] = locate(
            [_range(earlier)],
            Text(accepted.text if before is None else before),
            [self._made(name, earlier)],
        )
        if where.start is None or where.end is None:
            return None
        return (
            (where.start, where.end) if before is None else accepted.follow(where.start, where.end)
        )

    def _made(self, name: str, held: HeldCompletion) -> Made | None:
        """Return the text in which the last part was accepted; None where it was in another program."""
        made = self._texts.get(name)
        return None if made is None or held.lines is None else Made(made, *held.lines)


def _accepted(
    context: RecordingContext, request: RecordInlineCompletion, path: str
) -> tuple[Accepted, str | None]:
    """Return the text in which a completion was accepted, and the one before it; None where that is not known."""
    before = request.text
    if before is None:
        before = source_text(context.project, path).content
        already = accepted_already(before, *_ends(request), request.new_text)
        if already is not None:
            return already, None
    _refuse_outside(request, before, path)
    return accept(before, *_ends(request), request.new_text), before


def _refuse_outside(request: RecordInlineCompletion, before: str, path: str) -> None:
    """Refuse a range that the text before cannot have had; a column beyond its line is the end of the line, as in LSP."""
    lines = line_count(before)
    start, end = _ends(request)
    for name, (line, _) in (("start", start), ("end", end)):
        if line > lines:
            raise WrongArgument(
                f"range.{name}",
                f"line {line} (from 0) is not in {path}, which has {lines}; give the text before as text",
            )
    if end < start:
        raise WrongArgument("range.end", "is before the start")


def _ends(request: RecordInlineCompletion) -> tuple[Place, Place]:
    start, end = request.range.start, request.range.end
    return (start.line, start.character), (end.line, end.character)


def _whole(
    context: RecordingContext,
    request: RecordInlineCompletion,
    path: str,
    *,
    earlier: HeldCompletion | None,
    contexts: Contexts,
    accepted: Accepted,
    carried: tuple[int, int] | None,
) -> HeldCompletion:
    """Return all that was accepted so far, and the annotation that it makes.

    Args:
        context: The trail.
        request: The part that was accepted last.
        path: The file.
        earlier: The parts before it.
        contexts: What the last part names.
        accepted: The text with all parts.
        carried: Where the earlier ones are in it, if they are part of the same annotation.
    """
    both = [each for each in (carried, accepted.lines) if each is not None]
    lines = (min(start for start, _ in both), max(end for _, end in both)) if both else None
    parts: tuple[int, ...] = (request.part,)
    action, replaced = accepted.action, accepted.replaced
    if earlier is not None:
        parts = tuple(sorted({*earlier.parts, request.part}))
        contexts = earlier.contexts.merged(contexts)
        if carried is not None:
            action = Action.MODIFY.value if Action.MODIFY in (earlier.action, action) else action
            replaced = (*earlier.replaced, *replaced)
    records = (
        ()
        if lines is None
        else tuple(
            draft_annotation(
                context, action, contexts, LineSpan(path, Text(accepted.text), *lines)
            ).records
        )
    )
    return HeldCompletion(
        path, parts, contexts, context.timestamp, action, lines, replaced, records
    )


def _are_apart(text: str, one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether lines of somebody else stand between two ranges."""
    first, second = sorted((one, other))
    return any(line.strip() for line in Text(text).lines[first[1] : second[0] - 1])


def _range(held: HeldCompletion) -> Range:
    record = held.records[0]
    start, end = held.lines or (1, 1)
    return Range(
        start,
        end,
        Anchors(
            text(record, "anchor_context"),
            text(record, "anchor_hash"),
            text(record, "file_content_hash"),
        ),
    )

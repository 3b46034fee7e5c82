"""Record the edits of an import that the trail does not have yet.

An imported record depends only on its source and on git, so that clones which import the same
records write the same lines. It has no risk members: the score follows from what is known now. Its
assurance level is that of what the source has: medium with a prompt, else low.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final, TypeAlias

from vibes_lsp.agents.events import UNKNOWN
from vibes_lsp.anchors.create_anchors import Anchors, create_anchors
from vibes_lsp.anchors.line_hashes import join_hashes
from vibes_lsp.anchors.text import Text, replace_invalid
from vibes_lsp.exchange.import_plan import (
    CONTENT_HASH,
    Candidate,
    Imported,
    ImportedEdit,
    ImportedSession,
    Outcome,
    PlannedRecord,
    Refusal,
    session_spans,
    source_members,
)
from vibes_lsp.exchange.older_lines import older_edits
from vibes_lsp.git.repository import Repository, open_repository
from vibes_lsp.model.members import Members, mapping, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.timestamps import format_timestamp
from vibes_lsp.model.vocabulary import IMPORTED_FROM, NO_MODEL, AssuranceLevel, RecordType
from vibes_lsp.placing.locate_annotations import locate_on_lines
from vibes_lsp.recording.annotations import Contexts, add_annotation, unmeasured_members
from vibes_lsp.recording.arguments import Model, Tool
from vibes_lsp.recording.context import Draft, RecordingContext, present
from vibes_lsp.recording.entries import Entries
from vibes_lsp.recording.paths import is_bookkeeping, project_path
from vibes_lsp.recording.recorder import Recorder
from vibes_lsp.recording.reviews import HUMAN
from vibes_lsp.recording.sessions import add_delegation, add_end, add_start
from vibes_lsp.trail.lineage import Lineage
from vibes_lsp.trail.lineage_commits import COMMITTED_FIRST
from vibes_lsp.trail.records import LogRecord, recorded_lines
from vibes_lsp.trail.rows import LogLineKind
from vibes_lsp.trail.trail import Trail

ReadCandidates: TypeAlias = Callable[[RecordingContext], Iterable[Candidate]]
"""Yields the edits of a source, and what cannot be imported."""

IMPORTED_BEFORE: Final = "imported before"
RECORDED_ALREADY: Final = "the trail has these lines already"
GIVEN_TWICE: Final = "the source has these lines twice"
NOT_IN_PROJECT: Final = "the file is not in the project"
NOT_TRACKED: Final = "the project does not track the file"
OLDER: Final = "git had the lines there before the edit"
_MAX_NAME: Final = 250
"""Longest name of a tool or model that is recorded, in characters."""


@dataclass(frozen=True, slots=True)
class _NewEdit:
    """An edit that is recorded, with anchors and hashes of its lines instead of a whole text."""

    edit: ImportedEdit
    anchors: Anchors
    hashes: str | None = None


@dataclass(frozen=True, slots=True)
class _Planned:
    """What becomes of a record of the source, and the edit if it is recorded."""

    record: PlannedRecord
    new: _NewEdit | None = None


def record_imports(
    recorder: Recorder,
    read: ReadCandidates,
    *,
    dry_run: bool = False,
    confirm: Callable[[Imported], bool] | None = None,
) -> Imported:
    """Record what a reader yields and the trail does not have; again, it changes nothing.

    Args:
        recorder: The trail's recorder.
        read: Yields the edits. Those in one version of a file should follow each other, with the
            same `Text`: that version is then searched once.
        dry_run: Write nothing, only return what would be recorded.
        confirm: Is asked with what would be recorded; nothing is written unless it agrees.

    Raises:
        VibesError: The source or the trail cannot be read, or the trail cannot be written.
    """

    def decide(context: RecordingContext) -> tuple[Draft, Imported]:
        plan = _without_older(context.trail, list(_plan(context, read(context))))
        preview = Imported.of([planned.record for planned in plan], 0)
        if dry_run or (confirm is not None and preview.imported and not confirm(preview)):
            return Draft(context.timestamp), preview
        return _write(context, plan)

    return recorder.write_derived(Imported, decide, dry_run=dry_run, at_once=True)


def _plan(context: RecordingContext, candidates: Iterable[Candidate]) -> Iterator[_Planned]:
    """Yield what becomes of each candidate; an edit is split where the trail has some lines."""
    known = _KnownLines(context.trail, open_repository(context.project))
    for candidate in candidates:
        if isinstance(candidate, Refusal):
            yield _Planned(_planned(candidate, Outcome.REFUSED, candidate.reason))
            continue
        refused = _refusal(context, candidate)
        if refused is not None:
            yield _Planned(_planned(candidate, Outcome.REFUSED, refused))
            continue
        lines = range(candidate.start, candidate.end + 1)
        for reason, run in groupby(
            zip(known.of(candidate), lines, strict=True), lambda pair: pair[0]
        ):
            numbers = [line for _, line in run]
            part = replace(candidate, start=numbers[0], end=numbers[-1])
            if reason is None:
                known.add(part)
                yield _Planned(_planned(part, Outcome.IMPORTED), _new_edit(context, part))
            else:
                planned = _planned(part, Outcome.KNOWN, reason[0])
                yield _Planned(replace(planned, annotation_id=reason[1] or None))


def _new_edit(context: RecordingContext, edit: ImportedEdit) -> _NewEdit:
    """Return an edit with its anchors: none of a saved text that git does not store."""
    is_committed = edit.commit is not None and edit.text is not None
    if not is_committed and context.hides_saved(edit.path):
        extra = {name: value for name, value in (edit.extra or {}).items() if name != CONTENT_HASH}
        return _NewEdit(replace(edit, text=None, extra=extra), Anchors())
    if edit.text is None:
        return _NewEdit(edit, Anchors())
    anchors = create_anchors(edit.text, edit.start, edit.end)
    hashes = join_hashes(edit.text.lines[edit.start - 1 : edit.end])
    return _NewEdit(replace(edit, text=None), anchors, hashes)


def _without_older(trail: Trail, plan: Sequence[_Planned]) -> list[_Planned]:
    """Return a plan that refuses the edits whose lines git had before them."""
    older = older_edits(
        trail,
        {
            number: planned.new.edit
            for number, planned in enumerate(plan)
            if planned.new is not None and planned.new.anchors.hash is not None
        },
    )
    return [
        _Planned(replace(planned.record, outcome=Outcome.REFUSED.value, reason=OLDER))
        if number in older
        else planned
        for number, planned in enumerate(plan)
    ]


def _refusal(context: RecordingContext, edit: ImportedEdit) -> str | None:
    relative = project_path(context.project, edit.path)
    if relative != edit.path or is_bookkeeping(context.project, edit.path):
        return NOT_IN_PROJECT
    return None if context.config.tracking.tracks(edit.path) else NOT_TRACKED


def _planned(source: Candidate, outcome: Outcome, reason: str = "") -> PlannedRecord:
    return PlannedRecord(
        source.source.place,
        source.source.id,
        outcome.value,
        reason,
        source.path,
        source.start,
        source.end,
        source.evidence.value if isinstance(source, ImportedEdit) else None,
    )


class _KnownLines:
    """Finds the lines of an edit that the trail, or this import, has already.

    Args:
        trail: The trail, refreshed.
        repository: The repository of the project, if any.
    """

    def __init__(self, trail: Trail, repository: Repository | None) -> None:
        self._trail, self._repository = trail, repository
        self._imported: dict[tuple[str, str, str], list[LogRecord]] = defaultdict(list)
        self._new: set[tuple[str, str | None, int]] = set()
        self._text: Text | None = None
        self._path = ""
        self._owners: dict[int, str] = {}
        self._rewritten: dict[str, bool] = {}
        for record in trail.log.records_of(LogLineKind.LINE):
            source = mapping(record.members, IMPORTED_FROM)
            if source:
                path = normal_path(record.text("file_path") or "")
                key = (text(source, "format") or "", text(source, "id") or "", path)
                self._imported[key].append(record)

    def of(self, edit: ImportedEdit) -> list[tuple[str, str] | None]:
        """Return for each line why it is known and by which annotation; None if it is new."""
        imported = self._imported_lines(edit)
        is_new = any(line not in imported for line in range(edit.start, edit.end + 1))
        owners = self._owners_in(edit) if is_new else {}
        reasons: list[tuple[str, str] | None] = []
        for line in range(edit.start, edit.end + 1):
            if line in imported:
                reasons.append((IMPORTED_BEFORE, imported[line]))
            elif (edit.path, edit.commit, line) in self._new:
                reasons.append((GIVEN_TWICE, ""))
            else:
                reasons.append((RECORDED_ALREADY, owners[line]) if line in owners else None)
        return reasons

    def add(self, edit: ImportedEdit) -> None:
        """Add the lines of an edit that is recorded."""
        self._new.update((edit.path, edit.commit, line) for line in range(edit.start, edit.end + 1))

    def _imported_lines(self, edit: ImportedEdit) -> dict[int, str]:
        """Return the lines that an earlier import took from the same record of the source."""
        imported_lines: dict[int, str] = {}
        for record in self._imported.get((edit.source.format, edit.source.id, edit.path), ()):
            lines, commit = recorded_lines(record), record.text("commit_hash")
            if lines is not None and commit == edit.commit:
                first, last = max(lines[0], edit.start), min(lines[1], edit.end)
                imported_lines.update(dict.fromkeys(range(first, last + 1), record.id))
            elif edit.text is not None and commit is not None and self._is_rewritten(commit):
                anchors = create_anchors(edit.text, edit.start, edit.end)
                if anchors.hash == record.text("anchor_hash"):
                    return dict.fromkeys(range(edit.start, edit.end + 1), record.id)
        return imported_lines

    def _is_rewritten(self, commit: str) -> bool:
        """Whether a commit is no longer in the history of HEAD."""
        if commit not in self._rewritten:
            self._rewritten[commit] = self._repository is None or not self._repository.is_ancestor(
                commit
            )
        return self._rewritten[commit]

    def _owners_in(self, edit: ImportedEdit) -> dict[int, str]:
        """Return the annotations that certainly own lines of an edit's version, by line."""
        if edit.text is None:
            return {}
        if self._text is not edit.text or self._path != edit.path:
            self._text, self._path = edit.text, edit.path
            lines = 1, len(edit.text.lines)
            self._owners = {
                line: placement.current.id
                for placement in locate_on_lines(self._trail, edit.path, edit.text, lines)
                if placement.located.sure
                and not placement.is_history
                and _is_before(placement.lineage, edit)
                for first, last in placement.owned_ranges
                for line in range(first, last + 1)
            }
        return self._owners


def _is_before(lineage: Lineage, edit: ImportedEdit) -> bool:
    """Whether an annotation may be the same edit: else its lines were in git before it (R14)."""
    return edit.committed is None or lineage.first.moment <= edit.committed + COMMITTED_FIRST


def _write(context: RecordingContext, plan: Sequence[_Planned]) -> tuple[Draft, Imported]:
    """Write the entries of new edits, and return their records."""
    entries = Entries(context)
    draft = Draft(context.timestamp)
    records: list[PlannedRecord] = []
    draft.records += _sessions(
        context, entries, [planned.new.edit for planned in plan if planned.new]
    )
    for planned in plan:
        if planned.new is None:
            records.append(planned.record)
            continue
        edit = planned.new.edit
        environment = _environment(entries, edit)
        annotation = _annotation(context, entries, planned.new, environment)
        draft.records += annotation.records
        identifier = str(annotation.records[0]["annotation_id"])
        records.append(replace(planned.record, annotation_id=identifier))
    return draft, Imported.of(records, entries.masked)


def _environment(entries: Entries, edit: ImportedEdit) -> str:
    """Write the environment of an edit and return its hash."""
    tool, model = edit.tool, edit.model
    return entries.environment(
        Tool(_name(tool.name), _name(tool.version), tool.extensions),
        Model(_model_name(model.name), _name(model.version), model.parameters),
    )


def _name(raw_name: str) -> str:
    """Return a name that any record can have."""
    return replace_invalid(raw_name.strip())[:_MAX_NAME] or UNKNOWN


def _model_name(raw_name: str) -> str:
    """Return the name of an AI's model: never the one that stands for a person."""
    name = _name(raw_name)
    return UNKNOWN if name == NO_MODEL else name


def _sessions(
    context: RecordingContext, entries: Entries, edits: Sequence[ImportedEdit]
) -> Iterator[Members]:
    """Yield the starts and ends of the edits' sessions that the trail does not have."""
    spans = session_spans(edits)
    origins: dict[str, ImportedEdit] = {}
    children: dict[str, ImportedEdit] = {}
    for edit in edits:
        if edit.session is None:
            continue
        origins.setdefault(edit.session.id, edit)
        if edit.session.parent is not None:
            children.setdefault(edit.session.parent, edit)
    known = context.trail.log.session
    environments: dict[str, str] = {}
    for identifier in sorted(
        spans, key=lambda session_id: (session_id not in children, spans[session_id])
    ):
        if known(identifier) is not None:
            continue
        own = origins.get(identifier)
        edit = own or replace(children[identifier], model=Model(UNKNOWN, UNKNOWN))
        session = own.session if own is not None else None
        environment = environments[identifier] = _environment(entries, edit)
        draft = Draft(format_timestamp(spans[identifier][0]), identifier)
        add_start(
            draft,
            context,
            identifier,
            environment,
            description=entries.clean_or_none(session.description) if session else None,
            parent_session_id=session.parent if session else None,
            agent_type=_agent_type(entries, session),
        )
        if session is not None and session.parent is not None:
            parent = known(session.parent)
            of_parent = environments.get(session.parent) or (
                parent.text("environment_hash") if parent is not None else None
            )
            add_delegation(draft, (session.parent, of_parent), (identifier, environment))
        add_end(draft, identifier, format_timestamp(spans[identifier][1]))
        yield from draft.records


def _agent_type(entries: Entries, session: ImportedSession | None) -> str | None:
    """Return what kind of subagent a session is of: never a person."""
    agent_type = None if session is None else entries.clean_or_none(session.agent_type)
    return None if agent_type == HUMAN else agent_type


def _annotation(
    context: RecordingContext, entries: Entries, new: _NewEdit, environment: str
) -> Draft:
    """Return an annotation and the edge to its cause."""
    edit, anchors = new.edit, new.anchors
    keeps_prompt = edit.prompt is not None and context.level != AssuranceLevel.LOW
    level = AssuranceLevel.MEDIUM if keeps_prompt else AssuranceLevel.LOW
    contexts = Contexts(
        {
            "environment_hash": environment,
            "prompt_hash": entries.prompt(edit.prompt) if edit.prompt and keeps_prompt else None,
        },
        session_id=None if edit.session is None else edit.session.id,
    )
    timestamp = format_timestamp(edit.moment)
    place: Members = {
        "type": RecordType.LINE.value,
        "file_path": edit.path,
        "line_start": edit.start,
        "line_end": edit.end,
    }
    record: Members = {
        **unmeasured_members(place, edit.action, contexts, timestamp),
        "commit_hash": edit.commit,
        "assurance_level": level.value,
        IMPORTED_FROM: _clean(entries, source_members(edit)),
        **present(
            {
                "anchor_context": anchors.context,
                "anchor_hash": anchors.hash,
                "file_content_hash": anchors.file_hash,
                "line_hashes": new.hashes,
            }
        ),
    }
    draft = Draft(timestamp, contexts.session_id)
    add_annotation(draft, record, contexts)
    return draft


def _clean(entries: Entries, value: Any) -> Any:
    """Return a JSON value with all texts cleaned; names of members are kept."""
    if isinstance(value, str):
        return entries.clean(value)
    if isinstance(value, Mapping):
        return {replace_invalid(name): _clean(entries, member) for name, member in value.items()}
    return [_clean(entries, element) for element in value] if isinstance(value, list) else value

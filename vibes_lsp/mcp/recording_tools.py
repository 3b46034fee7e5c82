"""The tools that record: an agent without hooks says what it did, on the same requests as others.

What is recorded here is always an AI's: there is no review, and no session of a person can be named
or started.
"""

from __future__ import annotations

from typing import Any, Final

from vibes_lsp.mcp.served_project import ServedProject
from vibes_lsp.model.members import text
from vibes_lsp.model.vocabulary import NO_MODEL
from vibes_lsp.recording import RecordAnnotation, Recorder, WrongArgument
from vibes_lsp.recording.across_projects import addressed_to_owner, visiting_request
from vibes_lsp.recording.paths import project_path
from vibes_lsp.recording.requests import Request
from vibes_lsp.recording.results import Result
from vibes_lsp.recording.reviews import HUMAN
from vibes_lsp.trail.trail import Trail

_MAX_ANSWERS: Final = 20
"""Annotations of a file that an edit names: the last ones."""
_SESSIONS: Final = ("session_id", "parent_session_id", "child_session_id")


class GivenAnswers:
    """Which annotations this client was told of, by file; its next edits of the file name them."""

    def __init__(self) -> None:
        self._by_file: dict[str, list[str]] = {}

    def add(self, path: str, identifier: str) -> None:
        """Store that the client was told of an annotation in a file."""
        others = [other for other in self.about(path) if other != identifier]
        self._by_file[path] = [*others, identifier][-_MAX_ANSWERS:]

    def about(self, path: str) -> list[str]:
        """Return the ids of the annotations of a file that the client was told of."""
        return self._by_file.get(path, [])


def record(project: ServedProject, request: Request[Any], given_answers: GivenAnswers) -> Result:
    """Execute a request of an AI.

    Raises:
        WrongArgument: It names a person, or an argument is wrong.
        VibesError: It cannot be recorded.
    """
    _refuse_persons(project.trail, request)
    directory, homes = project.trail.directory, list[Trail]()
    owner, addressed = addressed_to_owner(request, project.root)
    if owner is not None and owner.path.resolve() != directory.path.resolve():
        trail = Trail(owner, uses_saved=True)
        trail.refresh()
        _refuse_persons(trail, request)
        directory, homes, request = owner, [project.trail], addressed
    elif isinstance(request, RecordAnnotation):
        request = _with_answers(project, request, given_answers)
    recorder = Recorder(directory)
    try:
        result: Result = recorder.execute(visiting_request(recorder, homes, request))
    finally:
        recorder.finish()
    return result


def _with_answers(
    project: ServedProject, request: RecordAnnotation, given_answers: GivenAnswers
) -> RecordAnnotation:
    """Return an edit that also names the annotations of its file that the client was told of."""
    path = project_path(project.root, request.required_path)
    answered_ids = [
        identifier
        for identifier in (() if path is None else given_answers.about(path))
        if identifier not in request.informed_by and project.trail.log.by_id(identifier) is not None
    ]
    return request.model_copy(update={"informed_by": (*request.informed_by, *answered_ids)})


def _refuse_persons(trail: Trail, request: Request[Any]) -> None:
    """Refuse a request in a person's name, and a review.

    Raises:
        WrongArgument: It is one.
    """
    if isinstance(request, RecordAnnotation) and request.action == "review":
        raise WrongArgument("action", "expected create, modify or delete; people review")
    model = getattr(request, "model", None)
    if model is not None and model.name == NO_MODEL:
        raise WrongArgument("model.name", f"must not be {NO_MODEL!r}, which stands for a person")
    if getattr(request, "agent_type", None) == HUMAN:
        raise WrongArgument("agent_type", f"must not be {HUMAN!r}: only an AI records here")
    for member in _SESSIONS:
        identifier = getattr(request, member, None)
        session = None if identifier is None else trail.log.session(identifier)
        if session is None:
            continue
        environment = trail.manifest.entry(session.text("environment_hash") or "") or {}
        if session.text("agent_type") == HUMAN or text(environment, "model_name") == NO_MODEL:
            raise WrongArgument(member, f"{identifier!r} is a person's session")

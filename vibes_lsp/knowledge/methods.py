"""The `kb.*` methods (vouch 5): parameters in, JSON values out, the same for every transport.

A result has the members of the specification and those of the reference implementation. Where
their types exclude each other, `Dialect` decides.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from vibes_lsp.errors import VibesError
from vibes_lsp.knowledge import drafts
from vibes_lsp.knowledge import method_parameters as parameters
from vibes_lsp.knowledge import provenance_methods as provenance
from vibes_lsp.knowledge import reading_methods as reading
from vibes_lsp.knowledge import writing_methods as writing
from vibes_lsp.knowledge.actors import checked_actor
from vibes_lsp.knowledge.changes import complete_changes
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase
from vibes_lsp.knowledge.method_context import (
    Dialect,
    InvalidParameter,
    MethodContext,
    MissingParameter,
    UnknownMethod,
)
from vibes_lsp.knowledge.object_index import ObjectIndex
from vibes_lsp.knowledge.objects import Kind
from vibes_lsp.knowledge.review_gate import ReviewGate


class KnowledgeMethods:
    """Answers the methods for one actor.

    Args:
        knowledge: The knowledge base.
        actor: Who calls.
        dialect: Whose types results have.
        now: The clock.
        may_approve_own: Whether the actor may approve own proposals: a person at an editor may.
            None for the setting of the project.
    """

    def __init__(
        self,
        knowledge: KnowledgeBase,
        actor: str,
        *,
        dialect: Dialect = Dialect.SPEC,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        may_approve_own: bool | None = None,
    ) -> None:
        index, gate = ObjectIndex(knowledge), ReviewGate(knowledge, now)
        self._context = MethodContext(
            knowledge, checked_actor(actor), dialect, now, index, gate, METHODS, may_approve_own
        )

    def close(self) -> None:
        """Close the index."""
        self._context.index.close()

    def call(self, method: str, params: Mapping[str, Any]) -> Any:
        """Return the result of a method as JSON values.

        Raises:
            UnknownMethod: There is no such method.
            MissingParameter: A required parameter is absent or null.
            InvalidParameter: A parameter has a wrong type or value.
            VibesError: The method fails.
        """
        registered = _METHODS.get(method) or _EXTENSIONS.get(method)
        if registered is None:
            raise UnknownMethod(f"no method {method!r}")
        model, function = registered
        with suppress(VibesError):  # a folder that is read-only can still be read
            complete_changes(self._context.knowledge)
        return function(self._context, _parse(model, params))


def _parse(model: type[parameters.Parameters], params: Mapping[str, Any]) -> Any:
    present = {name: value for name, value in params.items() if value is not None}
    try:
        return model.model_validate(present)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)
        missing = [str(fault["loc"][0]) for fault in faults if fault["type"] == "missing"]
        if missing:
            raise MissingParameter(f"{missing[0]} is required") from None
        where = ".".join(str(part) for part in faults[0]["loc"])
        reason = faults[0]["msg"].removeprefix("Value error, ")
        raise InvalidParameter(f"{where}: {reason}") from None


_Method: TypeAlias = tuple[type[parameters.Parameters], Callable[[MethodContext, Any], Any]]


def _reader(kind: Kind) -> _Method:
    return parameters.ReadParameters, lambda context, request: reading.read_object(
        context, kind, request
    )


def _lister(kind: Kind) -> _Method:
    return parameters.ListParameters, lambda context, request: reading.list_objects(
        context, kind, request
    )


_METHODS: Final[dict[str, _Method]] = {
    "kb.capabilities": (parameters.Parameters, reading.capabilities),
    "kb.status": (parameters.Parameters, reading.status),
    "kb.search": (parameters.SearchParameters, reading.search),
    "kb.context": (parameters.ContextParameters, reading.build_pack),
    "kb.read_page": _reader(Kind.PAGE),
    "kb.read_claim": _reader(Kind.CLAIM),
    "kb.read_entity": _reader(Kind.ENTITY),
    "kb.read_relation": _reader(Kind.RELATION),
    "kb.list_pages": _lister(Kind.PAGE),
    "kb.list_claims": _lister(Kind.CLAIM),
    "kb.list_entities": _lister(Kind.ENTITY),
    "kb.list_relations": _lister(Kind.RELATION),
    "kb.list_sources": _lister(Kind.SOURCE),
    "kb.list_pending": (parameters.ListParameters, reading.list_pending),
    "kb.register_source": (parameters.RegisterParameters, writing.register_text),
    "kb.register_source_from_path": (
        parameters.RegisterPathParameters,
        writing.register_source_from_path,
    ),
    "kb.source_verify": (parameters.VerifyParameters, reading.source_verify),
    "kb.propose_claim": (drafts.ClaimDraft, writing.propose),
    "kb.propose_page": (drafts.PageDraft, writing.propose),
    "kb.propose_entity": (drafts.EntityDraft, writing.propose),
    "kb.propose_relation": (drafts.RelationDraft, writing.propose),
    "kb.approve": (parameters.ApproveParameters, writing.approve),
    "kb.reject": (parameters.RejectParameters, writing.reject),
    "kb.supersede": (parameters.SupersedeParameters, writing.supersede),
    "kb.contradict": (parameters.ContradictParameters, writing.contradict),
    "kb.archive": (parameters.ArchiveParameters, writing.archive),
    "kb.confirm": (parameters.ArchiveParameters, writing.confirm),
    "kb.cite": (parameters.CiteParameters, writing.cite),
    "kb.session_start": (parameters.SessionStartParameters, writing.session_start),
    "kb.session_end": (parameters.SessionEndParameters, writing.session_end),
    "kb.crystallize": (parameters.CrystallizeParameters, writing.crystallize_session),
    "kb.index_rebuild": (parameters.Parameters, writing.index_rebuild),
    "kb.lint": (parameters.LintParameters, reading.lint_content),
    "kb.doctor": (parameters.Parameters, reading.diagnose),
    "kb.audit": (parameters.AuditParameters, reading.audit),
    "kb.export": (parameters.ExportParameters, writing.write_bundle),
    "kb.export_check": (parameters.BundleParameters, reading.export_check),
    "kb.import_check": (parameters.BundleParameters, reading.import_check),
    "kb.import_apply": (parameters.ImportParameters, writing.apply_bundle),
}
METHODS: Final = tuple(_METHODS)
"""The names of the methods of the specification."""

_EXTENSIONS: Final[dict[str, _Method]] = {
    "kb.provenance_report": (
        parameters.ProvenanceReportParameters,
        provenance.provenance_report,
    ),
    "kb.register_provenance": (
        parameters.RegisterProvenanceParameters,
        provenance.register_provenance,
    ),
}
"""Methods of ours, which `kb.capabilities` lists as extensions."""


def method_descriptions() -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield each method with the JSON schema of its parameters and one sentence about it."""
    for name, (model, function) in _METHODS.items():
        text = (function.__doc__ or _named(name)).strip().split("\n")[0]
        yield name, model.model_json_schema(by_alias=False), text


def method_help(method: str) -> tuple[Mapping[str, FieldInfo], str]:
    """Return the parameters of a method, and what it does."""
    model, function = _METHODS.get(method) or _EXTENSIONS[method]
    return model.model_fields, inspect.getdoc(function) or _named(method)


def _named(method: str) -> str:
    """Return the sentence about a method that reads or lists objects."""
    verb, _, noun = method.removeprefix("kb.").partition("_")
    return f"List the {noun}." if verb == "list" else f"Read one {noun} by its id."

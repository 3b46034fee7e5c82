"""The resources: the project's policy, its sessions, and its files with their annotations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, unquote

from mcp import types

from vibes_lsp.errors import UnknownId
from vibes_lsp.mcp.answers import NOTICE
from vibes_lsp.mcp.asking import MAX_RESULTS, FileLines, provenance_at
from vibes_lsp.mcp.reasons import session_answer
from vibes_lsp.mcp.recorded_text import Quotations, path_text
from vibes_lsp.mcp.served_project import ServedProject
from vibes_lsp.model.escaping import without_invisible
from vibes_lsp.model.members import JsonValue, Members, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import ContextType, EdgeType
from vibes_lsp.recording.paths import project_path

JSON: Final = "application/json"
_SCHEME: Final = "vibes://"
_MAX_PROMPT: Final = 1_000
_MAX_URI: Final = 4_000


RESOURCES: Final = tuple(
    types.Resource(uri=_SCHEME + name, name=name, description=description, mime_type=JSON)
    for name, description in (
        ("config", "What the project records, and how it scores risk."),
        ("sessions", "The last sessions of AIs."),
        ("files", "The files that have annotations."),
    )
)
TEMPLATES: Final = tuple(
    types.ResourceTemplate(
        uri_template=_SCHEME + uri, name=name, description=description, mime_type=JSON
    )
    for uri, name, description in (
        ("sessions/{sessionId}", "session", "A session with its prompts and files."),
        ("files/{+path}", "file", "The annotations of a file."),
    )
)


def read_resource(project: ServedProject, uri: str) -> Members:
    """Return the content of a resource of a project that was refreshed.

    Raises:
        UnknownId: There is no such resource.
        VibesError: It cannot be read.
    """
    kind, _, encoded = uri[:_MAX_URI].removeprefix(_SCHEME).partition("/")
    if uri.startswith(_SCHEME) and len(uri) <= _MAX_URI:
        match kind, unquote(encoded):
            case "config", "":
                return _config(project)
            case "sessions", "":
                return _sessions(project)
            case "files", "":
                return _files(project)
            case "sessions", identifier:
                return _session(project, identifier)
            case "files", path:
                answer = provenance_at(project, FileLines(file=path, limit=MAX_RESULTS))
                return answer.as_json()
    uris = [resource.uri for resource in RESOURCES]
    uris += [template.uri_template for template in TEMPLATES]
    raise UnknownId(f"no resource has this URI; there are {', '.join(uris)}")


def _config(project: ServedProject) -> Members:
    config, policy = project.config.config, project.config.policy
    return _framed(
        project,
        {
            "projectName": path_text(config.project_name),
            "assuranceLevel": str(config.assurance_level),
            "trackedExtensions": _bounded(config.tracked_extensions),
            "excludePatterns": _bounded(config.exclude_patterns),
            "riskScoring": {
                "isScored": policy.computes_scores,
                "thresholds": {str(band): bound for band, bound in policy.thresholds.items()},
                "weights": {
                    without_invisible(signal): weight for signal, weight in policy.weights.items()
                },
                "reviewRules": [
                    {"condition": path_text(rule.condition), "action": str(rule.action)}
                    for rule in policy.rules
                ],
            },
        },
    )


def _sessions(project: ServedProject) -> Members:
    ids = project.trail.session_ids()
    quotations, shown = Quotations(), ids[: -MAX_RESULTS - 1 : -1]
    answers = [session_answer(project.trail, identifier, quotations) for identifier in shown]
    sessions: list[JsonValue] = [
        {
            **answer.as_json(),
            "uri": f"{_SCHEME}sessions/{quote(identifier, safe='')}",
        }
        for identifier, answer in zip(shown, answers, strict=True)
        if answer is not None
    ]
    return _framed(project, {"sessions": sessions, "more": len(ids) - len(shown)})


def _files(project: ServedProject) -> Members:
    paths = sorted(
        path
        for path in {normal_path(recorded) for recorded in project.trail.annotated_paths()}
        if project_path(project.root, path) is not None
    )
    files: list[JsonValue] = [
        {"file": path_text(path), "uri": f"{_SCHEME}files/{quote(path)}"}
        for path in paths[:MAX_RESULTS]
    ]
    return _framed(project, {"files": files, "more": max(0, len(paths) - MAX_RESULTS)})


def _session(project: ServedProject, identifier: str) -> Members:
    trail, quotations = project.trail, Quotations()
    answer = session_answer(trail, identifier, quotations)
    if answer is None:
        raise UnknownId(
            f"no session has the id {identifier[:100]!r}", hint="vibes://sessions lists them"
        )
    edges = trail.log.edges(source=identifier, edge_type=EdgeType.CAUSED_BY)
    entries = [trail.manifest.entry(edge.target) or {} for edge in edges[:MAX_RESULTS]]
    prompts: list[JsonValue] = [
        {"prompt": quoted.as_json()}
        for entry in entries
        if entry.get("type") == ContextType.PROMPT
        and (quoted := quotations.quote(text(entry, "prompt_text"), _MAX_PROMPT)) is not None
    ]
    files = sorted(trail.files_of_session(identifier))
    return _framed(
        project,
        {
            **answer.as_json(),
            "prompts": prompts,
            "files": [path_text(path) for path in files[:MAX_RESULTS]],
            "more": max(0, len(files) - MAX_RESULTS) + max(0, len(edges) - MAX_RESULTS),
        },
    )


def _framed(project: ServedProject, members: Members) -> Members:
    return {"notice": NOTICE, **members, "warnings": list(project.warnings)}


def _bounded(entries: Sequence[str] | None) -> list[JsonValue] | None:
    return None if entries is None else [path_text(entry) for entry in entries[:MAX_RESULTS]]

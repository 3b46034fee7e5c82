"""`docs/protocol.md`: what the language server and its clients say to each other, made from the code."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import json
import re
import types as python_types
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, get_args, get_type_hints

from lsprotocol import types
from pydantic import TypeAdapter
from pydantic.alias_generators import to_camel

from tools.docs import wire_shapes
from tools.docs.mcp_reference import type_text
from vibes_lsp import lsp
from vibes_lsp.lsp.features import (
    call_hierarchy,
    completion,
    diagnostics,
    folding,
    inlay_hints,
    recording,
)
from vibes_lsp.lsp.lifecycle import create_server
from vibes_lsp.lsp.protocol import extensions, settings
from vibes_lsp.lsp.protocol.extensions import CommandName, ProvenanceParams
from vibes_lsp.lsp.protocol.pygls_protocol import RequestFailed
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.maintenance.remap import Remap
from vibes_lsp.recording import arguments
from vibes_lsp.recording.requests import REQUESTS, Request

_LSP: Final = Path(next(iter(lsp.__path__)))
_PACKAGE: Final = _LSP.parent
_OTHER_PROGRAMS: Final = ("agents", "cli", "mcp")
"""Packages whose errors no command of the server raises."""
_LATE: Final = (call_hierarchy, completion, folding, inlay_hints)
"""Features that are declared or registered once the client has said what it can do."""
_ATTRIBUTES: Final = re.compile(r"^Attributes:\n(?P<body>(?:[ ]+.*\n?|\n)*)", re.MULTILINE)
_ATTRIBUTE: Final = re.compile(r"^    (?P<name>\w+): (?P<text>.*(?:\n {5,}.*)*)", re.MULTILINE)
_READING: Final = re.compile(r" ?\((?:RFC [\d.]+, )?(?:R\d+\w?(?:, )?)+\)")
_INTRODUCTION: Final = """<!-- Made by `make docs` from `vibes_lsp/lsp`; edit that instead. -->

# Protocol

What `vibes-lsp` and its clients say to each other, besides what LSP itself defines. [The language server](server.md) has what each feature shows, [Words](README.md#words) what an
annotation, an entry, an owner or a lineage is.

Members called lines are 1-based and inclusive; ranges are those of LSP. Ids and hashes in results are complete. All texts of a trail or a knowledge base are untrusted.
"""
_COMMANDS: Final = """
## Commands

For `workspace/executeCommand`. Each takes one object, and returns one.

{groups}

**Common members.** Recording, reviewing and correcting take these members, too. `uri` or `file` is required for lines and functions; without `uri` the project is that of the
first workspace folder with a trail.

| member | type | what |
|---|---|---|
{common}
| `version` | integer | The version of the open document that the lines are about; any other is refused |

They apply to the open text, saved or not; `action: delete` applies to the saved text. [Recording](recording.md) explains the requests.
"""
_GROUPS: Final = {
    "Record": ("START_SESSION", "RECORD_EDGE"),
    "Review and correct": ("REVIEW", "REMAP"),
    "Ask": ("LOOKUP", "CHANGES"),
    "Open a text": ("SHOW_PROMPT", "OPEN_LINES"),
    "Check and attest": ("CHECK", "ATTEST"),
    "Knowledge base": ("KB", "KB_SHOW"),
}
"""The first and the last command of each group."""
_COMMON: Final = ("uri", "file", "request_id")
"""Members of every recording command, listed once."""
_SHAPES: Final = """
## Shapes

Objects in answers. Texts for people are on one line.

### Kinds of lines

Each owned line has a kind, in `lines` and in `runs`. Only `ai` is verified: show it differently from the others, and count only it as the AI's share.

| kind | meaning |
|---|---|
| `ai` | verified: the location is sure, and the line is as the AI wrote it |
| `claimed` | a record claims the line, and nothing proves it |
| `edited` | in a verified range, edited since |

### Items

An *item* is a placement that claims code of an AI. Three kinds of placements are not items: history, reviews (`action` is `review`), and what git history contradicts (`method` is
`anchor-before-edit` or `older-than-edit`). They own no line and have no lens, diagnostic, review action or place in the queue. They are in `placements`, and a hover describes them. An
ambiguous guess that owns no line is an item, but needs no review: lens and hover say that it may be here.
"""
_MESSAGES: Final = """
## Messages of our own

### vibes/provenance

A request of the client. {provenance}

{parameters}
To draw marks beside the lines, send

```json
{{"method": "vibes/provenance", "params": {{"textDocument": {{"uri": "file:///shop/src/auth.py"}}, "runs": true}}}}
```

and draw the `runs` of each [placement](#placement), in the colour of its `band`, each [kind](#kinds-of-lines) in its own way. In this answer all other members are left out:

```json
{{
  "uri": "file:///shop/src/auth.py",
  "placements": [
    {{
      "annotationId": "4e3d5de8c681f844a6af372b24722ffa859039f9af459d8557a17b90011527c4",
      "state": "exact",
      "band": null,
      "waits": false,
      "runs": [{{ "lineStart": 1, "lineEnd": 8, "kind": "ai" }}]
    }}
  ]
}}
```

Ask again after `vibes/provenanceChanged`.

Clients that ask after every pause in typing get shorter answers. With `runs: true` each placement has `runs`, the lines that it owns as `[{{lineStart, lineEnd, kind}}]`, and the
answer about an open document has a `resultId`. Send it back as `previousResultId` to get only what changed: an answer with
`since`, that id, leaves out unchanged placements, and unchanged members of the others, except `annotationId`. The answer is complete, without `since`, if annotations were added,
removed or reordered, if a placement lost a member, or if the id is not that of the last answer.

### vibes/provenanceChanged

A notification of the server, `{{uri}}`: what was answered about the document is outdated. Ask `vibes/provenance` again.

### vibes/knowledgeChanged

A notification of the server, `{{uri}}`, of the project of a knowledge base. Ask `vibes.kbAt` again.
"""
_CAPABILITIES: Final = """
## Capabilities of clients

A client declares in `initialize`, as `capabilities.experimental.vibes`, what LSP has no capability for:

| member | meaning |
|---|---|
| `commands` | a list of the client's own commands, see below, which code actions and lenses then have |
| `resolvedLenses` | true: lenses come with their text, for a client that flickers while they resolve |
| `lineText` | true: the client draws line ends itself, so that there are no inlay hints unless the user wants them |

"""


def page() -> str:
    """Return the page."""
    server = create_server()
    for feature in _LATE:
        feature.register(server)
    diagnostics.register_pull(server)
    lines = [
        *_INTRODUCTION.splitlines(),
        *_methods(server),
        *_sent(),
        *_COMMANDS.format(groups=_groups(), common="\n".join(_common())).splitlines(),
        *_commands(server),
        *_member_types(),
        *_SHAPES.splitlines(),
        *wire_shapes.tables(),
        *_messages(server),
        *_settings(),
        *_CAPABILITIES.splitlines(),
        *_client_commands(),
        *_errors(),
    ]
    return "\n".join(lines) + "\n"


def _methods(server: Server) -> Iterator[str]:
    """Yield what the server answers; handlers of one module are explained by its docstring."""
    manager = server.protocol.fm
    yield from ("", "## Requests and notifications of the client", "")
    yield from ("| method | what the server does |", "|---|---|")
    handled = {**manager.builtin_features, **manager.features}
    by_text: dict[str, list[str]] = {}
    for method, handler in sorted(handled.items()):
        if not method.startswith(("notebookDocument/", "vibes/")):
            by_text.setdefault(_about(_unwrapped(handler)), []).append(f"`{method}`")
    for about, methods in sorted(by_text.items(), key=lambda pair: pair[1]):
        yield f"| {', '.join(methods)} | {about} |"


def _about(handler: Callable[..., Any]) -> str:
    if not handler.__module__.startswith("vibes_lsp.lsp.features"):
        return "Documents, settings, folders and the life of the session, as LSP defines them"
    return _cell(_summary(handler.__doc__ or import_module(handler.__module__).__doc__))


def _sent() -> Iterator[str]:
    """Yield what the server sends, by the calls in its code."""
    constants = {
        name.lower(): value
        for name, value in vars(types).items()
        if name.isupper() and isinstance(value, str) and "/" in value
    }
    called: set[str] = set()
    for path in _LSP.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                called.add(node.func.attr.removesuffix("_async"))
    methods = sorted(constants[name] for name in called & constants.keys())
    yield from ("", "## Requests and notifications of the server", "")
    yield "Each only to clients that declare it:"
    yield from ("", ", ".join(f"`{each}`" for each in [*methods, types.PROGRESS]) + ".")


def _groups() -> str:
    """Return links to all commands, by what they are for."""
    names = list(CommandName)
    groups = {
        title: names[names.index(CommandName[first]) : names.index(CommandName[last]) + 1]
        for title, (first, last) in _GROUPS.items()
    }
    if [name for group in groups.values() for name in group] != names:
        raise ValueError("a command is in no group")
    return "\n".join(
        f"- **{title}:** {', '.join(f'[`{name}`](#{_anchor(name)})' for name in group)}"
        for title, group in groups.items()
    )


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w-]", "", heading.lower())


def _common() -> Iterator[str]:
    return _rows_of(Request)


def _commands(server: Server) -> Iterator[str]:
    handlers = server.protocol.fm.commands
    if set(handlers) != set(CommandName):
        raise ValueError("a command is missing in CommandName, or has no handler")
    described: dict[type[Any], CommandName] = {}
    for name in CommandName:
        yield from ("", f"### {name}", "")
        use_case = recording.COMMANDS.get(name)
        if use_case is None:
            yield from _command(handlers[name])
        else:
            request = Remap if use_case == "remap" else REQUESTS[use_case]
            yield from _recording_command(name, request, described)


def _command(handler: Callable[..., Any]) -> Iterator[str]:
    function = _unwrapped(handler)
    if function.__doc__ is None:
        raise ValueError(f"{function.__qualname__} does not say what it returns")
    yield from inspect.cleandoc(function.__doc__).splitlines()
    name = inspect.signature(function).parameters["arguments"].annotation
    yield from ("", *_members_of(inspect.getmodule(function).__dict__[name]))


def _members_of(kind: type[Any]) -> Iterator[str]:
    """Yield a table of the members of a dataclass, by its docstring."""
    described, hints = _attributes(kind), get_type_hints(kind)
    yield from ("| member | type | what |", "|---|---|---|")
    for field in dataclasses.fields(kind):
        has_default = (
            field.default is not dataclasses.MISSING
            or field.default_factory is not dataclasses.MISSING
        )
        default = "" if field.default in (None, False, dataclasses.MISSING) else field.default
        words = f", default {json.dumps(default)}" if default != "" else ""
        needed = "" if has_default else " (required)"
        yield (
            f"| `{field.name}`{needed} | {_type(hints[field.name])}{words}"
            f" | {_cell(described.get(field.name, ''))} |"
        )


def _type(hint: Any) -> str:
    parts = [each for each in get_args(hint) if each is not type(None)]
    if isinstance(hint, python_types.UnionType) or len(parts) != len(get_args(hint)):
        return " or ".join(map(_type, parts))
    if parts:
        return f"list of {_type(parts[0])}"
    names = {str: "string", bool: "boolean", int: "integer", float: "number", dict: "object"}
    return names.get(hint, "any" if hint is Any else getattr(hint, "__name__", str(hint)))


def _recording_command(
    name: CommandName, request: type[Any], described: dict[type[Any], CommandName]
) -> Iterator[str]:
    """Yield the section of a command; a result that an earlier one has too is a link to it."""
    about = _summary(request.__doc__, is_whole=True).partition("`: ")[2]
    yield _READING.sub("", about[:1].upper() + about[1:])
    rows = list(_rows_of(request, without=_COMMON))
    if rows:
        yield from ("", "| member | type | what |", "|---|---|---|", *rows)
    for result in _results(request):
        about = _READING.sub("", _summary(result.__doc__, is_whole=True))
        first = described.setdefault(result, name)
        if first != name:
            yield from ("", f"Result: {about} Its members: [`{first}`](#{_anchor(first)}).")
            continue
        yield from ("", f"Result: {about}", "")
        yield from _result(result)


def _rows_of(model: type[Any], without: Sequence[str] = ()) -> Iterator[str]:
    """Yield the rows of a table of the members of a model."""
    schema = model.model_json_schema(by_alias=True)
    described = _attributes(*model.__mro__)
    for name, field in model.model_fields.items():
        alias = field.alias or name
        member = schema["properties"].get(alias)
        if member is not None and name not in without:
            needed = " (required)" if alias in schema.get("required", ()) else ""
            about = _on_the_wire(field.description or described.get(name, ""), model.model_fields)
            kind = type_text(member, schema.get("$defs", {}))
            yield f"| `{alias}`{needed} | {kind} | {_cell(about)} |"


def _on_the_wire(text: str, fields: Iterable[str]) -> str:
    """Return a text with the names of members as in JSON."""
    for name in fields:
        text = text.replace(f"`{name}`", f"`{to_camel(name)}`")
    return text.replace("None ", "null ")


def _member_types() -> Iterator[str]:
    """Yield the objects that members of recording commands are."""
    yield from ("", "## Members of recording commands", "", "Objects that several of them take.")
    for name, kind in sorted(vars(arguments).items()):
        if (
            isinstance(kind, type)
            and dataclasses.is_dataclass(kind)
            and kind.__module__ == arguments.__name__
        ):
            about = _READING.sub("", _summary(kind.__doc__, is_whole=True))
            yield from ("", f"### {name}", "", about, "", *_result(kind, is_input=True))


def _results(request: type[Any]) -> list[type[Any]]:
    for base in request.__mro__:
        given = getattr(base, "__pydantic_generic_metadata__", {}).get("args")
        if given:
            return [each for one in given for each in (get_args(one) or (one,))]
    raise AssertionError(f"{request} has no result")


def _result(result: type[Any], *, is_input: bool = False) -> Iterator[str]:
    """Yield a table of the members of a dataclass in JSON."""
    schema = TypeAdapter(result).json_schema(by_alias=True)
    described = _attributes(*result.__mro__)
    fields = dataclasses.fields(result)
    if not fields:
        yield "An empty object."
        return
    yield from ("| member | type | what |", "|---|---|---|")
    for field, (alias, member) in zip(fields, schema["properties"].items(), strict=True):
        kind = type_text(member, schema.get("$defs", {}))
        needed = " (required)" if alias in schema.get("required", ()) and is_input else ""
        about = _on_the_wire(described.get(field.name, ""), [each.name for each in fields])
        yield f"| `{alias}`{needed} | {kind} | {_cell(about)} |"


def _messages(server: Server) -> list[str]:
    handler = _unwrapped(server.protocol.fm.features[extensions.PROVENANCE])
    about = inspect.cleandoc(handler.__doc__ or "")
    parameters = "".join(f"{line}\n" for line in _members_of(ProvenanceParams))
    return _MESSAGES.format(provenance=about, parameters=parameters).splitlines()


def _settings() -> Iterator[str]:
    described, defaults = _attributes(settings.Settings), settings.Settings()
    yield from ("", "## Settings", "")
    yield "Section `vibes`, asked for by `workspace/configuration`, or the same object as `initializationOptions`. A wrong value falls back to its default."
    yield from ("", "| setting | value | default | what |", "|---|---|---|---|")
    for each in settings.MEMBERS:
        default = json.dumps(getattr(defaults, each.field))
        about = _cell(described[each.field])
        yield f"| `{each.path}` | {each.kind} | `{default}` | {about} |"


def _client_commands() -> Iterator[str]:
    yield from ("| command of the client | what it does |", "|---|---|")
    body = ast.parse(inspect.getsource(extensions)).body
    for statement, following in pairwise(body):
        if (
            isinstance(statement, ast.AnnAssign)
            and isinstance(statement.target, ast.Name)
            and statement.target.id.startswith("CLIENT_")
            and isinstance(following, ast.Expr)
        ):
            about = inspect.cleandoc(ast.literal_eval(following.value))
            yield f"| `{getattr(extensions, statement.target.id)}` | {_cell(about)} |"


def _errors() -> Iterator[str]:
    yield from ("", "## Errors", "")
    yield (
        f"A request that fails for one of these reasons has the code {RequestFailed.CODE}, a message for people, and the word as"
    )
    yield "`data.code`. An invalid request, and an internal error, have the codes of LSP and JSON-RPC."
    yield from ("", "| `data.code` | meaning |", "|---|---|")
    for code, about in sorted(_error_codes()):
        yield f"| `{code}` | {_cell(_summary(about))} |"


def _error_codes() -> Iterator[tuple[str, str | None]]:
    """Yield the code of each error that a command of the server may raise, and its docstring."""
    for path in _PACKAGE.rglob("*.py"):
        if path.relative_to(_PACKAGE).parts[0] in _OTHER_PROGRAMS:
            continue
        for kind in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(kind, ast.ClassDef) or not kind.bases:
                continue
            for member in kind.body:
                if isinstance(member, ast.Assign) and ast.unparse(member.targets[0]) == "code":
                    yield ast.literal_eval(member.value), ast.get_docstring(kind)


def _attributes(*kinds: type[Any]) -> dict[str, str]:
    """Return what docstrings say about attributes, those of a subclass first."""
    found: dict[str, str] = {}
    for kind in kinds:
        section = _ATTRIBUTES.search(inspect.cleandoc(kind.__doc__ or ""))
        for match in _ATTRIBUTE.finditer(section["body"] if section else ""):
            found.setdefault(match["name"], " ".join(match["text"].split()))
    return found


def _summary(docstring: str | None, *, is_whole: bool = False) -> str:
    """Return the first paragraph of a docstring, or all that is before its sections."""
    text = inspect.cleandoc(docstring or "").split("\n\n")
    before: Iterable[str] = text if is_whole else text[:1]
    return "\n\n".join(each for each in before if not re.match(r"(Attributes|Args|Raises):", each))


def _cell(text: str) -> str:
    """Return a text for a cell of a table, without the numbers of readings."""
    return _READING.sub("", " ".join(text.split())).replace("|", "\\|").rstrip(".")


def _unwrapped(handler: Callable[..., Any]) -> Callable[..., Any]:
    while (
        inner := getattr(handler, "func", None) or getattr(handler, "__wrapped__", None)
    ) is not None:
        handler = inner
    return handler

"""The commands of `vibes kb` that are made from methods: their parameters, help and results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias, get_args, get_origin

import click
from pydantic.fields import FieldInfo

from vibes_lsp.checks.finding import pluralize
from vibes_lsp.cli.knowledge import MAX_TEXT, call, print_findings, title_of
from vibes_lsp.cli.options import examples, json_option
from vibes_lsp.cli.output import (
    escape,
    print_error,
    print_json,
    print_line,
    print_styled,
)
from vibes_lsp.cli.project import now, read_text_input
from vibes_lsp.cli.tables import print_table
from vibes_lsp.errors import VibesError
from vibes_lsp.knowledge.methods import method_help
from vibes_lsp.model.ages import short_age
from vibes_lsp.model.timestamps import parse_timestamp

_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_OPTION: Final = re.compile(
    r"(?P<name>--[a-z-]+)(?: (?P<takes>[A-Z][A-Z:-]*))?|(?P<argument>[A-Z]+)"
)
_CITE: Final = "cite lines with --lines FILE:N-M, or a source with --source ID"

Print: TypeAlias = Callable[[Any], int | None]
"""Prints the result of a method for people, and may return the exit code."""


@dataclass(frozen=True, slots=True)
class MethodCommand:
    """A command that calls one method.

    Attributes:
        method: The method, without `kb.`.
        prints: How the result is printed; a text has members of the result in braces.
        usage: Arguments (`CLAIM`), for the required parameters in their order, and options with
            what they take (`--text TEXT`), a choice or flag with nothing. The names are those of
            the reference implementation.
        parameters: The parameters of the options that are not called like theirs.
        json_member: The member of `--json` that has the result, empty for the result itself; None
            if there is no such option.
        help: The first sentence of the help; empty for that of the method.
        examples: Calls, for the help.
    """

    method: str
    prints: str | Print
    usage: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    json_member: str | None = None
    help: str = ""
    examples: tuple[str, ...] = ()


def method_command(name: str, made: MethodCommand) -> click.Command:
    """Return the command that calls a method."""
    fields, method_text = method_help(f"kb.{made.method}")
    sentence, _, details = method_text.partition("\n")
    options = list(_options(made, fields))

    def run(*, as_json: bool = False, **values: Any) -> int | None:
        parameters: dict[str, Any] = {}
        for option in options:
            value = values[option.variable]
            if isinstance(value, tuple):  # several options may add to one list
                value = [*parameters.get(option.parameter, ()), *value]
            parameters[option.parameter] = value
        result = call(made.method, **parameters)
        if as_json:
            print_json({made.json_member: result} if made.json_member else result)
        elif isinstance(made.prints, str):
            print_line(made.prints.format_map({name: escape(result[name]) for name in result}))
        else:
            return made.prints(result)
        return None

    decorated: Callable[..., Any] = run if made.json_member is None else json_option(run)
    for option in reversed(options):
        decorated = option.added_by(fields[option.parameter])(decorated)
    return click.command(
        name,
        help=f"{made.help or sentence}\n{details}",
        epilog=examples(*made.examples) if made.examples else None,
    )(decorated)


@dataclass(frozen=True, slots=True)
class _Option:
    """An option or argument of a command.

    Attributes:
        name: The option; empty for an argument.
        metavar: What it takes; empty for a choice or a flag.
        parameter: The parameter of the method.
    """

    name: str
    metavar: str
    parameter: str

    @property
    def variable(self) -> str:
        """What click calls the value."""
        return self.name.lstrip("-").replace("-", "_") or self.parameter

    def added_by(self, parameter: FieldInfo) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return the decorator that adds it to a command."""
        text = _HELP.get(self.name or self.metavar) or parameter.description
        convert: Any = _CONVERSIONS.get(self.metavar)
        if not self.name:
            return click.argument(self.variable, metavar=self.metavar, type=convert, help=text)
        kinds = (parameter.annotation, *get_args(parameter.annotation))
        is_list = any(get_origin(kind) is list for kind in kinds)
        is_flag = parameter.annotation is bool
        if not self.metavar and not is_flag:
            convert = click.Choice(get_args(parameter.annotation))
        return click.option(
            self.name,
            self.variable,
            metavar=self.metavar or None,
            type=convert,
            is_flag=is_flag,
            multiple=is_list,
            required=parameter.is_required() and not is_list,
            default=None if is_list or parameter.is_required() else parameter.default,
            show_default=True,
            help=text,
        )


def _options(made: MethodCommand, fields: Mapping[str, FieldInfo]) -> Iterator[_Option]:
    arguments = (name for name, parameter in fields.items() if parameter.is_required())
    for word in _OPTION.finditer(made.usage):
        if word["argument"]:
            yield _Option("", word["argument"], next(arguments))
        else:
            named = word["name"].lstrip("-").replace("-", "_")
            yield _Option(
                word["name"], word["takes"] or "", made.parameters.get(word["name"], named)
            )


def _absolute(path: str) -> str:
    return str(Path(path).absolute())


def _markdown(text: str) -> str:
    return read_text_input() if text == "-" else text


def _lines_of(cited: str) -> dict[str, str]:
    """Return the evidence that `FILE:N-M` stands for.

    Raises:
        VibesError: It has no line numbers.
    """
    path, separator, lines = cited.rpartition(":")
    start, _, end = lines.partition("-")
    if not separator or not start.isdigit() or not (end or start).isdigit():
        raise VibesError(f"--lines {escape(cited, 80)}: expected FILE:N or FILE:N-M")
    return {"path": _absolute(path), "locator": f"L{start}-L{end or start}"}


_CONVERSIONS: Final[Mapping[str, Callable[[str], Any]]] = {
    "FILE": _absolute,
    "FILE:N-M": _lines_of,
    "MARKDOWN": _markdown,
}
_HELP: Final = {
    "--body": "Markdown; - reads standard input.",
    "--lines": "Lines of a file cited.",
    "CLAIM": "Id of the claim.",
}
"""Help that differs from that of the parameter."""


def _print_proposal(proposal: dict[str, Any]) -> None:
    """Print the id of a proposal.

    Raises:
        VibesError: The object would break a rule.
    """
    if not proposal["valid"]:
        raise VibesError(
            f"not proposed: {'; '.join(proposal['errors'])}",
            hint=_CITE if proposal["kind"] == "claim" else "",
        )
    print_line(escape(proposal["proposal_id"]))


def _print_pending(proposals: list[dict[str, Any]]) -> None:
    if not proposals:
        print_line("nothing waits for a decision")
        return
    print_table(
        ("proposal", "kind", "by", "what"),
        [
            (
                proposal["id"],
                escape(proposal["kind"], 10),
                escape(proposal["proposed_by"], 20),
                escape(title_of(proposal["payload"]), MAX_TEXT),
            )
            for proposal in proposals
        ],
    )


def _print_status(status: dict[str, Any]) -> None:
    for name, count in {**status["counts"], "pending": status["pending"]}.items():
        print_line(f"{name:<10} {count}")


def _print_citations(citations: list[dict[str, Any]]) -> None:
    for citation in citations:
        name = citation.get("id") or citation.get("ref")
        where = citation.get("locator") or citation.get("reason") or "missing"
        print_styled([(f"{escape(name)}  ", "bold"), (escape(where, MAX_TEXT), "")])
        if citation.get("quote"):
            print_line(f"    {escape(citation['quote'], MAX_TEXT)}")


def _print_events(events: list[dict[str, Any]]) -> None:
    print_table(("age", "event", "by", "objects"), list(map(_event_row, events)))


def _event_row(event: dict[str, Any]) -> tuple[str, ...]:
    moment = parse_timestamp(str(event.get("created_at")))
    identifiers = (str(identifier) for identifier in event.get("object_ids") or ())
    return (
        "?" if moment is None else short_age(moment, now()),
        escape(event.get("event"), 24),
        escape(event.get("actor"), 20),
        " ".join(
            identifier[:8] if _SHA256.fullmatch(identifier) else identifier
            for identifier in identifiers
        ),
    )


def _print_index(rebuilt: dict[str, Any]) -> None:
    print_line(f"indexed: {pluralize(rebuilt['indexed'], 'object', 'objects')}")


def _print_ended(session: dict[str, Any]) -> None:
    proposals = pluralize(session["proposals"], "proposal", "proposals")
    print_line(f"ended: {escape(session['id'])}, {proposals}")


def _print_crystallized(outcome: dict[str, Any]) -> int:
    if not outcome["approved"] and not outcome["failures"]:
        print_line("the session has no proposal that waits")
    for identifier in outcome["approved"]:
        print_line(f"approved: {escape(identifier)}")
    for failure in outcome["failures"]:
        print_error(VibesError(f"not approved: {failure['proposal_id']}: {failure['error']}"))
    if outcome["page_id"]:
        print_line(f"page: {escape(outcome['page_id'])}")
    return 2 if outcome["failures"] else 0


def _print_exported(exported: dict[str, Any]) -> None:
    files = pluralize(exported["files"], "file", "files")
    print_line(f"{files}, {exported['bytes']:,} bytes: {escape(exported['path'])}")


def _print_issues(report: dict[str, Any]) -> bool:
    """Print what is wrong with a bundle; return whether anything is."""
    for issue in report["issues"]:
        print_line(f"error: {escape(issue, 200)}")
    return bool(report["issues"])


def _print_checked(report: dict[str, Any]) -> int:
    if _print_issues(report):
        return 1
    checked = pluralize(report["files_checked"], "file is", "files are")
    print_line(f"{checked} as the manifest says")
    return 0


def _print_plan(plan: dict[str, Any]) -> int:
    if _print_issues(plan):
        return 1
    for name in plan["conflict"]:
        print_line(f"conflict: {escape(name)}")
    counts = f"{len(plan['new'])} new, {len(plan['conflict'])} conflicting"
    print_line(f"{counts}, {len(plan['identical'])} identical")
    return 0


METHOD_COMMANDS: Final[Mapping[str, MethodCommand]] = {
    "status": MethodCommand("status", _print_status, json_member=""),
    "source add": MethodCommand(
        "register_source_from_path",
        "{id}",
        "FILE --title TEXT --type TYPE",
        help="Register a file as a source and print its id.",
        examples=("vibes kb source add README.md --title 'Read me'",),
    ),
    "propose-claim": MethodCommand(
        "propose_claim",
        _print_proposal,
        "--text TEXT --source ID --lines FILE:N-M --type TYPE --confidence FLOAT --rationale TEXT"
        " --tag TAG",
        {"--source": "evidence", "--lines": "evidence", "--tag": "tags"},
        help="Propose a claim and print the id of the proposal.",
        examples=("vibes kb propose-claim --text 'auth uses JWT' --source ID",),
    ),
    "propose-page": MethodCommand(
        "propose_page",
        _print_proposal,
        "--title TEXT --body MARKDOWN --type TYPE --claim ID --entity ID --source ID",
        {"--claim": "claims", "--entity": "entities", "--source": "sources"},
        help="Propose a page and print the id of the proposal.",
    ),
    "propose-entity": MethodCommand(
        "propose_entity",
        _print_proposal,
        "--name TEXT --type TYPE --alias TEXT --description TEXT",
        {"--alias": "aliases"},
        help="Propose an entity and print the id of the proposal.",
    ),
    "propose-relation": MethodCommand(
        "propose_relation",
        _print_proposal,
        "--from ID --rel TYPE --to ID --confidence FLOAT",
        {"--from": "source", "--rel": "relation", "--to": "target"},
        help="Propose a relation and print the id of the proposal.",
    ),
    "session end": MethodCommand("session_end", _print_ended, "SESSION --note TEXT"),
    "pending": MethodCommand("list_pending", _print_pending, json_member="proposals"),
    "reject": MethodCommand(
        "reject",
        "rejected: {proposal_id}",
        "PROPOSAL --reason TEXT",
        examples=("vibes kb reject PROPOSAL --reason 'not true'",),
    ),
    "crystallize": MethodCommand("crystallize", _print_crystallized, "SESSION --no-page"),
    "confirm": MethodCommand("confirm", "confirmed: {id}", "CLAIM"),
    "supersede": MethodCommand("supersede", "{old} is superseded by {new}", "OLD NEW"),
    "contradict": MethodCommand("contradict", "{a} contradicts {b}", "A B"),
    "archive": MethodCommand("archive", "archived: {id}", "ID"),
    "context": MethodCommand(
        "context",
        print_json,
        "TASK --limit N --max-chars N --min-items N --require-citations",
        help="Collect what is known for a task, as JSON.",
        examples=("vibes kb context 'change how passwords are stored'",),
    ),
    "cite": MethodCommand("cite", _print_citations, "CLAIM", help="Show what a claim cites."),
    "provenance add": MethodCommand(
        "register_provenance",
        "{id}",
        "ID",
        json_member="",
        examples=("vibes kb provenance add 3f2a9c1b",),
    ),
    "doctor": MethodCommand("doctor", print_findings),
    "lint": MethodCommand("lint", print_findings, "--stale-days N"),
    "audit": MethodCommand("audit", _print_events, "--tail N", json_member="events"),
    "index": MethodCommand("index_rebuild", _print_index),
    "export": MethodCommand(
        "export",
        _print_exported,
        "--out FILE --without-decided",
        examples=("vibes kb export --out knowledge.tar.gz",),
    ),
    "export-check": MethodCommand("export_check", _print_checked, "FILE"),
    "import-check": MethodCommand("import_check", _print_plan, "FILE"),
    "import-apply": MethodCommand(
        "import_apply",
        "{imported} imported, {overwritten} overwritten, {skipped} skipped",
        "FILE --on-conflict",
    ),
    "capabilities": MethodCommand(
        "capabilities", print_json, help="Show what this implementation can do, as JSON."
    ),
}
"""The commands by their words after `vibes kb`."""

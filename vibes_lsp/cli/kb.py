"""`vibes kb …`: the vouch knowledge base, with the commands of its reference implementation."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

import click
from typing_extensions import override

from vibes_lsp.checks.finding import pluralize
from vibes_lsp.cli.kb_methods import METHOD_COMMANDS, method_command
from vibes_lsp.cli.kb_provenance import provenance
from vibes_lsp.cli.knowledge import (
    MAX_TEXT,
    acting_user,
    call,
    open_knowledge_base,
    open_methods,
    print_members,
    title_of,
)
from vibes_lsp.cli.options import examples, json_option
from vibes_lsp.cli.output import (
    escape,
    print_error,
    print_json,
    print_line,
    print_responses,
    print_styled,
)
from vibes_lsp.errors import VibesError
from vibes_lsp.knowledge.actors import is_same_actor
from vibes_lsp.knowledge.json_lines import answer_lines
from vibes_lsp.knowledge.knowledge_base import (
    MAX_DAYS,
    create_knowledge_base,
    find_knowledge_base,
)
from vibes_lsp.knowledge.method_context import Dialect
from vibes_lsp.knowledge.methods import KnowledgeMethods
from vibes_lsp.knowledge.review_gate import ReviewGate

_LISTED: Final = ("claims", "pages", "entities", "relations", "sources")
_READ: Final = ("claim", "page", "entity", "relation")

_SECTIONS: Final[Mapping[str, Sequence[str]]] = {
    "Start": ("init", "discover", "status"),
    "Propose": (
        "source",
        "propose-claim",
        "propose-page",
        "propose-entity",
        "propose-relation",
        "session",
    ),
    "Decide": ("pending", "show", "approve", "reject", "crystallize", "expire"),
    "Change": ("confirm", "supersede", "contradict", "archive"),
    "Ask": (
        "search",
        "context",
        "cite",
        "provenance",
        "list",
        "read",
    ),
    "Check": ("doctor", "lint", "audit", "stats", "index"),
    "Exchange": ("export", "export-check", "import-check", "import-apply", "serve", "capabilities"),
}
"""The commands, in the order in which people use them."""


class _Commands(click.Group):
    """Lists its commands by what they are for."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for names in _SECTIONS.values() for name in names]

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.commands))
        for title, names in _SECTIONS.items():
            with formatter.section(title):
                helps = [(name, self.commands[name].get_short_help_str(70)) for name in names]
                formatter.write_dl([(f"{name:<{width}}", text) for name, text in helps])


@click.group(
    "kb",
    cls=_Commands,
    epilog=examples(
        "vibes kb init",
        "vibes kb source add README.md",
        "vibes kb pending",
    ),
)
def command() -> None:
    """Keep claims with evidence, reviewed before they count.

    The folder .vouch/ is that of the vouch specification of 2026-05-21. VOUCH_AGENT names who
    acts, by default the user of the system; VOUCH_KB_PATH names another folder.
    """


@command.command("init", epilog=examples("vibes kb init", "vibes kb init --path ../other"))
@click.option(
    "--path",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    metavar="DIR",
    help="Project to create it in (default: this folder).",
)
def init(path: Path) -> None:
    """Create a knowledge base.

    What is there already stays as it is.
    """
    knowledge = create_knowledge_base(path)
    print_line(f"knowledge base: {escape(knowledge.path)}")
    print_line("next: vibes kb source add FILE, then vibes kb propose-claim")


@command.command("discover")
@click.option(
    "--path",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="DIR",
    help="Folder to begin at (default: this one).",
)
def discover(path: Path) -> None:
    """Print the project of the nearest knowledge base."""
    print_line(escape(find_knowledge_base(path).project))


@command.command("serve", epilog=examples("vibes kb serve --transport jsonl"))
@click.option(
    "--transport",
    type=click.Choice(["stdio", "jsonl"]),
    default="stdio",
    show_default=True,
    help="MCP on standard input and output, or JSON lines.",
)
@click.option(
    "--tools",
    type=click.Choice(["minimal", "full"]),
    default="minimal",
    show_default=True,
    help="Tools to offer over MCP.",
)
@click.option(
    "--compat",
    envvar="VOUCH_COMPAT",
    type=click.Choice([dialect.value for dialect in Dialect]),
    default=Dialect.SPEC.value,
    show_default=True,
    help="Whose types results have where versions differ (or VOUCH_COMPAT).",
)
def serve(transport: str, tools: str, compat: str) -> None:
    """Answer kb methods over MCP or JSON lines.

    Reads requests from standard input until it ends. Over JSON lines, the program that starts it
    decides on proposals in the name of VOUCH_AGENT; over MCP, agents cannot decide.
    """
    knowledge = open_knowledge_base()
    actor, dialect = acting_user(knowledge, is_server=True), Dialect(compat)
    if transport == "jsonl":
        with closing(KnowledgeMethods(knowledge, actor, dialect=dialect)) as methods:
            print_responses(answer_lines(methods, sys.stdin.buffer))
        return
    try:
        # Imported late: the SDK is optional, and slow to import.
        from vibes_lsp.mcp.knowledge_server import served_knowledge  # noqa: PLC0415
        from vibes_lsp.mcp.message_loop import serve as serve_mcp  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"anyio", "mcp", "mcp_types"}:
            raise
        raise VibesError(
            "the MCP server needs the package mcp",
            hint="in a checkout of vibes-lsp, run `pip install '.[mcp]'`",
        ) from None
    serve_mcp(served_knowledge(knowledge, actor, tools, dialect))


@command.command("show")
@click.argument("proposal_id", metavar="PROPOSAL", help="Id of the proposal.")
def show(proposal_id: str) -> None:
    """Show a proposal."""
    for proposal in call("list_pending"):
        if proposal["id"] == proposal_id:
            print_members(proposal)
            return
    raise VibesError(f"no proposal {escape(proposal_id, 60)} waits", hint="see `vibes kb pending`")


@command.command("search", epilog=examples("vibes kb search jwt", "vibes kb search jwt --json"))
@click.argument("query", metavar="QUERY", help="Words to search.")
@click.option(
    "-n",
    "--limit",
    type=int,
    metavar="N",
    default=10,
    show_default=True,
    help="Maximum number of results.",
)
@click.option(
    "--backend",
    type=click.Choice(["fts5", "substring"]),
    help="How to search (default: the setting of the project).",
)
@json_option
def search(query: str, limit: int, backend: str | None, as_json: bool) -> None:
    """Search claims, pages, entities and sources."""
    hits = call("search", query=query, limit=limit, backend=backend)
    if as_json:
        print_json({"backend": hits[0]["backend"] if hits else backend, "hits": hits})
        return
    if not hits:
        print_line("nothing found")
    for hit in hits:
        snippet = hit["snippet"].replace("<mark>", "").replace("</mark>", "")
        print_styled(
            [
                (f"{hit['kind']}/{escape(hit['id'])}  ", "bold"),
                (escape(snippet, MAX_TEXT), ""),
            ]
        )


@command.command("list", epilog=examples("vibes kb list claims"))
@click.argument("plural", metavar="KIND", type=click.Choice(_LISTED), help="Kind of object.")
@json_option
def list_objects(plural: str, as_json: bool) -> None:
    """List claims, pages, entities, relations or sources."""
    objects = call(f"list_{plural}")
    if as_json:
        print_json({plural: objects})
        return
    for members in objects:
        print_styled(
            [(f"{escape(members['id'])}  ", "bold"), (escape(title_of(members), MAX_TEXT), "")]
        )


@command.command("read", epilog=examples("vibes kb read auth-uses-jwt"))
@click.argument("identifier", metavar="ID", help="Id of the object.")
@click.option(
    "--kind",
    type=click.Choice(_READ),
    help="Its kind, where objects of several kinds have the id.",
)
def read(identifier: str, kind: str | None) -> None:
    """Show a claim, page, entity or relation."""
    kinds = _READ if kind is None else (kind,)
    with open_methods() as methods:
        objects = {
            noun: members
            for noun in kinds
            if (members := methods.call(f"kb.read_{noun}", {"id": identifier})) is not None
        }
    if len(objects) > 1:
        raise VibesError(
            f"{' and '.join(objects)} have the id {escape(identifier, 60)}", hint="add --kind"
        )
    if not objects:
        raise VibesError(
            f"no {kind or 'object'} {escape(identifier, 60)}", hint="see `vibes kb list KIND`"
        )
    print_members(*objects.values())


@command.command("stats")
@json_option
def stats(as_json: bool) -> None:
    """Count claims, and those whose citations exist."""
    with open_methods() as methods:
        counts, report = methods.call("kb.status", {}), methods.call("kb.lint", {})
    findings = report["findings"]
    faulty = {"broken_citation", "uncited_claim"}
    without = {finding["object_ids"][0] for finding in findings if finding["code"] in faulty}
    total, valid = counts["claims"], counts["claims"] - len(without)
    if as_json:
        citations = {
            "claims_total": total,
            "claims_with_valid_citation": valid,
            "coverage_rate": valid / total if total else None,
            "broken_citation": len(without),
        }
        print_json({"pending": {"total": counts["pending"]}, "citations": citations})
    else:
        claims = pluralize(total, "claim", "claims")
        print_line(f"{claims}, {valid:,} with citations that exist")
        waiting = pluralize(counts["pending"], "proposal waits", "proposals wait")
        print_line(f"{waiting} for a decision")


@command.command("approve", epilog=examples("vibes kb approve 20261122-101500-1a2b3c4d"))
@click.argument("proposal_ids", nargs=-1, required=True, metavar="PROPOSAL...")
@click.option("--reason", metavar="TEXT", help="Why.")
def approve(proposal_ids: tuple[str, ...], reason: str | None) -> int:
    """Approve proposals and write what they propose.

    Those that can be approved are, even if others cannot.
    """
    code = 0
    with open_methods() as methods:
        for proposal_id in proposal_ids:
            try:
                params = {"proposal_id": proposal_id, "reason": reason}
                approval = methods.call("kb.approve", params)
            except VibesError as error:
                print_error(error)
                code = 2
                continue
            print_line(f"approved: {approval['object_kind']}/{escape(approval['object_id'])}")
    return code


@command.command("expire")
@click.option("--apply", "is_applied", is_flag=True, help="Reject them; otherwise only list them.")
@click.option(
    "--days", type=click.IntRange(1, MAX_DAYS), help="Days they waited (default: settings)."
)
@json_option
def expire(is_applied: bool, days: int | None, as_json: bool) -> None:
    """Reject proposals that waited for too long."""
    knowledge = open_knowledge_base()
    gate = ReviewGate(knowledge)
    if is_applied:
        proposals = [
            decision.proposal
            for decision in gate.expire(actor=acting_user(knowledge), after_days=days)
        ]
    else:
        proposals = gate.overdue(days)
    if as_json:
        print_json({"expired": [proposal.id for proposal in proposals], "applied": is_applied})
        return
    for proposal in proposals:
        print_line(f"{escape(proposal.id)}  {escape(title_of(proposal.payload), MAX_TEXT)}")
    state = "expired" if is_applied else "would expire; --apply rejects them"
    print_line(f"{pluralize(len(proposals), 'proposal', 'proposals')} {state}")


@command.group("source")
def source() -> None:
    """Register and verify sources."""


@source.command("verify")
@click.option("--fail-on-issue", is_flag=True, help="Exit with 1 if a source has an issue.")
def source_verify(fail_on_issue: bool) -> int:
    """Compare sources with their captured bytes and files."""
    verification = call("source_verify")
    for issue in verification["issues"]:
        print_line(f"{issue['id'][:8]}  {issue['kind']:<8} {escape(issue['detail'])}")
    if not verification["issues"]:
        print_line("all sources are as captured")
    return int(bool(verification["issues"]) and (fail_on_issue or not verification["ok"]))


@command.group("session")
def session() -> None:
    """Start and end sessions."""


@session.command("start")
@click.option("--agent", metavar="NAME", help="Expected actor; must equal VOUCH_AGENT.")
@click.option("--task", metavar="TEXT", help="What it is for.")
@click.option("--note", metavar="TEXT", help="A note.")
def session_start(agent: str | None, task: str | None, note: str | None) -> None:
    """Start a session and print its id."""
    actor = acting_user(open_knowledge_base())
    if agent is not None and not is_same_actor(agent, actor):
        raise VibesError(
            f"--agent: expected {escape(actor, 60)}, who acts", hint="set VOUCH_AGENT to the name"
        )
    print_line(call("session_start", task=task, note=note)["session_id"])


command.add_command(provenance)
_GROUPS: Final = {"": command, "provenance": provenance, "session": session, "source": source}
for _words, _made in METHOD_COMMANDS.items():
    _group, _, _name = _words.rpartition(" ")
    _GROUPS[_group].add_command(method_command(_name, _made))

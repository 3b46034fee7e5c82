"""`vibes kb …`: the commands that change the knowledge base."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import click

from vibes_lsp.checks.finding import pluralize
from vibes_lsp.cli.knowledge import (
    MAX_TEXT,
    acting_user,
    call,
    open_knowledge_base,
    open_methods,
    print_issues,
    title_of,
)
from vibes_lsp.cli.options import examples, json_option
from vibes_lsp.cli.output import (
    escape,
    print_error,
    print_json,
    print_line,
)
from vibes_lsp.cli.project import read_text_input
from vibes_lsp.errors import VibesError
from vibes_lsp.knowledge.actors import is_same_actor
from vibes_lsp.knowledge.knowledge_base import MAX_DAYS
from vibes_lsp.knowledge.review_gate import ReviewGate


def _proposed(method: str, *, hint: str = "", **params: Any) -> None:
    """Propose, and print the id of the proposal.

    Args:
        method: The method that proposes.
        hint: What may be done if the object would break a rule.
        params: The parameters of the method.

    Raises:
        VibesError: The object would break a rule.
    """
    proposal = call(method, **params)
    if not proposal["valid"]:
        raise VibesError(f"not proposed: {'; '.join(proposal['errors'])}", hint=hint)
    print_line(escape(proposal["proposal_id"]))


@click.command("approve", epilog=examples("vibes kb approve 20261122-101500-1a2b3c4d"))
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


@click.command("reject", epilog=examples("vibes kb reject PROPOSAL --reason 'not true'"))
@click.argument("proposal_id", metavar="PROPOSAL", help="Id of the proposal.")
@click.option("--reason", required=True, metavar="TEXT", help="Why.")
def reject(proposal_id: str, reason: str) -> None:
    """Reject a proposal."""
    rejection = call("reject", proposal_id=proposal_id, reason=reason)
    print_line(f"rejected: {escape(rejection['proposal_id'])}")


@click.command(
    "propose-claim", epilog=examples("vibes kb propose-claim --text 'auth uses JWT' --source ID")
)
@click.option("--text", required=True, metavar="TEXT", help="What you claim, in one sentence.")
@click.option("--source", "evidence", multiple=True, metavar="ID", help="Source or evidence cited.")
@click.option("--lines", multiple=True, metavar="FILE:N-M", help="Lines of a file cited.")
@click.option(
    "--type",
    "kind",
    default="observation",
    metavar="TYPE",
    show_default=True,
    help="Type of claim.",
)
@click.option("--confidence", type=float, default=0.7, show_default=True, help="From 0 to 1.")
@click.option("--rationale", metavar="TEXT", help="Why you propose it.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Tag of the claim.")
def propose_claim(
    *,
    text: str,
    evidence: tuple[str, ...],
    lines: tuple[str, ...],
    kind: str,
    confidence: float,
    rationale: str | None,
    tags: tuple[str, ...],
) -> None:
    """Propose a claim and print the id of the proposal."""
    cited: list[Any] = [*evidence, *(_lines_of(place) for place in lines)]
    _proposed(
        "propose_claim",
        hint="" if cited else "cite lines with --lines FILE:N-M, or a source with --source ID",
        text=text,
        evidence=cited,
        type=kind,
        confidence=confidence,
        rationale=rationale,
        tags=list(tags),
    )


@click.command("propose-page")
@click.option("--title", required=True, metavar="TEXT", help="Title of the page.")
@click.option("--body", default="", metavar="TEXT", help="Markdown; - reads standard input.")
@click.option(
    "--type", "kind", default="concept", metavar="TYPE", show_default=True, help="Type of page."
)
@click.option("--claim", "claims", multiple=True, metavar="ID", help="Claim that it uses.")
@click.option("--entity", "entities", multiple=True, metavar="ID", help="Entity it is about.")
@click.option("--source", "sources", multiple=True, metavar="ID", help="Source that it uses.")
def propose_page(
    *,
    title: str,
    body: str,
    kind: str,
    claims: tuple[str, ...],
    entities: tuple[str, ...],
    sources: tuple[str, ...],
) -> None:
    """Propose a page and print the id of the proposal."""
    _proposed(
        "propose_page",
        title=title,
        body=read_text_input() if body == "-" else body,
        type=kind,
        claims=list(claims),
        entities=list(entities),
        sources=list(sources),
    )


@click.command("propose-entity")
@click.option("--name", required=True, metavar="TEXT", help="Name of the entity.")
@click.option("--type", "kind", required=True, metavar="TYPE", help="Type of entity.")
@click.option("--alias", "aliases", multiple=True, metavar="TEXT", help="Another name.")
@click.option("--description", metavar="TEXT", help="What it is.")
def propose_entity(name: str, kind: str, aliases: tuple[str, ...], description: str | None) -> None:
    """Propose an entity and print the id of the proposal."""
    _proposed(
        "propose_entity", name=name, type=kind, aliases=list(aliases), description=description
    )


@click.command("propose-relation")
@click.option("--from", "source", required=True, metavar="ID", help="Where it begins.")
@click.option("--rel", "relation", required=True, metavar="TYPE", help="Type of relation.")
@click.option("--to", "target", required=True, metavar="ID", help="Where it ends.")
@click.option("--confidence", type=float, default=0.7, show_default=True, help="From 0 to 1.")
def propose_relation(source: str, relation: str, target: str, confidence: float) -> None:
    """Propose a relation and print the id of the proposal."""
    _proposed(
        "propose_relation", source=source, relation=relation, target=target, confidence=confidence
    )


@click.command("confirm")
@click.argument("claim_id", metavar="CLAIM", help="Id of the claim.")
def confirm(claim_id: str) -> None:
    """Confirm that a claim still holds."""
    print_line(f"confirmed: {escape(call('confirm', id=claim_id)['id'])}")


@click.command("archive")
@click.argument("identifier", metavar="ID", help="Id of the claim or page.")
def archive(identifier: str) -> None:
    """Archive a claim or page."""
    print_line(f"archived: {escape(call('archive', id=identifier)['id'])}")


@click.command("supersede")
@click.argument("old_id", metavar="OLD", help="Claim that no longer holds.")
@click.argument("new_id", metavar="NEW", help="Claim that holds instead.")
def supersede(old_id: str, new_id: str) -> None:
    """Mark a claim as superseded by another."""
    claims = call("supersede", old_id=old_id, new_id=new_id)
    print_line(f"{escape(claims['old'])} is superseded by {escape(claims['new'])}")


@click.command("contradict")
@click.argument("a_id", metavar="A", help="One claim.")
@click.argument("b_id", metavar="B", help="The other.")
def contradict(a_id: str, b_id: str) -> None:
    """Record that two claims contradict each other."""
    claims = call("contradict", a_id=a_id, b_id=b_id)
    print_line(f"{escape(claims['a'])} contradicts {escape(claims['b'])}")


@click.group("source")
def source() -> None:
    """Register and verify sources."""


@source.command("add", epilog=examples("vibes kb source add README.md --title 'Read me'"))
@click.argument("path", metavar="FILE", help="File of the project.")
@click.option("--title", metavar="TEXT", help="Title (default: the file's name).")
@click.option(
    "--type", "kind", default="file", metavar="TYPE", show_default=True, help="Type of source."
)
def source_add(path: str, title: str | None, kind: str) -> None:
    """Register a file as a source and print its id."""
    absolute = str(Path(path).absolute())
    print_line(call("register_source_from_path", path=absolute, title=title, type=kind)["id"])


@source.command("verify")
@click.option("--fail-on-issue", is_flag=True, help="Exit with 1 if a source has an issue.")
@click.pass_context
def source_verify(context: click.Context, fail_on_issue: bool) -> None:
    """Compare sources with their captured bytes and files."""
    verification = call("source_verify")
    for issue in verification["issues"]:
        print_line(f"{issue['id'][:8]}  {issue['kind']:<8} {escape(issue['detail'])}")
    if not verification["issues"]:
        print_line("all sources are as captured")
    if verification["issues"] and (fail_on_issue or not verification["ok"]):
        context.exit(1)


@click.group("session")
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


@session.command("end")
@click.argument("session_id", metavar="SESSION", help="Id of the session.")
@click.option("--note", metavar="TEXT", help="A note.")
def session_end(session_id: str, note: str | None) -> None:
    """End a session."""
    ended = call("session_end", session_id=session_id, note=note)
    proposals = pluralize(ended["proposals"], "proposal", "proposals")
    print_line(f"ended: {escape(ended['id'])}, {proposals}")


@click.command("crystallize")
@click.argument("session_id", metavar="SESSION", help="Id of the session.")
@click.option("--no-page", is_flag=True, help="Write no page that sums it up.")
def crystallize(session_id: str, no_page: bool) -> int:
    """Approve what a session proposed."""
    outcome = call("crystallize", session_id=session_id, no_page=no_page)
    if not outcome["approved"] and not outcome["failures"]:
        print_line("the session has no proposal that waits")
    for identifier in outcome["approved"]:
        print_line(f"approved: {escape(identifier)}")
    for failure in outcome["failures"]:
        print_error(VibesError(f"not approved: {failure['proposal_id']}: {failure['error']}"))
    if outcome["page_id"]:
        print_line(f"page: {escape(outcome['page_id'])}")
    return 2 if outcome["failures"] else 0


@click.command("expire")
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


@click.command("export", epilog=examples("vibes kb export --out knowledge.tar.gz"))
@click.option("--out", required=True, metavar="FILE", help="Archive to write.")
@click.option("--without-decided", is_flag=True, help="Leave out decisions, for vouch 1.4 to 1.5.")
def export(out: str, without_decided: bool) -> None:
    """Write the knowledge base to an archive."""
    absolute = str(Path(out).absolute())
    exported = call("export", out=absolute, without_decided=without_decided)
    files = pluralize(exported["files"], "file", "files")
    print_line(f"{files}, {exported['bytes']:,} bytes: {escape(out)}")


@click.command("export-check")
@click.argument("bundle", metavar="FILE", help="Archive to check.")
@click.pass_context
def export_check(context: click.Context, bundle: str) -> None:
    """Check an archive against its manifest."""
    report = call("export_check", path=str(Path(bundle).absolute()))
    print_issues(context, report)
    checked = pluralize(report["files_checked"], "file is", "files are")
    print_line(f"{checked} as the manifest says")


@click.command("import-check")
@click.argument("bundle", metavar="FILE", help="Archive to check.")
@click.pass_context
def import_check(context: click.Context, bundle: str) -> None:
    """Show what an import of an archive would do."""
    plan = call("import_check", path=str(Path(bundle).absolute()))
    print_issues(context, plan)
    for name in plan["conflict"]:
        print_line(f"conflict: {escape(name)}")
    counts = f"{len(plan['new'])} new, {len(plan['conflict'])} conflicting"
    print_line(f"{counts}, {len(plan['identical'])} identical")


@click.command("import-apply")
@click.argument("bundle", metavar="FILE", help="Archive to import.")
@click.option(
    "--on-conflict",
    type=click.Choice(["skip", "overwrite", "fail"]),
    default="skip",
    show_default=True,
    help="What to do with files that differ.",
)
def import_apply(bundle: str, on_conflict: str) -> None:
    """Import an archive."""
    path = str(Path(bundle).absolute())
    counts = call("import_apply", path=path, on_conflict=on_conflict)
    print_line(
        f"{counts['imported']} imported, {counts['overwritten']} overwritten,"
        f" {counts['skipped']} skipped"
    )


def _lines_of(cited: str) -> dict[str, str]:
    """Return the evidence that `FILE:N-M` stands for.

    Raises:
        VibesError: It has no line numbers.
    """
    path, separator, lines = cited.rpartition(":")
    start, _, end = lines.partition("-")
    if not separator or not start.isdigit() or not (end or start).isdigit():
        raise VibesError(f"--lines {escape(cited, 80)}: expected FILE:N or FILE:N-M")
    return {"path": str(Path(path).absolute()), "locator": f"L{start}-L{end or start}"}


COMMANDS: Final = (
    approve,
    reject,
    propose_claim,
    propose_page,
    propose_entity,
    propose_relation,
    confirm,
    archive,
    supersede,
    contradict,
    source,
    session,
    crystallize,
    expire,
    export,
    export_check,
    import_check,
    import_apply,
)
"""All commands, for the group `vibes kb`."""

"""`vibes kb provenance`: claims that rest on an AI's lines, and the audit trail as a source."""

from __future__ import annotations

from typing import Any

import click

from vibes_lsp.checks.finding import pluralize
from vibes_lsp.cli.knowledge import MAX_TEXT, call
from vibes_lsp.cli.options import examples, json_option
from vibes_lsp.cli.output import escape, print_json, print_line, print_styled


@click.group(
    "provenance",
    epilog=examples("vibes kb provenance report", "vibes kb provenance add SESSION"),
)
def provenance() -> None:
    """Join claims with the audit trail."""


@provenance.command(
    "report",
    epilog=examples(
        "vibes kb provenance report",
        "vibes kb provenance report --check",
        "vibes kb provenance report passwords-are-hashed --json",
    ),
)
@click.argument("claim_id", metavar="[CLAIM]", required=False, help="Id of one claim.")
@click.option("--check", is_flag=True, help="Exit with 1 if a claim rests on unreviewed AI lines.")
@json_option
@click.pass_context
def report(context: click.Context, claim_id: str | None, check: bool, as_json: bool) -> None:
    """List claims whose evidence an AI wrote.

    A claim rests on unreviewed lines if it cites lines that an AI wrote and no person approved, and
    no other evidence that is still found.
    """
    provenance_report = call("provenance_report", claim_id=claim_id)
    if as_json:
        print_json(provenance_report)
    else:
        for claim in provenance_report["claims"]:
            _print_claim(claim)
        _print_counts(provenance_report["counts"])
    if check and provenance_report["counts"]["rests_on_unreviewed"]:
        context.exit(1)


@provenance.command("add", epilog=examples("vibes kb provenance add 3f2a9c1b"))
@click.argument("identifier", metavar="ID", help="Session, context entry or annotation.")
@json_option
def add(identifier: str, as_json: bool) -> None:
    """Register a part of the audit trail as a source.

    Prints the source's id. The source has the records and entries as the trail has them, one JSON
    object a line: what a session was asked and what it wrote, or one decision.
    """
    source = call("register_provenance", id=identifier)
    if as_json:
        print_json(source)
    else:
        print_line(source["id"])


def _print_claim(claim: dict[str, Any]) -> None:
    verdict = ("reviewed", "green")
    if claim["rests_on_unreviewed"]:
        verdict = ("rests on unreviewed AI lines", "yellow")
    elif any(
        evidence["unreviewed_lines"] or evidence["from_trail"] for evidence in claim["evidence"]
    ):
        verdict = ("has other evidence", "dim")
    print_styled([(escape(claim["claim_id"]), "bold"), ("  ", ""), verdict])
    print_line(f"    {escape(claim['text'], MAX_TEXT)}")
    for evidence in claim["evidence"]:
        print_line(f"  {_place(evidence)}: {_authorship(evidence)}")


def _place(evidence: dict[str, Any]) -> str:
    if evidence["path"] is None:
        return str(escape(evidence["evidence_id"][:24]))
    lines = evidence["line_start"], evidence["line_end"]
    if lines[0] is None:
        return str(escape(evidence["path"], MAX_TEXT))
    return f"{escape(evidence['path'], MAX_TEXT)}:{lines[0]}-{lines[1]}"


def _authorship(evidence: dict[str, Any]) -> str:
    if evidence["from_trail"]:
        return "the audit trail itself, an AI's word"
    if evidence["state"] == "lost":
        return "not found"
    if not evidence["ai_written"]:
        return "no AI line"
    parts = [
        f"{evidence[f'{kind}_lines']:,} {kind}"
        for kind in ("verified", "claimed")
        if evidence[f"{kind}_lines"]
    ]
    count = evidence["unreviewed_lines"]
    review = f"{count:,} unreviewed" if count else "approved by a person"
    ids = ", ".join(str(escape(identifier[:8])) for identifier in evidence["annotation_ids"][:3])
    return f"AI lines: {', '.join(parts)}; {review} ({ids})"


def _print_counts(counts: dict[str, int]) -> None:
    claims = pluralize(counts["claims"], "open claim", "open claims")
    print_line(
        f"{claims}, {counts['ai_written']:,} with evidence that an AI wrote,"
        f" {counts['rests_on_unreviewed']:,} resting on unreviewed lines"
    )

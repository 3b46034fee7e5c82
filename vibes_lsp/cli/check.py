"""`vibes check`: the compliance report (guide, `checks`)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from vibes_lsp import __version__
from vibes_lsp.checks.context import open_context
from vibes_lsp.checks.finding import Finding, Severity, pluralize
from vibes_lsp.checks.report import Report, check_trail, pass_or_fail
from vibes_lsp.cli.findings import print_finding
from vibes_lsp.cli.options import audit_dir_option, directory_of, json_option, now
from vibes_lsp.cli.output import plain, print_json, print_line, progress, styled
from vibes_lsp.reports.sarif import findings_sarif

_SHOWN = 10


@click.command("check")
@audit_dir_option
@click.option(
    "--base", metavar="REV", help="Every record of this revision must still be there, unchanged."
)
@click.option("--sarif", is_flag=True, help="Print SARIF 2.1.0 for code scanning.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help=f"Print every finding, not only the first {_SHOWN} of a check.",
)
@json_option
def command(
    audit_dir: Path | None, base: str | None, sarif: bool, everything: bool, as_json: bool
) -> int:
    """Check the trail. Exits 1 when any finding is an error."""
    with progress() as step:
        report = check_trail(open_context(directory_of(audit_dir), now(), step), base)
    if sarif:
        print_json(findings_sarif(report.findings, __version__))
    elif as_json:
        print_json(report.as_json())
    else:
        _print(report, everything=everything)
    return 0 if report.passed else 1


def _print(report: Report, *, everything: bool) -> None:
    print_line("VIBES Standard Compliance Check")
    print_line(f"Project: {plain(report.project, 100)}")
    print_line(f"Assurance Level: {report.level}")
    print_line(f"Files found: {', '.join(report.files) or 'none'}")
    for label, passed in (
        ("Hash integrity", report.hashes_pass),
        ("Schema compliance", report.schema_passes),
        ("Result", report.passed),
    ):
        styled([(f"{label}: ", ""), (pass_or_fail(passed), "green" if passed else "bold red")])
    print_line()
    print_line(_counts("Records", report.records))
    print_line(_counts("Entries", report.entries))
    print_line(_counts("Context hashes", report.context_hashes))
    print_line(_counts("Annotation ids", report.annotation_ids))
    if report.findings:
        print_line()
        _print_findings(report.findings, everything=everything)
    print_line()
    print_line(
        ", ".join(
            pluralize(report.count(severity), severity, f"{severity}s") for severity in Severity
        )
    )


def _counts(label: str, counts: dict[str, int]) -> str:
    parts = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return f"{label}: {sum(counts.values()):,}" + (f" ({parts})" if parts else "")


def _print_findings(findings: tuple[Finding, ...], *, everything: bool) -> None:
    seen: Counter[str] = Counter()
    totals = Counter(finding.check.id for finding in findings)
    for finding in findings:
        seen[finding.check.id] += 1
        if everything or seen[finding.check.id] <= _SHOWN:
            print_finding(finding)
        elif seen[finding.check.id] == _SHOWN + 1:
            styled(
                [
                    (
                        f"  … and {totals[finding.check.id] - _SHOWN:,} more of {finding.check.id}; --all prints them",
                        "dim",
                    )
                ]
            )

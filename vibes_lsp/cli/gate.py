"""`vibes gate`: stops what is too risky, or what the project's rules want reviewed (RFC 10.4.5, 10.4.6)."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from vibes_lsp import __version__
from vibes_lsp.cli.findings import print_finding
from vibes_lsp.cli.options import audit_dir_option, json_option, now, open_trail, path_in_project
from vibes_lsp.cli.output import print_json, print_line, print_table, progress, styled
from vibes_lsp.errors import UnreadableFile, VibesError
from vibes_lsp.gate.decide import parse_threshold
from vibes_lsp.gate.inputs import load_inputs
from vibes_lsp.gate.report import GateItem, GateReport, markdown_summary, summary_line
from vibes_lsp.gate.run import GateOptions, run_gate
from vibes_lsp.index.project_locator import ProjectLocator
from vibes_lsp.reports.sarif import findings_sarif
from vibes_lsp.reports.words import review_words
from vibes_lsp.store.audit_dir import AuditDir

_MAX_SHOWN: Final = 100
_MAX_FINDINGS: Final = 50


@click.command("gate")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--base", metavar="REV", help="Judge what was changed since REV, by the policy of REV."
)
@click.option(
    "--threshold",
    default="critical",
    metavar="BAND|NUMBER",
    help="The band or score from which code is blocked.",
    show_default=True,
)
@click.option(
    "--stored",
    is_flag=True,
    help="Go by the scores and factors that records carry, not by what is known now.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Count every record of the log, whatever became of it, approved or not.",
)
@click.option("--markdown", is_flag=True, help="Print Markdown for a pull request.")
@click.option("--sarif", is_flag=True, help="Print SARIF 2.1.0 for code scanning.")
@audit_dir_option
@json_option
def command(  # noqa: PLR0917
    files: Sequence[Path],
    base: str | None,
    threshold: str,
    stored: bool,
    everything: bool,
    markdown: bool,
    sarif: bool,
    audit_dir: Path | None,
    as_json: bool,
) -> int:
    """Stop what is too risky, or what the project's rules want reviewed. Exits 1 when anything is stopped.

    FILES are those that are meant; by default the whole project, or with --base what has changed.
    """
    if markdown + sarif + as_json > 1:
        raise VibesError(
            "--markdown, --sarif and --json are three ways to say one thing",
            hint="give one of them",
        )
    bound = parse_threshold(threshold)
    with _uncollected():
        trail = open_trail(audit_dir)
        only = _only(files, trail.directory) if files else None
        inputs = load_inputs(trail, base)
        with ProjectLocator(trail) as locator, progress() as step:
            report = run_gate(
                locator,
                inputs,
                GateOptions(
                    now(),
                    bound,
                    only,
                    use_stored_scores=stored,
                    all_records=everything,
                    with_commits=as_json,
                    progress=step,
                ),
            )
        if sarif:
            print_json(findings_sarif(report.all_findings(), __version__))
        elif as_json:
            print_json(report.as_json())
        elif markdown:
            print_line(markdown_summary(report).removesuffix("\n"))
        else:
            _print(report)
    return 0 if report.passed else 1


@contextmanager
def _uncollected() -> Iterator[None]:
    """Have nothing looked for that could be thrown away: annotations are kept until the end, and to walk them again and again takes a fifth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _only(files: Sequence[Path], directory: AuditDir) -> frozenset[str]:
    """Return files that the user named, relative to the project; those of the trail itself hold no code."""
    found = frozenset(path_in_project(file, directory.project) for file in files)
    missing = next(
        (path for path in sorted(found) if not (directory.project / path).is_file()), None
    )
    if missing is not None:
        what = "is no file" if (directory.project / missing).exists() else "is not there"
        raise UnreadableFile(f"{missing} {what}", hint="give files of the project")
    return frozenset(path for path in found if path.split("/")[0] != directory.path.name)


def _print(report: GateReport) -> None:
    shown = list(report.listed)
    if shown:
        print_table(
            ("", "where", "risk", "why"), [_row(item) for item in shown[:_MAX_SHOWN]], wrap="why"
        )
    if len(shown) > _MAX_SHOWN:
        print_line(f"… and {len(shown) - _MAX_SHOWN:,} more; --json has all")
    for finding in report.findings[:_MAX_FINDINGS]:
        print_finding(finding)
    if len(report.findings) > _MAX_FINDINGS:
        print_line(f"… and {len(report.findings) - _MAX_FINDINGS:,} more findings; --json has all")
    if shown or report.findings:
        print_line()
    print_line(f"{summary_line(report)}; blocked from {report.bound:g}")
    styled([("Gate: ", ""), ("PASS", "green") if report.passed else ("FAIL", "bold red")])


def _row(item: GateItem) -> tuple[object, ...]:
    rules = "; ".join(item.reasons[:2])
    said = [f"rule: {rules}" if rules else "", review_words(item.facts)]
    return (
        item.verdict,
        item.location,
        item.score_text or "",
        " · ".join(part for part in said if part),
    )

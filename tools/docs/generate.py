"""Writes the documentation that is made from code: `make docs`. A test fails while a file on disk differs.

Each function returns the text of one file; nothing here decides what is true.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from tests.conformance import requirement_table
from tools.docs import (
    agent_pages,
    edit_figures,
    figures,
    hook_figures,
    knowledge_matrix,
    layers,
    mcp_reference,
    protocol_reference,
)
from tools.docs.figures import with_blocks
from tools.docs.json_schemas import schemas
from tools.docs.wrapping import wrapped
from vibes_lsp.checks.catalogue import ALL
from vibes_lsp.checks.finding import Check, Severity
from vibes_lsp.model.record_schema import RECORD_SCHEMAS, Member, MemberType

DOCS: Final = Path(__file__).parents[2] / "docs"
_GENERATED: Final = "<!-- Made by `make docs` from {source}; edit that instead. -->\n\n"
_MEANING: Final = {
    Severity.ERROR: "`vibes check` fails and exits with 1",
    Severity.WARNING: "something is incomplete, or other tools may read it differently",
    Severity.NOTE: "for information; no change is needed",
}


def files() -> dict[Path, str]:
    """Return every page with its text, blocks made and prose wrapped, and every schema."""
    made = {
        DOCS / "checks.md": checks(),
        DOCS / "conformance.md": requirement_table.markdown(),
        DOCS / "protocol.md": protocol_reference.page(),
        DOCS / "records.md": records(),
    }
    made_blocks = blocks()
    pages = {path: made.get(path) or path.read_text(encoding="utf-8") for path in _pages()}
    texts = {path: wrapped(with_blocks(text, made_blocks)) for path, text in pages.items()}
    for name, schema in schemas().items():
        texts[DOCS / "schema" / name] = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    return texts


def blocks() -> dict[str, list[str]]:
    """Return the lines of the blocks of all pages, by their names."""
    return {
        **agent_pages.blocks(),
        **edit_figures.blocks(),
        **figures.blocks(),
        **hook_figures.blocks(),
        **knowledge_matrix.blocks(),
        **layers.blocks(),
        **mcp_reference.blocks(),
    }


def _pages() -> list[Path]:
    """Return the pages that people read."""
    root = DOCS.parent
    own = [root / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
    services = [root / "services/README.md", *(root / "services/docs").glob("*.md")]
    return sorted([*own, *services, *DOCS.rglob("*.md"), *root.glob("editors/*/README.md")])


def records() -> str:
    """Return the page about the members of records."""
    page = _GENERATED.format(source="`vibes_lsp/model/record_schema.py`")
    page += (
        "# Members of records\n\n"
        "Every line of the log, `annotations.jsonl`, is a *record*: a JSON object with a `type`. "
        "These are the members that `vibes check` validates,\n"
        "and the columns that `audit.db` has of them. A section is one of the standard; "
        "a member with a reading, such as R32, is an extension of\n"
        "ours ([how we read the standard](spec-readings.md)). Other members are kept as they are. "
        "[`record.schema.json`](schema/record.schema.json) has the same as a JSON Schema.\n"
    )
    for schema in RECORD_SCHEMAS.values():
        page += f"\n## `{schema.type}`\n\n{schema.description}\n\n"
        page += "| member | value | required | from | meaning |\n|---|---|---|---|---|\n"
        page += "".join(f"{_member_row(member)}\n" for member in schema.members)
    return page


def _member_row(member: Member) -> str:
    value = (
        member.type.name.lower().replace("_", " ")
        if isinstance(member.type, MemberType)
        else ", ".join(f"`{word.value}`" for word in member.type)
    )
    required = "yes" if member.is_required else ""
    older = f"older name `{member.older_name}`" if member.older_name else ""
    meaning = "; ".join(filter(None, (member.description, older)))
    return f"| `{member.name}` | {value} | {required} | {member.section} | {meaning} |"


def checks() -> str:
    """Return the page about all checks."""
    head = _GENERATED.format(source="`vibes_lsp/checks/catalogue.py`")
    head += "# Checks\n\n`vibes check` checks a whole audit trail. Every finding has one of the ids below, a severity and a location.\n\nA *record* is a line of the log, `annotations.jsonl`. An *entry* is a value of `manifest.json`, under its hash. The *policy* is\n`config.json`. A *member* is a name with its value in a JSON object.\n\n"
    head += "".join(f"- **{severity}**: {meaning}\n" for severity, meaning in _MEANING.items())
    overview = "".join(
        f"\n**{severity.value.capitalize()}s:** "
        + ", ".join(f"[`{check.id}`](#{check.id})" for check in ALL if check.severity is severity)
        + ".\n"
        for severity in Severity
    )
    return head + overview + "".join(map(_section, ALL))


def _section(check: Check) -> str:
    return f"\n## {check.id}\n\n*{check.severity}.* {check.title}.\n\n{check.why}\n\n**What to do:** {check.fix}\n"


def main() -> None:
    """Write all files."""
    for path, text in files().items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()

"""Wrapping changes where lines of prose end, and nothing that a reader sees."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt

from tools.docs.wrapping import COLUMNS, wrapped

LONG = "one `code span` of words, [a link](page.md#heading) and *emphasis* - with dashes, " * 3
PAGE = f"""# A heading that is longer than a line may be, {LONG}

{LONG}

- {LONG}
  - {LONG}
- an item

  {LONG}

    not: code
    for: it is in the list

Text.

    code: here
      - kept: as it is

1. {LONG}

| table | {LONG} |
|---|---|
| cell | {LONG} |

```yaml
- {LONG}
```

> {LONG}

<!-- {LONG} -->
`{{{"member, " * 40}}}`
"""


def rendered(text: str) -> str:
    return re.sub(r"\s+", " ", MarkdownIt("gfm-like", {"linkify": False}).render(text))


def test_a_wrapped_page_reads_as_before() -> None:
    assert rendered(wrapped(PAGE)) == rendered(PAGE)
    assert wrapped(wrapped(PAGE)) == wrapped(PAGE)


def test_lines_of_code_are_kept() -> None:
    assert "    code: here\n      - kept: as it is\n" in wrapped(PAGE)
    assert f"```yaml\n- {LONG}\n```" in wrapped(PAGE)


def test_prose_has_the_columns() -> None:
    prose = wrapped(f"{LONG}\n\n- {LONG}\n")
    assert max(map(len, prose.splitlines())) <= COLUMNS
    assert len(prose.splitlines()) > 5

"""The forms in which tools of agents take an edit: text that occurs once, or a patch. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.agents.story import Create, Replace


def unique_replacements(edit: Replace) -> Iterator[tuple[str, str]]:
    """Yield old and new texts for a tool that replaces a text only where it occurs once."""
    if not edit.everywhere:
        yield edit.old, edit.new
        return
    text, lines = edit.before, edit.before.splitlines()
    for index, old, new in edit.changed_lines():
        for start in range(index, -1, -1):
            context = lines[start:index]
            replaced = "\n".join([*context, *old])
            if text.count(replaced) == 1:
                replacement = "\n".join([*context, *new])
                text = text.replace(replaced, replacement)
                yield replaced, replacement
                break


def patch(edits: Sequence[Create | Replace]) -> str:
    """Return edits as a patch for the tool `apply_patch`."""
    lines: list[str] = []
    for edit in edits:
        if isinstance(edit, Create):
            lines += [
                f"*** Add File: {edit.file}",
                *(f"+{line}" for line in edit.text.splitlines()),
            ]
        else:
            lines += [f"*** Update File: {edit.file}", *_chunks(edit)]
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])


def merged(edits: Sequence[Replace]) -> Replace:
    """Return edits of one file, each made in what the one before left, as one edit."""
    return Replace(edits[0].file, edits[0].before, edits[-1].after, edits[0].before)


def _chunks(edit: Replace) -> Iterator[str]:
    """Yield the lines of a patch of one file, with one line of context before each change."""
    if edit.old not in edit.before:  # one that is to fail
        yield from (
            "@@",
            *_tagged("-", edit.old.splitlines()),
            *_tagged("+", edit.new.splitlines()),
        )
    lines = edit.before.splitlines()
    done = 0  # lines that the chunks so far have passed: a header is searched after them
    for index, old, new in edit.changed_lines():
        start = max(index - 1, done)
        headers = [line for line in lines[done:start] if line.startswith("def ")]
        yield f"@@ {headers[-1]}" if headers else "@@"
        yield from _tagged(" ", lines[start:index])
        yield from (*_tagged("-", old), *_tagged("+", new))
        done = index + len(old)


def _tagged(tag: str, lines: Sequence[str]) -> list[str]:
    return [f"{tag}{line}" for line in lines]

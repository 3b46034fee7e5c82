"""The tool that finds prompts: what AIs were asked, and where the code is that they wrote."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.git.project_files import read_source
from vibes_lsp.mcp.annotation_answers import annotation_answer
from vibes_lsp.mcp.answers import AnnotationAnswer, PromptAnswer, Prompts
from vibes_lsp.mcp.asking import Limit, Name
from vibes_lsp.mcp.recorded_text import Quotations, name
from vibes_lsp.mcp.served_project import ServedProject
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.paths import normal_path
from vibes_lsp.model.vocabulary import ContextType
from vibes_lsp.recording.arguments import Checked
from vibes_lsp.recording.paths import required_path
from vibes_lsp.reports.blame import blame_file
from vibes_lsp.trail.lineage import Lineage

_LONG: Final = 1_000
_MAX_ANNOTATIONS: Final = 5


class PromptArguments(Checked):
    """Which prompts are wanted; all conditions hold.

    Attributes:
        text: A part of the prompt, in any case.
        file: Only prompts that changed this file or a file in this folder.
        session_id: Only prompts of a session, by its id or the beginning of it.
        limit: How many prompts the answer has at most.
    """

    text: Name | None = None
    file: Name | None = None
    session_id: Name | None = None
    limit: Limit = 10


def find_prompts(project: ServedProject, arguments: PromptArguments) -> Prompts:
    """Return the prompts that match, newest first, with the lines that they caused.

    Raises:
        WrongArgument: The file is not in the project.
    """
    folder = None if arguments.file is None else required_path(project.root, arguments.file)
    caused = _lineages_by_prompt(project)
    prompts = [
        (key, entry)
        for key, entry in _prompts(project, arguments.text)
        if (folder is None and arguments.session_id is None)
        or any(_matches(lineage, folder, arguments.session_id) for lineage in caused.get(key, ()))
    ]
    prompts.sort(key=lambda prompt: text(prompt[1], "created_at") or "", reverse=True)
    shown, quotations = prompts[: arguments.limit], Quotations()
    lineages = {key: caused.get(key, [])[::-1] for key, _ in shown}
    located = _locate(project, lineages, quotations)
    return Prompts(
        prompts=[
            _answer(key, entry, located[key], len(lineages[key]), quotations)
            for key, entry in shown
        ],
        more=len(prompts) - len(shown),
        hint=None if prompts else "No recorded prompt matches.",
        warnings=project.warnings,
    )


def _prompts(project: ServedProject, part: str | None) -> Iterator[tuple[str, Members]]:
    """Yield the recorded prompts with a text in them."""
    manifest, needle = project.trail.manifest, (part or "").casefold()
    for key in manifest:
        entry = manifest.entry(key) or {}
        is_prompt = entry.get("type") == ContextType.PROMPT
        if is_prompt and needle in (text(entry, "prompt_text") or "").casefold():
            yield key, entry


def _lineages_by_prompt(project: ServedProject) -> dict[str, list[Lineage]]:
    """Return the edits that each prompt caused, oldest first."""
    lineages: dict[str, list[Lineage]] = {}
    for lineage in project.trail.lineages():
        key = lineage.current.text("prompt_hash")
        if key is not None:
            lineages.setdefault(key, []).append(lineage)
    return lineages


def _matches(lineage: Lineage, folder: str | None, session: str | None) -> bool:
    path = normal_path(lineage.current.text("file_path") or "")
    in_folder = folder is None or folder in {".", path} or path.startswith(f"{folder}/")
    return in_folder and (
        session is None or (lineage.current.text("session_id") or "").startswith(session)
    )


def _locate(
    project: ServedProject, lineages: dict[str, list[Lineage]], quotations: Quotations
) -> dict[str, list[AnnotationAnswer]]:
    """Return where the first edits of each prompt are now; those of missing files are left out."""
    first_lineages = {key: caused[:_MAX_ANNOTATIONS] for key, caused in lineages.items()}
    files = {
        normal_path(lineage.current.text("file_path") or "")
        for caused in first_lineages.values()
        for lineage in caused
    }
    shown = {lineage.first.id for caused in first_lineages.values() for lineage in caused}
    answers: dict[str, AnnotationAnswer] = {}
    locator, scorer = project.locator(), project.scorer()
    for path in sorted(files):
        with suppress(UnreadableFile):
            blame = blame_file(locator, path, read_source(project.root, path), scorer)
            for placement in blame.placements:
                if placement.lineage.first.id in shown:
                    facts = blame.report.placement(placement, with_prompts=False)
                    answer = annotation_answer(placement, facts, quotations)
                    answers[placement.lineage.first.id] = answer
    return {
        key: [answers[lineage.first.id] for lineage in caused if lineage.first.id in answers]
        for key, caused in first_lineages.items()
    }


def _answer(
    key: str,
    entry: Members,
    annotations: list[AnnotationAnswer],
    count: int,
    quotations: Quotations,
) -> PromptAnswer:
    quoted = quotations.quote(text(entry, "prompt_text") or " ", _LONG)
    assert quoted is not None  # the text is not empty  # noqa: S101
    return PromptAnswer(
        prompt_hash=key,
        prompt=quoted,
        type=name(entry.get("prompt_type")),
        recorded_at=name(entry.get("created_at")),
        annotations=annotations,
        more_annotations=count - len(annotations),
    )

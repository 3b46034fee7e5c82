"""From ids of a knowledge base to what they name and who names them; from lines to claims."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from lsprotocol import types

from vibes_lsp.errors import UnreadableFile
from vibes_lsp.git.project_files import read_source
from vibes_lsp.lsp.documents.rendering import SEPARATOR, Markup
from vibes_lsp.lsp.protocol.conversion import (
    FIRST_LINE,
    path_of,
    place_of_lines,
    range_in_line,
    to_characters,
    to_column,
    uri_in,
)
from vibes_lsp.lsp.state.knowledge_bases import KNOWLEDGE_DIR, DocumentKnowledge
from vibes_lsp.lsp.state.server import Server
from vibes_lsp.model.escaping import single_line

if TYPE_CHECKING:
    from vibes_lsp.knowledge.mentions import Mention, NamedObject

_MAX_FILES: Final = 20
_MAX_LOCATIONS: Final = 1_000
_TEXT: Final = 400
_NAME: Final = 80
_MARKDOWN: Final = (".md", ".markdown")


async def knowledge_definition(
    ls: Server, uri: str, position: types.Position
) -> list[types.Location]:
    """Return what an id names: the lines of evidence, then the file of the object.

    In a file of evidence every other word leads to the lines that are cited.
    """
    naming = await _named_at(ls, uri, position)
    if naming is None:
        return []
    knowledge, named, _ = naming
    places: list[types.Location] = []
    for named_object in named:
        if named_object.kind.noun == "evidence":
            places += await _lines(ls, knowledge, {named_object.id})
        places += _files_of(knowledge, named_object)
    folder, _, name = knowledge.path.removeprefix(f"{KNOWLEDGE_DIR}/").partition("/")
    if not places and folder == "evidence":
        places = await _lines(ls, knowledge, {name.removesuffix(".yaml")})
    return places


async def knowledge_references(
    ls: Server, uri: str, position: types.Position
) -> list[types.Location]:
    """Return who names an id, and the lines that it rests on; on cited lines, who cites them."""
    naming = await _named_at(ls, uri, position)
    if naming is None:
        return await _citing(ls, uri, position.line + 1)
    from vibes_lsp.knowledge.mentions import find_mentions  # noqa: PLC0415  # loads pydantic

    knowledge, named, token = naming
    folder = knowledge.snapshot.path
    texts = {
        path.relative_to(folder).as_posix(): document.content
        for document_uri in ls.documents.uris()
        if (path := path_of(document_uri)) is not None
        and path.is_relative_to(folder)
        and (document := ls.documents.get(document_uri)) is not None
    }
    work = partial(find_mentions, knowledge.snapshot, token, texts)
    places = [
        types.Location(target, _range(ls, mention))
        for mention in await ls.run_in_thread(work)
        if (target := uri_in(folder, mention.path)) is not None
    ]
    evidence = {named_object.id for named_object in named if named_object.kind.noun == "evidence"}
    for named_object in named:
        if named_object.kind.noun == "claim":
            evidence.update(map(str, named_object.members["evidence"]))
        elif named_object.kind.noun == "source":
            evidence.update(_evidence_of(knowledge, named_object.id))
    return (places + await _lines(ls, knowledge, evidence))[:_MAX_LOCATIONS]


async def knowledge_hover(
    ls: Server, uri: str, position: types.Position, markup: Markup
) -> tuple[str, None] | None:
    """Return what the object says that an id names."""
    naming = await _named_at(ls, uri, position)
    if naming is None or not naming[1]:
        return None
    parts = [
        f"{markup.sentence(named_object.title, _TEXT)}{markup.line_end}"
        f"{markup.strong(named_object.kind.noun.capitalize())}{SEPARATOR}"
        f"{markup.quote(named_object.id, _NAME)}"
        for named_object in naming[1]
    ]
    return markup.rule.join(parts), None


async def complete_ids(
    ls: Server, uri: str, position: types.Position
) -> types.CompletionList | None:
    """Return the ids and words that can follow at a place; None where none belongs."""
    knowledge, document = await ls.knowledge.about(uri), ls.documents.get(uri)
    if knowledge is None or document is None or not _has_ids(knowledge):
        return None
    from vibes_lsp.knowledge.completion import complete  # noqa: PLC0415  # loads pydantic

    before = list(document.text.lines[: position.line + 1])
    if len(before) <= position.line:
        before.append("")
    column = to_characters(before[-1], position.character, ls.documents.encoding)
    whole, before[-1] = before[-1], before[-1][:column]
    is_own = knowledge.is_of_knowledge_base
    path = knowledge.path.removeprefix(f"{KNOWLEDGE_DIR}/") if is_own else None
    completion = complete(knowledge.snapshot, path, before)
    if completion is None:
        return None
    start = to_column(whole, column - len(completion.begun), ls.documents.encoding)
    replaced = types.Range(types.Position(position.line, start), position)
    word, reference = types.CompletionItemKind.EnumMember, types.CompletionItemKind.Reference
    items = [
        types.CompletionItem(
            candidate.text,
            kind=reference if candidate.kind else word,
            detail=single_line(f"{candidate.kind}: {candidate.title}", 2 * _NAME)
            if candidate.kind
            else None,
            filter_text=f"{candidate.text} {candidate.title}"[:_TEXT],
            sort_text=f"{number:04}",
            text_edit=types.TextEdit(replaced, candidate.text),
        )
        for number, candidate in enumerate(completion.suggestions)
    ]
    return types.CompletionList(is_incomplete=not completion.is_complete, items=items)


def _has_ids(knowledge: DocumentKnowledge) -> bool:
    return knowledge.is_of_knowledge_base or knowledge.path.lower().endswith(_MARKDOWN)


async def _named_at(
    ls: Server, uri: str, position: types.Position
) -> tuple[DocumentKnowledge, Sequence[NamedObject], str] | None:
    """Return what the id at a position names; None where no id can be."""
    knowledge, document = await ls.knowledge.about(uri), ls.documents.get(uri)
    if knowledge is None or document is None or not _has_ids(knowledge):
        return None
    from vibes_lsp.knowledge.mentions import objects_named, token_at  # noqa: PLC0415  # pydantic

    line = "".join(document.lines(position.line + 1, position.line + 1))
    column = to_characters(line, position.character, ls.documents.encoding)
    token = token_at(line, column, only_links=not knowledge.is_of_knowledge_base)
    if token is None:
        return None
    return knowledge, objects_named(knowledge.snapshot, token[0]), token[0]


async def _lines(
    ls: Server, knowledge: DocumentKnowledge, evidence: Iterable[str]
) -> list[types.Location]:
    """Return where the lines of evidence are now."""
    wanted = set(evidence)
    files = ls.knowledge.citing(
        knowledge, lambda citation: citation.evidence["id"] in wanted, _MAX_FILES
    )
    locations: list[types.Location] = []
    async for file in files:
        placed = [
            placed_citation
            for placed_citation in file.placed
            if placed_citation.citation.evidence["id"] in wanted
        ]
        text = await _text(ls, file)
        locations += (
            types.Location(file.uri, place_of_lines(text, start, end, ls.documents.encoding))
            for placed_citation in placed
            if (start := placed_citation.located.start) is not None
            and (end := placed_citation.located.end) is not None
        )
    return locations


async def _citing(ls: Server, uri: str, line: int) -> list[types.Location]:
    """Return the files of the claims and proposals that cite a line."""
    knowledge = await ls.knowledge.about(uri)
    if knowledge is None:
        return []
    here = knowledge.at(line, line)
    paths = [
        *(f"claims/{identifier}.yaml" for placed in here for identifier in placed.citation.claims),
        *(
            f"proposed/{identifier}.yaml"
            for placed in here
            for identifier in placed.citation.proposals
        ),
    ]
    uris = (uri_in(knowledge.snapshot.path, path) for path in dict.fromkeys(paths))
    return [types.Location(file, FIRST_LINE) for file in uris if file is not None][:_MAX_LOCATIONS]


def _files_of(knowledge: DocumentKnowledge, named: NamedObject) -> list[types.Location]:
    """Return the file that a source was captured from, if it is there, and the object's own."""
    from vibes_lsp.knowledge.citations import file_of_source  # noqa: PLC0415  # loads pydantic
    from vibes_lsp.knowledge.objects import path_of  # noqa: PLC0415

    files = [uri_in(knowledge.snapshot.path, path_of(named.kind, named.id))]
    if named.kind.noun == "source":
        path = file_of_source(knowledge.project, named.members)
        if path is not None and (knowledge.project / path).is_file():
            files.insert(0, uri_in(knowledge.project, path))
    return [types.Location(uri, FIRST_LINE) for uri in files if uri is not None]


def _evidence_of(knowledge: DocumentKnowledge, source: str) -> list[str]:
    return [
        str(citation.evidence["id"])
        for citations in knowledge.snapshot.citations.values()
        for citation in citations
        if citation.evidence["source_id"] == source
    ]


async def _text(ls: Server, file: DocumentKnowledge) -> Sequence[str]:
    """Return the lines of a file, open or not."""
    document = ls.documents.get(file.uri)
    if document is not None:
        return document.text.lines
    try:
        return (await ls.run_in_thread(partial(read_source, file.project, file.path))).lines
    except UnreadableFile:
        return ()


def _range(ls: Server, mention: Mention) -> types.Range:
    span = mention.span
    end = span.start if span.end is None else span.end
    return range_in_line(mention.line, span.line, (span.start, end), ls.documents.encoding)

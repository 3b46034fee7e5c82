"""Git is asked in threads only: the event loop waits for no other program."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from lsprotocol import types

from tests.server.project import STORY, Project
from tests.trails import Repository
from tests.unit.lsp.test_memory import close_indexes, drained, started, tell
from vibes_lsp.git import objects, process
from vibes_lsp.lsp.protocol.extensions import ProvenanceParams

_COMMANDS: Final = (
    "vibes.check",
    "vibes.verify",
    "vibes.queue",
    "vibes.lookup",
    "vibes.files",
    "vibes.show",
    "vibes.changes",
    "vibes.showHistory",
)
_RECORDED: Final = {
    "range": {"start": {"line": 9, "character": 0}, "end": {"line": 13, "character": 0}},
    "action": "create",
    "tool": {"name": "Codex", "version": "1"},
    "model": {"name": "gpt-5", "version": "1"},
}


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> set[threading.Thread]:
    """The threads in which git was asked."""
    found: set[threading.Thread] = set()

    def watched(ask: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*arguments: Any, **members: Any) -> Any:
            found.add(threading.current_thread())
            return ask(*arguments, **members)

        return asked

    for module, name in ((process, "_run"), (process, "_start"), (objects.GitObjects, "_ask")):
        monkeypatch.setattr(module, name, watched(getattr(module, name)))
    return found


async def test_no_answer_asks_git_on_the_event_loop(
    tmp_path: Path, threads: set[threading.Thread]
) -> None:
    repository, project = Repository(tmp_path), Project(tmp_path)
    project.config(risk_scoring={"enabled": True})
    project.environment()
    identifier = project.hashed("a.py", 4, 7)
    project.line("a.py", 1, 2, text=STORY)
    file = project.file("a.py")
    repository.commit("made")
    project.hashed("a.py", 10, 13)  # it waits
    repository.write("b.py", STORY)
    server, sink = started()
    uri = file.as_uri()
    document, place = types.TextDocumentIdentifier(uri), types.Position(4, 0)
    lines = types.Range(place, types.Position(13, 0))
    context = types.CodeActionContext([], trigger_kind=types.CodeActionTriggerKind.Automatic)
    asked = (
        (types.TEXT_DOCUMENT_HOVER, types.HoverParams(document, place)),
        (types.TEXT_DOCUMENT_CODE_LENS, types.CodeLensParams(document)),
        (types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionParams(document, lines, context)),
        (types.TEXT_DOCUMENT_INLAY_HINT, types.InlayHintParams(document, lines)),
        (types.TEXT_DOCUMENT_REFERENCES, types.ReferenceParams(types.ReferenceContext(True), document, place)),
        (types.TEXT_DOCUMENT_DEFINITION, types.DefinitionParams(document, place)),
        (types.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY, types.CallHierarchyPrepareParams(document, place)),
        (types.WORKSPACE_SYMBOL, types.WorkspaceSymbolParams("digest")),
        ("vibes/provenance", ProvenanceParams(document, lines=True)),
        *(
            (
                types.WORKSPACE_EXECUTE_COMMAND,
                types.ExecuteCommandParams(
                    name, [{"uri": uri, "id": identifier, "annotationId": identifier, "uris": [uri]}]
                ),
            )
            for name in _COMMANDS
        ),
        (
            types.WORKSPACE_EXECUTE_COMMAND,
            types.ExecuteCommandParams("vibes.recordAnnotation", [{"uri": uri, **_RECORDED}]),
        ),
        (
            types.WORKSPACE_EXECUTE_COMMAND,
            types.ExecuteCommandParams(
                "vibes.review",
                [{"uri": uri, "annotationIds": [identifier], "verdict": "approved", "reviewer": "Ada"}],
            ),
        ),
    )  # fmt: skip
    item = types.TextDocumentItem(uri, "python", 1, STORY)
    tell(server, types.TEXT_DOCUMENT_DID_OPEN, types.DidOpenTextDocumentParams(item))
    for round_number in range(2):
        for number, (method, params) in enumerate(asked, 100 * (round_number + 1)):
            tell(server, method, params, id=number)
        await drained()
        tell(server, types.TEXT_DOCUMENT_DID_SAVE, types.DidSaveTextDocumentParams(document))
        repository.commit(f"again {round_number}")
        await drained()
    tell(server, types.SHUTDOWN, None, id="shutdown")
    await drained()
    server.shutdown()  # type: ignore[no-untyped-call]  # of pygls
    close_indexes(server)
    assert [each for each in sink.messages if b'"error": {' in each] == []
    assert threads
    assert threading.main_thread() not in threads

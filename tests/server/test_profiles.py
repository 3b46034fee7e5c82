"""What every client gets, independent of its capabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.server.profiles import PROFILES, members_of
from tests.server.project import STORY
from tests.server.wire import Wire, still_answers

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.trails import CompleteTrail

pytestmark = [
    pytest.mark.parametrize("profile", PROFILES),
]  # each starts a server of its own


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    """A server that nobody has spoken with, and that has nothing to be alarmed about."""
    with Wire(tmp_path / "server.log") as wire:
        yield wire
        assert "Traceback" not in wire.logged()


def test_a_cancelled_request_is_answered_once(
    wire: Wire, trail: CompleteTrail, profile: str
) -> None:
    wire.initialize(trail.root, members_of(profile))
    number = wire.ask("workspace/executeCommand", {"command": "vibes.check", "arguments": [{}]})
    wire.notify("$/cancelRequest", {"id": number})
    answer = wire.answer(number)
    assert "result" in answer or answer["error"]["code"] == -32800
    assert still_answers(wire, trail)
    assert [
        each for each in wire.notifications if each.get("id") == number and "method" not in each
    ] == []


def test_what_is_unknown_is_refused_or_passed_over(
    wire: Wire, trail: CompleteTrail, profile: str
) -> None:
    wire.initialize(trail.root, members_of(profile))
    assert wire.request("textDocument/unknown", {})["error"]["code"] == -32601
    wire.notify("$/unknown", {})
    wire.notify("textDocument/didUnknown", {})
    assert still_answers(wire, trail)


def test_what_the_user_got_wrong_is_told_the_client_and_no_traceback(
    wire: Wire, trail: CompleteTrail, profile: str
) -> None:
    wire.initialize(trail.root, members_of(profile))
    wrong: list[list[dict[str, object]]] = [
        [{"id": "ffff0000"}],
        [{"id": "f"}],
        [{}],
        [{"id": 5}],
        [{"id": "abcd", "uri": "untitled:x"}],
    ]
    for arguments in wrong:
        assert "error" in wire.request(
            "workspace/executeCommand", {"command": "vibes.show", "arguments": arguments}
        )
    assert "error" in wire.request("vibes/provenance", {"textDocument": {"uri": "untitled:x"}})
    assert still_answers(wire, trail)


def test_exit_without_shutdown_ends_with_one(
    wire: Wire, trail: CompleteTrail, profile: str
) -> None:
    wire.initialize(trail.root, members_of(profile))
    uri = (trail.root / "src/auth.py").as_uri()
    wire.notify(
        "textDocument/didOpen",
        {"textDocument": {"uri": uri, "languageId": "x", "version": 1, "text": STORY}},
    )
    wire.notify("exit", None)
    wire.drain()
    assert wire.process.wait() == 1


def test_shutdown_and_exit_end_well(wire: Wire, trail: CompleteTrail, profile: str) -> None:
    wire.initialize(trail.root, members_of(profile))
    assert wire.request("shutdown", None)["result"] is None
    wire.notify("exit", None)
    wire.drain()
    assert wire.process.wait() == 0

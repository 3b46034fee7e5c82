"""Ids, YAML and the audit log: what no hostile or odd input may break."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vibes_lsp.errors import InvalidObject
from vibes_lsp.knowledge.audit_log import check_chain, last_events, read_events
from vibes_lsp.knowledge.changes import changing
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase, create_knowledge_base
from vibes_lsp.knowledge.object_format import (
    MemberSpans,
    Span,
    dump_page,
    dump_yaml,
    load_page,
    load_yaml,
)
from vibes_lsp.knowledge.objects import Claim, Kind, is_id, parse_object, slug

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
values = st.recursive(
    st.none() | st.booleans() | st.integers(1 - 2**63, 2**63 - 1) | texts,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(texts, children, max_size=3),
    max_leaves=8,
)


@given(texts)
def test_an_id_is_one_part_of_a_path(text: str) -> None:
    if is_id(text):
        for kind in (PurePosixPath, PureWindowsPath):
            assert kind("folder", text).parent == kind("folder")
            assert len(kind(text).parts) == 1
            assert not kind(text).is_absolute()


@pytest.mark.parametrize(
    "text", ["", ".", "..", "a/b", "a\\b", "a..b", ".a", "-a", "con", "NUL.x", "a b", "a:b", "a."]
)
def test_these_are_no_ids(text: str) -> None:
    assert not is_id(text)


@given(texts)
def test_every_text_has_an_id(text: str) -> None:
    assert is_id(slug(text))


def test_texts_of_other_scripts_get_ids_that_differ() -> None:
    assert slug("キャッシュ") != slug("データベース")
    assert slug("Über JWT!") == "uber-jwt"


@given(st.dictionaries(texts, values, max_size=5))
def test_what_is_written_is_read(members: dict[str, object]) -> None:
    assert load_yaml(dump_yaml(members), "x") == members


@given(st.dictionaries(texts.filter(lambda name: name != "body"), values, min_size=1), texts)
def test_a_page_that_is_written_is_read(members: dict[str, object], body: str) -> None:
    body = body.replace("\r", "")
    assert load_page(dump_page({**members, "body": body}), "x") == {**members, "body": body}


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [1]\nb: *a\n",
        "a: " + "[" * 60 + "]" * 60,
        "a: " + "{b: " * 60 + "1" + "}" * 60,
        "\n".join(" " * number + "a:" for number in range(80)),
        "- " * 200 + "a",
        "? a\n: " + "- " * 60_000 + "x",
        "\ufeff" + "- " * 60_000,
        "a: !t " + "- !t " * 60_000,
        "- &a " * 60_000,
        "-\t" * 60_000,
        "\u2028".join(" " * number + "- -" for number in range(0, 1500, 3)),
        "[a: " * 60_000,
        ": " * 60_000,
        "a:\n" + "".join(" " * number + "?\n" for number in range(1, 1500)),
        "a: " + "[: " * 60 + "]" * 60,
        "a: " + "1:" * 300 + "1.5",
        "a: 1" + "0" * 400 + ".5",
        "a: " + "1:" * 30_000 + "1",
        "a: " + "1" * 65,
        "a: !!bool maybe",
        "a: !!int ''",
        "a: !!float ''",
        "a: !!int _",
        "a: !!timestamp now",
        "a: 2026-99-99",
        "a: 2026-01-01T00:00:00+99:99",
        "a: !!python/object/apply:os.system [ls]",
        "a: [1\n",
        "\x00",
        "x" * (5 << 20),
    ],
    ids=str.split,
)
def test_hostile_yaml_is_refused(text: str) -> None:
    with pytest.raises(InvalidObject, match=r"^name"):
        load_yaml(text.encode(), "name")


tags = "bool int float null str binary timestamp seq map set omap merge value"


@given(
    st.sampled_from(["", *(f"!!{tag} " for tag in tags.split(" "))]),
    st.text("0123456789abexo_:.+-TZ ~<=", max_size=80) | st.text(max_size=20),
)
def test_any_scalar_is_read_or_refused(tag: str, scalar: str) -> None:
    for text in (f"a: {tag}{scalar}", f"{tag}{scalar}: a", f"a: {tag}{scalar!r}"):
        with suppress(InvalidObject):
            load_yaml(text.encode("utf-8", "replace"), "x")


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 60_000, "a: \ud800", "a: *b", "a: [1"])
def test_a_text_that_is_no_object_has_no_places(text: str) -> None:
    assert MemberSpans(text).of(("a",)) == Span(0)
    assert MemberSpans(f"---\n{text}\n---\n").of(("a",)) == Span(0)


def test_a_scalar_is_found_where_it_is() -> None:
    assert MemberSpans("id: x\ntext: word\n").of(("text",)) == Span(1, 6, 10)


def test_a_stored_scope_of_a_newer_version_and_unknown_members_are_kept() -> None:
    members = {
        "id": "a",
        "text": "A claim",
        "scope": {"visibility": "team", "project": None, "agent": "x"},
        "auto_approved": False,
        "evidence": [],
    }
    claim = parse_object(Kind.CLAIM, members, default_time=NOW)
    assert isinstance(claim, Claim)
    changed = claim.model_copy(update={"last_confirmed_at": NOW}).members()
    assert {name: changed[name] for name in members} == members


@pytest.fixture
def knowledge(tmp_path: Path) -> KnowledgeBase:
    return create_knowledge_base(tmp_path)


def record(knowledge: KnowledgeBase, event: str, *ids: str) -> None:
    with changing(knowledge, "a", NOW) as change:
        change.record(event, ids)


def test_each_change_of_the_log_is_found(knowledge: KnowledgeBase) -> None:
    for number in range(5):
        record(knowledge, f"claim.{number}", "ä\u2028")
    assert check_chain(knowledge) == (None, 0)
    lines = knowledge.audit_log.read_bytes().splitlines(keepends=True)
    for number in range(4):
        changed = json.loads(lines[number]) | {"actor": "b"}
        others = [*lines[:number], json.dumps(changed).encode() + b"\n", *lines[number + 1 :]]
        for content in (others, [*lines[:number], *lines[number + 1 :]]):
            knowledge.audit_log.write_bytes(b"".join(content))
            fault, _ = check_chain(knowledge)
            assert fault is not None
            assert fault.line == number + 1


def test_a_line_that_was_cut_does_not_swallow_the_next_event(knowledge: KnowledgeBase) -> None:
    record(knowledge, "claim.create")
    with knowledge.audit_log.open("ab") as file:
        file.write(b'{"id": "cut')
    record(knowledge, "claim.confirm")
    assert [each["event"] for each in read_events(knowledge)] == ["claim.create", "claim.confirm"]


def test_a_lone_carriage_return_ends_no_event(knowledge: KnowledgeBase) -> None:
    record(knowledge, "claim.create")
    log = knowledge.audit_log
    log.write_bytes(log.read_bytes().replace(b'{"', b'{\r"', 1))
    record(knowledge, "claim.confirm")
    for events in (list(read_events(knowledge)), last_events(knowledge, 9)):
        assert [event["event"] for event in events] == ["claim.create", "claim.confirm"]
    assert check_chain(knowledge) == (None, 0)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 3000))
def test_the_last_events_are_those_at_the_end(
    tmp_path_factory: pytest.TempPathFactory, count: int, tail: int, length: int
) -> None:
    knowledge = KnowledgeBase(tmp_path_factory.mktemp("kb"))
    lines = [json.dumps({"id": number, "x": "y" * length}) for number in range(count)]
    knowledge.audit_log.write_text("".join(f"{line}\n" for line in lines))
    found = [each["id"] for each in last_events(knowledge, tail)]
    assert found == list(range(count))[max(0, count - tail) :]

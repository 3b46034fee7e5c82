"""Reviews: a session of the reviewer, and an edge from each annotation to it (R6)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.trails import Repository, anchors
from tests.unit.recording.projects import SOURCE, Project, session_origin
from tests.unit.recording.request_builders import review_request
from vibes_lsp.anchors.location import Method
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import UnknownId, UnreadableFile
from vibes_lsp.placing.project_locator import ProjectLocator
from vibes_lsp.recording import (
    Model,
    NotAsShown,
    Prompt,
    PromptType,
    RecordReview,
    ReviewScope,
    Shown,
    Tool,
    WrongArgument,
)
from vibes_lsp.recording.results import Reviewed
from vibes_lsp.reports.placements import PlacementReport
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.trail.trail import Trail


@pytest.fixture
def annotated(project: Project) -> tuple[Project, str, str]:
    """A project with two annotations: lines 4 to 6, and 9 to 10."""
    session = project.session()
    first, second = (project.annotate(session, start, end) for start, end in ((4, 6), (9, 10)))
    return project, first, second


def test_a_review_is_a_persons_session_with_an_edge(
    annotated: tuple[Project, str, str],
) -> None:
    project, first, _ = annotated
    done = project.recorder.execute(
        review_request("approved", "a.py", (6, 6), note="Good.", reviewer="Ada")
    )
    assert done.reviewed == (first,)
    start, end = project.records("session")[1:]
    assert (start["agent_type"], start["agent_name"], end["session_id"]) == (
        "human",
        "Ada",
        start["session_id"],
    )
    environment = project.entry(start["environment_hash"])
    assert (environment["tool_name"], environment["model_name"]) == ("vibes-lsp", "none")
    edge = project.records("edge")[-1]
    assert edge["annotation_id"] == done.edges[0]
    assert (edge["edge_type"], edge["source_ref"], edge["source_type"]) == (
        "reviewed_by",
        first,
        "annotation",
    )
    assert (edge["target_ref"], edge["target_type"]) == (start["session_id"], "session")
    assert edge["metadata"] == {
        "verdict": "approved",
        "reviewer": "Ada",
        "kind": "human",
        "text": anchors(SOURCE, 4, 6).members()["anchor_hash"],
        "note": "Good.",
    }


def test_a_review_covers_every_annotation_that_the_lines_touch(
    annotated: tuple[Project, str, str],
) -> None:
    project, first, second = annotated
    assert project.recorder.execute(
        review_request("rejected", "a.py", (6, 9), reviewer="Ada")
    ).reviewed == (first, second)


def test_history_is_not_reviewed(annotated: tuple[Project, str, str]) -> None:
    project, _, _ = annotated
    newer = project.annotate("s1", 3, 7, "modify")
    assert project.recorder.execute(
        review_request("approved", "a.py", (4, 6), reviewer="Ada")
    ).reviewed == (newer,)


def test_a_review_is_of_the_current_text(
    annotated: tuple[Project, str, str],
) -> None:
    project, first, _ = annotated
    changed = "# above\n" + SOURCE.replace("hexdigest", "digest")
    once = project.recorder.execute(
        review_request("approved", "a.py", (5, 5), reviewer="Ada", text=changed)
    )
    assert (
        project.recorder.execute(
            review_request(
                "approved", "a.py", annotation_ids=(first,), reviewer="Ada", text=changed
            )
        )
        == once
    )
    project.recorder.execute(review_request("approved", annotation_ids=(first,), reviewer="Ada"))
    texts = [
        edge["metadata"]["text"]
        for edge in project.records("edge")
        if edge["edge_type"] == "reviewed_by"
    ]
    now, then = (
        anchors(changed, 5, 6).members()["anchor_hash"],
        anchors(SOURCE, 4, 6).members()["anchor_hash"],
    )
    assert texts == [now, then]


def test_the_reviewer_is_gits_user(annotated: tuple[Project, str, str]) -> None:
    project, _, second = annotated
    Repository(project.root).git("config", "user.name", "Grace Example")
    project.recorder.execute(review_request("approved", annotation_ids=(second,)))
    assert project.records("edge")[-1]["metadata"]["reviewer"] == "Grace Example"


@pytest.mark.parametrize(
    ("review", "error"),
    [
        (
            ("perhaps", {"path": "a.py", "lines": (4, 4)}),
            "verdict: expected approved or rejected",
        ),
        (
            ("approved", {"path": "a.py", "lines": (1, 2)}),
            r"no annotation is on lines 1 to 2 of a\.py",
        ),
        (("approved", {"path": "a.py"}), "annotation_ids: are required"),
        (
            ("approved", {"annotation_ids": ("ab" * 32,)}),
            "no annotation has the id abab",
        ),
    ],
)
def test_an_invalid_review_is_refused(
    annotated: tuple[Project, str, str], review: tuple[str, dict[str, Any]], error: str
) -> None:
    project = annotated[0]
    before = project.records()
    with pytest.raises((WrongArgument, UnknownId), match=error):
        project.recorder.execute(review_request(review[0], reviewer="Ada", **review[1]))
    assert project.records() == before


def test_lost_lines_cannot_be_reviewed(annotated: tuple[Project, str, str]) -> None:
    project, first, _ = annotated
    project.file("a.py", "nothing = 1\n")
    with pytest.raises(WrongArgument, match="are not found in"):
        project.recorder.execute(
            review_request("approved", annotation_ids=(first,), reviewer="Ada")
        )


def test_a_scope_extends_a_review(project: Project) -> None:
    first, second = project.session(), project.session()
    prompt = Prompt("Write them.", PromptType.USER_INSTRUCTION)
    project.file("b.py")
    project.file("gone.py")
    asked = [
        project.recorder.annotate_lines(
            path, start, end, "create", session_origin(session, prompt=said)
        ).annotation_id
        or ""
        for path, start, end, session, said in (
            ("a.py", 4, 6, first, prompt),
            ("a.py", 9, 10, second, None),
            ("b.py", 4, 6, second, prompt),
            ("gone.py", 4, 6, second, prompt),
        )
    ]
    (project.root / "gone.py").unlink()

    def review(scope: str, **more: Any) -> Reviewed:
        given = {"path": "a.py", "lines": (4, 4), **more}
        return project.recorder.execute(
            review_request("approved", reviewer="Ada", scope=ReviewScope(scope), **given)
        )

    assert review("annotation").reviewed == (asked[0],)
    assert set(review("file", lines=None).reviewed) == {asked[0], asked[1]}
    by_prompt = review("prompt")
    assert (set(by_prompt.reviewed), by_prompt.left_out) == ({asked[0], asked[2]}, (asked[3],))
    by_session = review("session", lines=(9, 9))
    assert (set(by_session.reviewed), by_session.left_out) == ({asked[1], asked[2]}, (asked[3],))
    with pytest.raises(WrongArgument, match="prompt_hash"):
        review("prompt", lines=(9, 9))


def test_a_review_is_of_the_lines_that_still_stand(project: Project) -> None:
    repository = Repository(project.root)
    identifier = project.annotate(project.session(), 4, 6)
    repository.commit("All", date="2026-02-03T11:00:00+00:00")
    changed = SOURCE.replace(
        "def digest(data):",
        "def fingerprint(data: bytes, *, salt: bytes = b'') -> str:\n    data += salt",
    )
    project.file("a.py", changed)
    project.recorder.execute(
        review_request("approved", annotation_ids=(identifier,), reviewer="Ada")
    )
    trail = Trail(AuditDir(project.root / ".ai-audit"))
    trail.refresh()
    text = Text(changed)
    with ProjectLocator(trail) as locator:
        (placement,) = locator.locate("a.py", text)
    assert placement.located.method == Method.LINE_HASHES
    facts = PlacementReport(trail, text).placement(placement)
    assert isinstance(facts["review"], dict)
    assert facts["review"]["stale"] is False


def edges(project: Project) -> list[Any]:
    return [
        edge["metadata"] for edge in project.records("edge") if edge["edge_type"] == "reviewed_by"
    ]


def test_the_same_verdict_again_changes_nothing(annotated: tuple[Project, str, str]) -> None:
    project, first, second = annotated
    done = project.recorder.execute(
        review_request("approved", annotation_ids=(first,), reviewer="Ada", note="Good.")
    )
    before = project.records()
    assert (
        project.recorder.execute(
            review_request("approved", annotation_ids=(first,), reviewer="Ada", note="Good.")
        )
        == done
    )
    assert project.records() == before
    both = project.recorder.execute(
        review_request("approved", annotation_ids=(first, second), reviewer="Ada", note="Good.")
    )
    assert (both.reviewed, both.edges[0]) == ((first, second), done.edges[0])
    assert len(edges(project)) == 2


@pytest.mark.parametrize(
    "other",
    [
        review_request("rejected", "a.py", (4, 4), reviewer="Ada"),
        review_request("approved", "a.py", (4, 4), reviewer="Grace"),
        review_request("approved", "a.py", (4, 4), reviewer="Ada", note="Now with a note."),
        review_request(
            "approved", "a.py", (4, 4), reviewer="Ada", text=SOURCE.replace("hexdigest", "digest")
        ),
    ],
)
def test_another_verdict_and_a_return_to_the_first_are_recorded(
    annotated: tuple[Project, str, str], other: RecordReview
) -> None:
    project = annotated[0]
    mine = review_request("approved", "a.py", (4, 4), reviewer="Ada")
    for reviewing in (mine, other, mine):
        project.recorder.execute(reviewing)
    assert len(edges(project)) == 3
    assert edges(project)[0] == edges(project)[2]


def test_an_ai_review_is_recorded_as_one(annotated: tuple[Project, str, str]) -> None:
    project, first, second = annotated
    tool, model = Tool("review-bot", "2.0"), Model("some-model", "1")
    project.recorder.execute(
        review_request(
            "approved", annotation_ids=(first,), reviewer_kind="ai", tool=tool, model=model
        )
    )
    assert (edges(project)[-1]["reviewer"], edges(project)[-1]["kind"]) == ("some-model", "ai")
    start, end = project.records("session")[-2:]
    assert (start["agent_type"], start["agent_name"], end["event"]) == (
        "reviewer",
        "some-model",
        "end",
    )
    assert project.entry(start["environment_hash"])["model_name"] == "some-model"
    mine = project.session(agent_name="Critic")
    before = project.records("session")
    project.recorder.execute(
        review_request("rejected", annotation_ids=(second,), reviewer_kind="ai", session_id=mine)
    )
    assert project.records("session") == before
    assert (edges(project)[-1]["reviewer"], project.records("edge")[-1]["target_ref"]) == (
        "Critic",
        mine,
    )


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"reviewer_kind": "ai"}, "tool: is required of an AI"),
        ({"reviewer_kind": "ai", "tool": Tool("t", "1")}, "model: is required of an AI"),
        (
            {"reviewer_kind": "ai", "tool": Tool("t", "1"), "model": Model("none", "1")},
            r"model\.name: must not be 'none'",
        ),
        (
            {"reviewer_kind": "ai", "session_id": "s1", "tool": Tool("t", "1")},
            "tool: is the session's",
        ),
        ({"reviewer_kind": "ai", "session_id": "never"}, "no session 'never' was started"),
        ({"reviewer_kind": "unknown"}, "reviewer_kind: expected human or ai"),
        (
            {"model": Model("some-model", "1"), "reviewer": "Ada"},
            "model: is for an AI that reviews",
        ),
        ({"session_id": "s1", "reviewer": "Ada"}, "session_id: is for an AI that reviews"),
    ],
)
def test_a_reviewer_is_either_a_person_or_an_ai(
    annotated: tuple[Project, str, str], given: dict[str, Any], error: str
) -> None:
    project, first, _ = annotated
    before = project.records()
    with pytest.raises((WrongArgument, UnknownId), match=error):
        project.recorder.execute(review_request("approved", annotation_ids=(first,), **given))
    assert project.records() == before


def test_an_ai_does_not_review_in_a_persons_session(annotated: tuple[Project, str, str]) -> None:
    project, first, _ = annotated
    project.recorder.execute(review_request("approved", annotation_ids=(first,), reviewer="Ada"))
    person = project.records("session")[-1]["session_id"]
    with pytest.raises(WrongArgument, match="is a person's session"):
        project.recorder.execute(
            review_request(
                "approved", annotation_ids=(first,), reviewer_kind="ai", session_id=person
            )
        )


def test_a_verdict_on_changed_lines_is_refused(annotated: tuple[Project, str, str]) -> None:
    project, first, second = annotated
    shown = {
        each: Shown("a.py", str(anchors(SOURCE, start, end).members()["anchor_hash"]))
        for each, start, end in ((first, 4, 6), (second, 9, 10))
    }
    project.file("a.py", "# above\n" + SOURCE.replace("hexdigest", "digest"))
    before = project.records()
    with pytest.raises(NotAsShown, match=rf"a\.py: the lines of {first[:8]} have changed"):
        project.recorder.execute(
            review_request("approved", annotation_ids=(first, second), reviewer="Ada", shown=shown)
        )
    assert project.records() == before
    done = project.recorder.execute(
        review_request("approved", annotation_ids=(second,), reviewer="Ada", shown=shown)
    )
    assert done.reviewed == (second,)


def test_shown_names_the_file_of_an_annotation(project: Project) -> None:
    repository = Repository(project.root)
    identifier = project.annotate(project.session(), 4, 6)
    repository.commit("All", date="2026-02-03T11:00:00+00:00")
    repository.git("mv", "a.py", "b.py")
    repository.commit("Rename", date="2026-02-03T12:00:00+00:00")
    shown = {identifier: Shown("b.py", str(anchors(SOURCE, 4, 6).members()["anchor_hash"]))}
    with pytest.raises(UnreadableFile, match=r"a\.py does not exist"):
        project.recorder.execute(
            review_request("approved", annotation_ids=(identifier,), reviewer="Ada")
        )
    assert project.recorder.execute(
        review_request("approved", annotation_ids=(identifier,), reviewer="Ada", shown=shown)
    ).reviewed == (identifier,)

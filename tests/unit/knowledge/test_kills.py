"""A program that is killed before any of its writes leaves all of a change, or none."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.vouch.programs import EACH_REFERENCE, reference_command
from tests.conformance.vouch.test_interoperation import vouch
from vibes_lsp.errors import DecidedOtherwise, VibesError
from vibes_lsp.knowledge.audit_log import check_chain, event_hash, read_events
from vibes_lsp.knowledge.bundles import export_bundle, import_bundle
from vibes_lsp.knowledge.changes import changing, complete_changes
from vibes_lsp.knowledge.health import doctor
from vibes_lsp.knowledge.knowledge_base import KnowledgeBase, create_knowledge_base
from vibes_lsp.knowledge.methods import KnowledgeMethods
from vibes_lsp.knowledge.object_index import ObjectIndex
from vibes_lsp.knowledge.objects import Kind
from vibes_lsp.store import files

pytestmark = [
    pytest.mark.skipif(os.name == "nt", reason="kills forked processes"),
]

NOW = datetime(2026, 11, 22, 10, tzinfo=UTC)
WRITES = ("link", "replace", "rename", "unlink", "write", "fsync", "mkdir")

Call = Callable[..., Any]


def kill_at(step: int, work: Callable[[], object], *, within: bool = False) -> bool:
    """Do something in a process that is killed at its n-th write; return whether it was.

    Args:
        step: The number of the write.
        work: What to do.
        within: Whether half of the bytes are written before the kill, where it writes bytes.
    """
    child = os.fork()
    if child == 0:
        left = [step]

        def killing(original: Call, *, cuts: bool) -> Call:
            def call(*arguments: Any, **options: Any) -> Any:
                if left[0] == 0:
                    if cuts and within:
                        original(arguments[0], arguments[1][: len(arguments[1]) // 2])
                    os.kill(os.getpid(), signal.SIGKILL)
                left[0] -= 1
                return original(*arguments, **options)

            return call

        for name in WRITES:
            setattr(os, name, killing(getattr(os, name), cuts=name == "write"))
        try:
            with suppress(VibesError):
                work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


class Prepared:
    """A knowledge base with two claims, a proposal in an open session, and a bundle to import."""

    def __init__(self, project: Path) -> None:
        project.mkdir()
        self.knowledge = create_knowledge_base(project)
        (project / "auth.py").write_text("import jwt\n")
        self.call("person", "register_source", content="Tokens are signed.", locator="note")
        self.source = hashlib.sha256(b"Tokens are signed.").hexdigest()
        for text in ("One", "Two"):
            proposed = self.propose(text)
            self.call("person", "approve", proposal_id=proposed)
        self.session = self.call("agent", "session_start", task="look")["session_id"]
        self.pending = self.propose("Three", session_id=self.session)
        self.bundle = project / "other.tar.gz"
        self._export(project.with_name(f"{project.name}-other"))

    def _export(self, project: Path) -> None:
        """Write a bundle whose claims differ from ours, and refer to each other."""
        shutil.copytree(self.knowledge.project, project)
        other = KnowledgeBase(project / ".vouch")
        evidence = [{"path": "auth.py", "locator": "L1"}]
        proposed = called(other, "agent", "propose_claim", text="Four", evidence=evidence)
        called(other, "person", "approve", proposal_id=proposed["proposal_id"])
        called(other, "person", "contradict", a_id="one", b_id="four")
        called(other, "person", "supersede", old_id="two", new_id="four")
        export_bundle(other, self.bundle, actor="person", now=NOW)

    def call(self, actor: str, method: str, **params: Any) -> Any:
        return called(self.knowledge, actor, method, **params)

    def propose(self, text: str, **params: Any) -> str:
        result = self.call("agent", "propose_claim", text=text, evidence=[self.source], **params)
        assert result["valid"], result
        return str(result["proposal_id"])


def called(knowledge: KnowledgeBase, actor: str, method: str, **params: Any) -> Any:
    methods = KnowledgeMethods(knowledge, actor, now=lambda: NOW)
    try:
        return methods.call(f"kb.{method}", params)
    finally:
        methods.close()


def propose_with_evidence(base: Prepared) -> object:
    evidence = [{"path": "auth.py", "locator": "L1"}]
    return base.call("agent", "propose_claim", text="Four", evidence=evidence)


def import_all(base: Prepared) -> object:
    return import_bundle(
        base.knowledge, base.bundle, actor="person", now=NOW, on_conflict="overwrite"
    )


CHANGES: dict[str, Callable[[Prepared], object]] = {
    "propose": propose_with_evidence,
    "approve": lambda base: base.call("person", "approve", proposal_id=base.pending),
    "reject": lambda base: base.call("person", "reject", proposal_id=base.pending, reason="no"),
    "supersede": lambda base: base.call("person", "supersede", old_id="one", new_id="two"),
    "contradict": lambda base: base.call("person", "contradict", a_id="one", b_id="two"),
    "archive": lambda base: base.call("person", "archive", id="one", reason="old"),
    "confirm": lambda base: base.call("person", "confirm", id="one"),
    "cite": lambda base: base.call(
        "person", "cite", id="one", evidence=[{"path": "auth.py", "locator": "L1"}]
    ),
    "register": lambda base: base.call("agent", "register_source", content="new", locator="n"),
    "session end": lambda base: base.call("agent", "session_end", session_id=base.session),
    "crystallize": lambda base: base.call("person", "crystallize", session_id=base.session),
    "import": import_all,
}


def state(knowledge: KnowledgeBase) -> dict[str, bytes]:
    """Return the files of a knowledge base but for its log; names that differ by chance are cut."""
    return {
        path.relative_to(knowledge.path).as_posix(): path.read_bytes()
        for path in sorted(knowledge.path.rglob("*"))
        if path.is_file() and not path.name.startswith("audit.log")
    }


def events(knowledge: KnowledgeBase) -> list[tuple[str, tuple[str, ...]]]:
    return [(each["event"], tuple(each["object_ids"])) for each in read_events(knowledge)]


def claims(knowledge: KnowledgeBase) -> dict[str, bytes]:
    return {name: data for name, data in state(knowledge).items() if name.startswith("claims/")}


def errors(knowledge: KnowledgeBase) -> list[str]:
    with closing(ObjectIndex(knowledge)) as index:
        index.refresh()
        found = doctor(knowledge, index, NOW)
    return [each.message for each in found if each.severity == "error"]


def like(files: dict[str, bytes]) -> Counter[str]:
    """Return the folders and contents of files, without ids that are made by chance."""
    return Counter(
        name.split("/")[0] if name.startswith(("proposed", "sessions")) else name for name in files
    )


@pytest.mark.parametrize(
    ("name", "within"), [*((name, False) for name in CHANGES), ("approve", True), ("import", True)]
)
def test_a_kill_at_any_write_leaves_all_of_a_change_or_none(
    name: str, within: bool, tmp_path: Path
) -> None:
    base = Prepared(tmp_path / "base")
    knowledge = base.knowledge
    pristine = tmp_path / "pristine"
    shutil.copytree(knowledge.path, pristine)
    before, log = state(knowledge), events(knowledge)
    CHANGES[name](base)
    after, full_log = state(knowledge), events(knowledge)
    assert len(full_log) > len(log)
    outcomes: Counter[str] = Counter()
    step, was_killed = 0, True
    while was_killed:
        shutil.rmtree(knowledge.path)
        shutil.copytree(pristine, knowledge.path)
        was_killed = kill_at(step, lambda: CHANGES[name](base), within=within)
        complete_changes(knowledge)  # what any next request does
        found, events_found = state(knowledge), events(knowledge)
        assert errors(knowledge) == []
        assert check_chain(knowledge) == (None, 0)
        names = [each for each, _ in events_found[len(log) :]]
        leftovers = [each for each in found if "/.change/" in each]
        visible = {each: data for each, data in found.items() if each not in leftovers}
        if names == [each for each, _ in full_log[len(log) :]]:
            assert like(visible) == like(after)
            outcomes["all"] += 1
        elif name == "crystallize" and names:  # one change for each proposal, one for the page
            outcomes["some"] += 1
        else:
            assert names == []
            assert visible == before
            outcomes["none"] += 1
        with changing(knowledge, "person", NOW):
            pass
        assert state(knowledge) == visible  # the next writer clears what was staged
        step += 1
    assert outcomes["all"] > 1
    assert outcomes["none"] > 1
    assert step > 5


@pytest.mark.parametrize("version", EACH_REFERENCE)
def test_the_reference_finds_nothing_wrong_after_a_kill(version: str, tmp_path: Path) -> None:
    reference_command(version)
    for number, name in enumerate(("approve", "supersede", "import", "crystallize")):
        for step in (4, 9, 14):
            base = Prepared(tmp_path / f"{number}-{step}")
            kill_at(step, lambda name=name, base=base: CHANGES[name](base))  # type: ignore[misc]
            complete_changes(base.knowledge)
            done = vouch(version, base.knowledge.project, "doctor")
            assert "[error" not in done.stdout.lower(), done.stdout
            assert done.returncode == 0, done.stdout


def test_the_opposite_of_a_decision_that_was_begun_is_refused(tmp_path: Path) -> None:
    base = Prepared(tmp_path / "base")
    pristine = tmp_path / "pristine"
    shutil.copytree(base.knowledge.path, pristine)
    refused, step, was_killed = 0, 0, True
    while was_killed:
        shutil.rmtree(base.knowledge.path)
        shutil.copytree(pristine, base.knowledge.path)
        was_killed = kill_at(step, lambda: CHANGES["approve"](base))
        try:
            CHANGES["reject"](base)
        except DecidedOtherwise:
            refused += 1
        assert errors(base.knowledge) == []
        step += 1
    assert 0 < refused < step


def sealed(base: Prepared, name: str = "approve") -> Path:
    """Leave a change that has begun, with no file written yet; return the folder of its journal."""
    folder = base.knowledge.path / "proposed" / ".change"
    for step in range(100):
        kill_at(step, lambda: CHANGES[name](base))
        if (folder / "seal").exists():
            return folder
    raise AssertionError("no step leaves a seal")


def test_a_change_that_a_repository_ships_does_not_happen(tmp_path: Path) -> None:
    """All files of an approval that has begun are in a clone: nobody there approved anything."""
    base = Prepared(tmp_path / "base")
    sealed(base)
    clone = tmp_path / "clone"
    shutil.copytree(base.knowledge.project, clone)
    shipped = KnowledgeBase(clone / ".vouch")
    log = shipped.audit_log.read_bytes()
    complete_changes(shipped)
    assert not shipped.exists(Kind.CLAIM, "three")
    assert not shipped.exists(Kind.DECISION, base.pending)
    assert shipped.audit_log.read_bytes() == log
    complete_changes(base.knowledge)
    assert base.knowledge.exists(Kind.CLAIM, "three")


def test_what_another_program_wrote_after_the_crash_stays(tmp_path: Path) -> None:
    base = Prepared(tmp_path / "base")
    folder = sealed(base, "confirm")
    path = base.knowledge.file_of(Kind.CLAIM, "one")
    changed = path.read_bytes().replace(b"text: One", b"text: Uno")
    path.write_bytes(changed)
    complete_changes(base.knowledge)
    assert path.read_bytes() == changed
    assert list(folder.iterdir()) == []
    assert errors(base.knowledge) == []


@pytest.mark.parametrize("name", ["approve", "confirm"])
def test_a_folder_that_takes_no_name_for_now_loses_no_part_of_a_change(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a quota that is reached when the staged files get their names."""
    base, other = Prepared(tmp_path / "base"), Prepared(tmp_path / "other")
    CHANGES[name](other)
    folder = base.knowledge.path / Kind.CLAIM

    def refusing(real: Call) -> Call:
        def call(source: Path, target: Path) -> None:
            if target.parent == folder:
                raise OSError(errno.EDQUOT, "Disk quota exceeded")
            real(source, target)

        return call

    with monkeypatch.context() as patch:
        patch.setattr(os, "link", refusing(os.link))
        patch.setattr(os, "replace", refusing(os.replace))
        patch.setattr(files, "_copy_new", refusing(files._copy_new))
        with pytest.raises((VibesError, OSError), match="quota"):
            CHANGES[name](base)
    complete_changes(base.knowledge)
    assert events(base.knowledge)[-1][0] == events(other.knowledge)[-1][0]
    assert claims(base.knowledge) == claims(other.knowledge)
    assert errors(base.knowledge) == []


def test_events_that_another_program_appended_after_the_crash_stay(tmp_path: Path) -> None:
    base = Prepared(tmp_path / "base")
    sealed(base, "approve")
    previous = base.knowledge.audit_log.read_bytes().splitlines()[-1]
    event = {"id": "theirs", "event": "claim.confirm", "prev_hash": json.loads(previous)["hash"]}
    event["hash"] = event_hash(event)
    with base.knowledge.audit_log.open("a") as log:
        log.write(json.dumps(event) + "\n")
    complete_changes(base.knowledge)
    assert check_chain(base.knowledge) == (None, 0)
    names = [each["event"] for each in read_events(base.knowledge)]
    assert names[-3:] == ["claim.confirm", "proposal.approve", "claim.create"]


@pytest.mark.parametrize("name", ["approve", "confirm"])
@pytest.mark.parametrize("kept", [0, 2, -1])
def test_an_interrupted_change_continues_a_log_that_got_shorter(
    tmp_path: Path, name: str, kept: int
) -> None:
    """As after `git checkout` or `git stash` of the log."""
    base = Prepared(tmp_path / "base")
    sealed(base, name)
    lines = base.knowledge.audit_log.read_bytes().splitlines(keepends=True)
    base.knowledge.audit_log.write_bytes(b"".join(lines[:kept]))
    before = [each["id"] for each in read_events(base.knowledge)]
    complete_changes(base.knowledge)
    assert check_chain(base.knowledge) == (None, 0)
    events = list(read_events(base.knowledge))
    assert [each["id"] for each in events[: len(before)]] == before
    expected = {"approve": ["proposal.approve", "claim.create"], "confirm": ["claim.confirm"]}
    assert [each["event"] for each in events[len(before) :]] == expected[name]


def test_an_interrupted_change_continues_another_log_of_the_same_size(tmp_path: Path) -> None:
    base = Prepared(tmp_path / "base")
    sealed(base, "approve")
    log, previous = b"", "0" * 64
    for event in list(read_events(base.knowledge)):
        event |= {"id": event["id"][::-1], "prev_hash": previous}
        previous = event["hash"] = event_hash(event)
        log += json.dumps(event, separators=(",", ":"), sort_keys=True).encode() + b"\n"
    assert len(log) == base.knowledge.audit_log.stat().st_size
    base.knowledge.audit_log.write_bytes(log)
    assert check_chain(base.knowledge) == (None, 0)
    complete_changes(base.knowledge)
    assert check_chain(base.knowledge) == (None, 0)
    names = [each["event"] for each in read_events(base.knowledge)]
    assert names[-2:] == ["proposal.approve", "claim.create"]

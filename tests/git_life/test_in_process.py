"""The hook in this process is asked before each commit, and can stop it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typing_extensions import override

from tests.git_life.history import Refused
from tests.git_life.in_process import Committing, InProcessHook
from tests.git_life.life import Case, Life, lived
from tests.git_life.nothing import Nothing

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the hook needs named pipes")


class Hooked(Nothing):
    """Notes which commits its hook has seen; refuses while `refuses` is set."""

    refuses = False

    def __init__(self, environment: dict[str, str]) -> None:
        super().__init__(environment)
        self.seen: list[Committing] = []
        self.hook = InProcessHook(Path(environment["HOME"]), self._prepare)

    @override
    def init(self, root: Path) -> None:
        self.hook.install(root / ".git" / "hooks")

    @override
    def close(self) -> None:
        self.hook.close()

    def _prepare(self, committing: Committing) -> None:
        self.seen.append(committing)
        if self.refuses:
            raise ValueError("refused")


def test_the_hook_is_asked_before_each_commit() -> None:
    def plan(life: Life) -> None:
        life.work.ai()
        life.commit()
        life.work.person()
        life.work.commit(only=[life.work.a_file()])
        life.work.ai()
        life.work.commit("--no-verify")

    with lived(Case("amend", 1), Hooked, plan=plan) as life:
        subject = life.history.subject
        assert isinstance(subject, Hooked)
        assert [committing.root for committing in subject.seen] == [life.work.path] * 2
        assert subject.seen[0].staged.name == "index"
        assert subject.seen[1].staged.name.startswith("next-index")
        assert not subject.hook.failures


def test_a_hook_that_fails_stops_the_commit() -> None:
    def plan(life: Life) -> None:
        subject = life.history.subject
        assert isinstance(subject, Hooked)
        life.work.ai()
        subject.refuses = True
        with pytest.raises(Refused):
            life.work.commit()
        subject.refuses = False
        life.work.commit()
        assert len(subject.hook.failures) == 1

    with lived(Case("amend", 1), Hooked, plan=plan):
        pass

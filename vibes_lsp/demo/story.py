"""Records the sample repository of `vibes demo`, a small shop.

Three AI tools write at three assurance levels, a person reviews, then people change the code.
Clock and ids are fixed, so that the audit trail and the commits are always the same.
"""

from __future__ import annotations

import itertools
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from vibes_lsp import __version__
from vibes_lsp.demo import sources
from vibes_lsp.errors import RefusedWrite
from vibes_lsp.git.repository import init_repository
from vibes_lsp.git.staging import CommitAuthor, create_commit, stage_all
from vibes_lsp.maintenance.pre_commit import prepare_commit
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.recording import (
    Command,
    CommandType,
    Confidence,
    Decision,
    DecisionOption,
    EndSession,
    Function,
    Model,
    Origin,
    Position,
    Prompt,
    PromptType,
    Range,
    Reasoning,
    RecordAnnotation,
    RecordDelegation,
    Recorder,
    RecordInlineCompletion,
    RecordRead,
    RecordReview,
    ReviewScope,
    RiskSignal,
    StartSession,
    Tool,
    Verdict,
)
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.initialise import initialise
from vibes_lsp.store.trail_search import AUDIT_DIR_NAME
from vibes_lsp.trail.trail import Trail

ADA: Final = CommitAuthor("Ada Example", "ada@example.org")
_BEGIN: Final = datetime(2026, 2, 3, 9, 0, tzinfo=UTC)
_COPILOT: Final = Tool("Copilot", "1.312.0"), Model("gpt-5-mini", "2025-08")
_CURSOR: Final = Tool("Cursor", "2.4.1"), Model("gpt-5.2-codex", "2026-01")
_CLAUDE: Final = (
    Tool("Claude Code", "2.1.0"),
    Model("claude-opus-4-5", "20251101", {"temperature": 1}),
)
_CONFIG: Final = """\
{{
  "standard": "VIBES",
  "standard_version": "1.0",
  "assurance_level": "{level}",
  "project_name": "shop",
  "tracked_extensions": [".py", ".ts"],
  "risk_scoring": {{
    "enabled": true,
    "thresholds": {{"low": 0.0, "medium": 0.3, "high": 0.6, "critical": 0.8}},
    "weights": {{"org:security_sensitive": 3}}
  }}
}}
"""


@dataclass(frozen=True, slots=True)
class Demo:
    """The finished sample repository.

    Attributes:
        root: The repository.
        hashing: Id of the annotation with critical risk and no review.
        review: Id of the edge that reviews the other annotation of its file.
    """

    root: Path
    hashing: str
    review: str


def create_demo(root: Path) -> Demo:
    """Create the repository in a folder; people change its code after the last commit.

    Args:
        root: The folder, absolute; created if missing.

    Raises:
        RefusedWrite: The folder is not empty, or cannot be created.
        HistoryUnavailable: Git is not installed, or fails.
    """
    try:
        root.mkdir(parents=True, exist_ok=True)
        if any(root.iterdir()):
            raise RefusedWrite(f"{root} is not empty", hint="name a new folder")
    except OSError as error:
        raise RefusedWrite(
            f"cannot create {root}: {error.strerror}", hint="name another folder"
        ) from error
    shop = _Shop(root)
    shop.initialise()
    shop.show_attempts()
    shop.limit_attempts()
    hashing, review = shop.add_accounts()
    shop.add_confirmation_mail()
    shop.change_code()
    trail = Trail(AuditDir(root / AUDIT_DIR_NAME))
    trail.refresh()
    lineage = trail.lineage_of(hashing)
    return Demo(root, hashing if lineage is None else lineage.current.id, review)


class _Shop:
    """The repository while its history is recorded."""

    def __init__(self, root: Path) -> None:
        self._root: Final = root
        self._time = _BEGIN
        self._numbers = itertools.count(1)

    def initialise(self) -> None:
        init_repository(self._root)
        self._write("README.md", "# Shop\n")
        self._write(
            "docs/accounts.md",
            "# Accounts\n\nAn address and a password. A mail confirms the address.\n",
        )
        initialised = initialise(
            self._root,
            project_name="shop",
            level=AssuranceLevel.LOW,
            extensions=None,
            tool_version=__version__,
            now=self._now(),
        )
        self._record_at(AssuranceLevel.LOW, initialised.directory)
        self._commit("Begin")

    def show_attempts(self) -> None:
        """Assurance level low: tool, model and command."""
        self._write("web/app.ts", sources.APP)
        with self._recorder() as recorder:
            session = recorder.execute(
                StartSession(tool=_COPILOT[0], model=_COPILOT[1], description="App")
            ).session_id
            command = Command("web/app.ts", CommandType.FILE_WRITE)
            recorder.annotate_lines(
                "web/app.ts", 1, 11, "create", Origin(session_id=session, command=command)
            )
            recorder.execute(EndSession(session_id=session))
        self._commit("Attempts in the app")
        self._commit("Show attempts in the app", amend=True)

    def limit_attempts(self) -> None:
        """Assurance level medium: the prompt as well."""
        self._record_at(AssuranceLevel.MEDIUM)
        self._write("src/limits.py", sources.LIMITS)
        with self._recorder() as recorder:
            session = recorder.execute(
                StartSession(tool=_CURSOR[0], model=_CURSOR[1], description="Limits")
            ).session_id
            origin = Origin(
                session_id=session,
                prompt=Prompt("Limit attempts: five an hour.", PromptType.CHAT_MESSAGE),
            )
            for start, end in ((3, 4), (7, 9), (12, 14)):
                recorder.annotate_lines("src/limits.py", start, end, "create", origin)
            recorder.execute(EndSession(session_id=session))
        self._commit("Limit attempts")

    def add_accounts(self) -> tuple[str, str]:
        """Assurance level high: reasoning, a decision, a delegation; one range is approved."""
        self._record_at(AssuranceLevel.HIGH)
        self._write("src/auth.py", sources.AUTH)
        with self._recorder() as recorder:
            session = recorder.execute(
                StartSession(tool=_CLAUDE[0], model=_CLAUDE[1], description="Accounts")
            ).session_id
            why = Reasoning(
                "A regular expression is enough here, a confirmation mail follows anyway.", 17
            )
            prompt = Prompt(
                "Create sign-up checks: a plausible address, a strong password.",
                PromptType.USER_INSTRUCTION,
                ("docs/accounts.md",),
            )
            recorder.annotate_lines(
                "src/auth.py",
                8,
                15,
                "create",
                Origin(session_id=session, prompt=prompt, reasoning=why),
            )
            origin = Origin(
                session_id=session,
                prompt=Prompt(
                    "Store passwords safely. Use what the standard library has.",
                    PromptType.USER_INSTRUCTION,
                    ("src/auth.py",),
                ),
                reasoning=Reasoning(
                    "hashlib has a digest and secrets a salt. The comparison is the caller's.", 16
                ),
                decision=_HOW_TO_STORE,
                signals=(RiskSignal("org:security_sensitive", 1, "stores passwords"),),
            )
            hashing = (
                recorder.annotate_lines("src/auth.py", 18, 22, "create", origin).annotation_id or ""
            )
            self._delegate_tests(recorder, session)
            recorder.execute(EndSession(session_id=session))
            reviewed = RecordReview(
                verdict=Verdict.APPROVED,
                file="src/auth.py",
                line_start=8,
                line_end=15,
                note="Good enough until the mail is confirmed.",
                reviewer=ADA.name,
            )
            review = recorder.execute(reviewed).edges[0]
            recorder.execute(_approval_of("tests/test_auth.py"))
        self._commit("Let people sign up")
        return hashing, review

    def _delegate_tests(self, recorder: Recorder, session: str) -> None:
        """Delegate the tests to a second agent."""
        self._write("tests/test_auth.py", sources.CHECKS)
        child = recorder.execute(
            RecordDelegation(
                parent_session_id=session,
                task_description="Test the checks of a password",
                delegated_files=("src/auth.py",),
                agent_name="tester",
                agent_type="sub-agent",
            )
        ).child_session_id
        recorder.execute(RecordRead(session_id=child, files=("src/auth.py",)))
        task = Prompt("Test the checks of a password.", PromptType.USER_INSTRUCTION)
        recorder.annotate_lines(
            "tests/test_auth.py", 6, 11, "create", Origin(session_id=child, prompt=task)
        )
        recorder.execute(EndSession(session_id=child))

    def add_confirmation_mail(self) -> None:
        """An inline completion that a person accepts, and a function after it."""
        self._write("src/mail.py", sources.MAIL_TYPED + "\n")
        with self._recorder() as recorder:
            typed = Prompt(sources.MAIL_TYPED, PromptType.INLINE_COMPLETION)
            completion = RecordInlineCompletion(
                file="src/mail.py",
                completion_id="completion-1",
                range=Range(Position(3, 0), Position(4, 0)),
                new_text=sources.MAIL_COMPLETED,
                tool=_COPILOT[0],
                model=_COPILOT[1],
                prompt=typed,
            )
            recorder.execute(completion)
            self._write("src/mail.py", sources.MAIL)
            session = recorder.execute(
                StartSession(tool=_CLAUDE[0], model=_CLAUDE[1], description="Mail")
            ).session_id
            prompt = Prompt(
                "A code is good for a quarter of an hour.",
                PromptType.CHAT_MESSAGE,
                ("src/mail.py",),
            )
            recorder.execute(
                RecordAnnotation(
                    file="src/mail.py",
                    function=Function("expired"),
                    action="create",
                    session_id=session,
                    prompt=prompt,
                )
            )
            recorder.execute(EndSession(session_id=session))
            recorder.execute(_approval_of("src/mail.py"))
        self._commit("Confirm addresses by mail")
        self._write("README.md", "# Shop\n\nSign up, confirm your address, buy.\n")
        self._commit("Say what it is for")

    def change_code(self) -> None:
        """People insert a block, edit a line, move a function and remove one."""
        self._write("src/auth.py", sources.edit_line(sources.insert_block(sources.AUTH)))
        self._write("src/limits.py", sources.move_function(sources.LIMITS))
        self._write("src/mail.py", sources.remove_function(sources.MAIL))

    def _record_at(self, level: AssuranceLevel, directory: AuditDir | None = None) -> None:
        config = (directory or AuditDir(self._root / AUDIT_DIR_NAME)).config
        config.write_bytes(_CONFIG.format(level=level.value).encode())

    def _commit(self, message: str, *, amend: bool = False) -> None:
        """Commit everything, with what the pre-commit hook does."""
        self._time += timedelta(minutes=10)
        stage_all(self._root)
        for prepared in prepare_commit(self._root, {}, now=self._now):
            for problem in prepared.problems:
                raise problem
        create_commit(self._root, message, ADA, self._time, amend=amend)

    def _recorder(self) -> Recorder:
        return Recorder(self._root, now=self._now, new_id=self._new_id)

    def _write(self, path: str, text: str) -> None:
        file = self._root / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(text.encode())

    def _now(self) -> datetime:
        self._time += timedelta(seconds=1)
        return self._time

    def _new_id(self) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"vibes demo {next(self._numbers)}"))


def _approval_of(path: str) -> RecordReview:
    return RecordReview(
        verdict=Verdict.APPROVED, file=path, scope=ReviewScope.FILE, reviewer=ADA.name
    )


_HOW_TO_STORE: Final = Decision(
    "How to store passwords",
    (
        DecisionOption("sha256", "Salted SHA-256", ("no dependency",), ("fast to guess",)),
        DecisionOption("argon2", "Argon2", ("made for it",), ("a dependency",)),
    ),
    "sha256",
    "The standard library was asked for.",
    Confidence.LOW,
)

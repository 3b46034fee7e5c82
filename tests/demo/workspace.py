"""The demonstration's repository: three tools, three levels of detail, a decision, a review, risk; then people change the code."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.demo import sources
from tests.trails.repository import Repository
from tests.trails.writer import TrailWriter

SCORING = {
    "enabled": True,
    "thresholds": {"low": 0.0, "medium": 0.3, "high": 0.6, "critical": 0.8},
    "weights": {"org:security_sensitive": 3},
}


@dataclass(frozen=True)
class Workspace:
    """Where the repository lies, and two records that the demonstration speaks of."""

    root: Path
    hashing: str
    review: str

    @property
    def audit(self) -> Path:
        """Its audit directory."""
        return self.root / ".ai-audit"

    def tamper(self) -> None:
        """Change a recorded prompt, and take the review out of the log."""
        manifest, log = self.audit / "manifest.json", self.audit / "annotations.jsonl"
        manifest.write_bytes(manifest.read_bytes().replace(b"Store passwords safely", b"Store passwords"))
        kept = [line for line in log.read_bytes().splitlines(keepends=True) if self.review.encode() not in line]
        log.write_bytes(b"".join(kept))

    def restore(self) -> None:
        """Put the trail back as it was committed."""
        Repository(self.root).git("checkout", "--quiet", "--", ".ai-audit")


def build(root: Path) -> Workspace:
    """Make the repository in an empty folder, and drift it.

    Args:
        root: The folder; created when it is not there.
    """
    repository = Repository(root.absolute())
    repository.write("README.md", "# Shop\n")
    repository.commit("Begin")
    trail = TrailWriter(root.absolute(), level="medium", project="shop", start="2026-02-03T09:01:00.000Z")
    trail.config(tracked_extensions=[".py", ".ts"], risk_scoring=SCORING)
    trail.housekeeping()
    trail.reviewer_environment()
    hashing, review = _accounts(trail, repository)
    _limits(trail, repository)
    repository.commit("Accounts, limits", date="2026-02-03T09:30:00+00:00")
    _app(trail, repository)
    repository.commit("Attempts in the app", date="2026-02-03T10:00:00+00:00")
    repository.git("commit", "--quiet", "--amend", "--message", "Show attempts in the app", date="2026-02-03T10:05:00+00:00")
    repository.write("src/auth.py", sources.edited(sources.inserted(sources.AUTH)))
    repository.write("src/limits.py", sources.moved(sources.LIMITS))
    return Workspace(root.absolute(), hashing, review)


def _accounts(trail: TrailWriter, repository: Repository) -> tuple[str, str]:
    """High assurance: prompt, reasoning, a decision, a review, a critical risk."""
    repository.write("src/auth.py", sources.AUTH)
    environment = trail.environment(parameters={"temperature": 1})
    session = trail.session_start(environment=environment, description="Accounts", assurance_level="high")
    prompt = trail.prompt("Create sign-up checks: a plausible address, a strong password.", files=["docs/accounts.md"])
    why = trail.reasoning("A regular expression is enough here, a confirmation mail follows anyway.", tokens=17)
    checks = trail.line(
        "src/auth.py",
        8,
        15,
        environment=environment,
        prompt=prompt,
        reasoning=why,
        session=session,
        text=sources.AUTH,
        assurance_level="high",
    )
    trail.cause(checks, prompt, session=session)
    asked = trail.prompt("Store passwords safely. Use what the standard library has.", files=["src/auth.py"])
    decision = trail.decision(
        "How to store passwords",
        [
            {"id": "sha256", "description": "Salted SHA-256", "pros": ["no dependency"], "cons": ["fast to guess"]},
            {"id": "argon2", "description": "Argon2", "pros": ["made for it"], "cons": ["a dependency"]},
        ],
        selected="sha256",
        rationale="The standard library was asked for.",
        confidence="low",
    )
    hashing = trail.line(
        "src/auth.py",
        18,
        22,
        environment=environment,
        prompt=asked,
        reasoning=why,
        decision=decision,
        session=session,
        text=sources.AUTH,
        assurance_level="high",
        risk_score=0.9591,
        risk_factors=[
            {"signal": "temperature", "value": 0.5, "weight": 0.15},
            {"signal": "action_type", "value": 0.6, "weight": 0.15},
            {"signal": "org:security_sensitive", "value": 1.0, "weight": 3, "reason": "stores passwords"},
        ],
    )
    trail.cause(hashing, asked, session=session)
    trail.session_end(session)
    return hashing, trail.review(checks, note="Good enough until the mail is confirmed.")


def _limits(trail: TrailWriter, repository: Repository) -> None:
    """Medium assurance: a prompt."""
    repository.write("src/limits.py", sources.LIMITS)
    environment = trail.environment(tool="Cursor", tool_version="2.4.1", model="gpt-5.2-codex", model_version="2026-01")
    session = trail.session_start(environment=environment, description="Limits")
    prompt = trail.prompt("Limit attempts: five an hour.", type="chat_message")
    for start, end in ((3, 4), (7, 9), (12, 14)):
        written = trail.line("src/limits.py", start, end, environment=environment, prompt=prompt, session=session, text=sources.LIMITS)
        trail.cause(written, prompt, session=session)
    trail.session_end(session)


def _app(trail: TrailWriter, repository: Repository) -> None:
    """Low assurance: tool, model, command."""
    repository.write("web/app.ts", sources.APP)
    environment = trail.environment(tool="Copilot", tool_version="1.312.0", model="gpt-5-mini", model_version="2025-08")
    session = trail.session_start(environment=environment, description="App", assurance_level="low")
    command = trail.command("web/app.ts", type="file_write")
    written = trail.line(
        "web/app.ts", 1, 11, environment=environment, command=command, session=session, text=sources.APP, assurance_level="low"
    )
    trail.cause(written, command, session=session)
    trail.session_end(session)

"""A project with history: back-filled, moved, rewritten, replaced. Results are counted by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tests.trails import Repository, TrailWriter

if TYPE_CHECKING:
    from pathlib import Path

PATH: Final = "src/auth.py"
OTHER: Final = "src/other.py"
FIRST: Final = """def validate_signup(mail, password):
    if "@" not in mail:
        return False
    if len(password) < 12:
        return False
    return True


def normal(mail):
    return mail.strip().lower()
"""
SECOND: Final = FIRST.replace("len(password) < 12", "len(password) < 16").replace(
    '"@" not in mail', '"@" not in normal(mail)'
)
APPENDED: Final = "# Attempts.\nMOST = 5\ndef limited(attempts):\n    return attempts > MOST\n"
REWRITTEN: Final = (
    "# Times.\nSPAN = 60\ndef limited(times, now):\n"
    "    return sum(time > now - SPAN for time in times) > 5\n"
)
ABOVE: Final = '"""Who may sign up."""\n\n'
RISKY: Final = "import os\n\nos.system('reset')\n"
SAFE: Final = "import shutil\nimport sys\nshutil.rmtree(sys.argv[1])\n"


@dataclass(frozen=True)
class Story:
    """The project, and the ids and hashes that queries name.

    `src/auth.py` has 16 lines, 14 of an AI: 1 and 2 are a person's, 3 to 12 were created by the
    first prompt, 4 and 6 changed by the second, 13 to 16 created by the second and rewritten by
    the third. `src/other.py` was created at critical risk and replaced.
    """

    root: Path
    first_environment: str
    second_environment: str
    prompts: tuple[str, str, str]
    commits: tuple[str, str, str]
    records: dict[str, str]


def tell(root: Path) -> Story:
    """Write the project and its trail to an empty folder."""
    repository = Repository(root)
    trail = TrailWriter(root)
    trail.config()
    trail.housekeeping()
    one = trail.environment(model="first-model")
    two = trail.environment(model="second-model")
    prompts = (
        trail.prompt("Check a sign-up."),
        trail.prompt("Be stricter, and limit attempts."),
        trail.prompt("Limit them by time."),
    )
    session = trail.session_start(environment=one)
    repository.write(PATH, FIRST)
    created = trail.line(
        PATH, 1, 10, environment=one, prompt=prompts[0], session=session, text=FIRST, **_risk(0.7)
    )
    function = trail.function(
        PATH,
        "validate_signup",
        "(mail, password)",
        environment=one,
        prompt=prompts[0],
        session=session,
        text=FIRST,
        lines=(1, 6),
        **_risk(0.7),
    )
    repository.write(OTHER, RISKY)
    risky = trail.line(
        OTHER,
        1,
        3,
        environment=two,
        prompt=prompts[0],
        session=session,
        text=RISKY,
        **_risk(0.82, 0.95),
    )
    commits = [repository.commit("The sign-up")]
    filled = [trail.remap(each, commit=commits[0]) for each in (created, function, risky)]

    repository.write(PATH, SECOND + APPENDED)
    changed = trail.line(
        PATH,
        2,
        4,
        action="modify",
        environment=two,
        prompt=prompts[1],
        session=session,
        text=SECOND + APPENDED,
        **_risk(0.35),
    )
    trail.edge("depends_on", changed, filled[0], target_type="annotation", session=session)
    limited = trail.line(
        PATH,
        11,
        14,
        environment=two,
        prompt=prompts[1],
        session=session,
        text=SECOND + APPENDED,
        **_risk(0.65),
    )
    commits.append(repository.commit("Stricter"))
    filled += [trail.remap(each, commit=commits[1]) for each in (changed, limited)]

    repository.write(PATH, SECOND + REWRITTEN)
    rewritten = trail.line(
        PATH,
        11,
        14,
        action="modify",
        environment=one,
        prompt=prompts[2],
        session=session,
        text=SECOND + REWRITTEN,
        **_risk(0.4),
    )
    trail.edge(
        "supersedes",
        rewritten,
        filled[4],
        target_type="annotation",
        metadata={"reason": "covers"},
        session=session,
    )
    repository.write(OTHER, SAFE)
    safe = trail.line(
        OTHER,
        1,
        3,
        action="modify",
        environment=one,
        prompt=prompts[2],
        session=session,
        text=SAFE,
        **_risk(0.2),
    )
    trail.edge(
        "supersedes",
        safe,
        filled[2],
        target_type="annotation",
        metadata={"reason": "covers"},
        session=session,
    )
    for annotation, prompt in zip(
        (created, function, risky, changed, limited, rewritten, safe),
        (0, 0, 0, 1, 1, 2, 2),
        strict=True,
    ):
        trail.cause(annotation, prompts[prompt], session=session)
    trail.review(rewritten)
    trail.session_end(session)
    commits.append(
        repository.commit("By time")
    )  # its records wait for the next commit: their commit is resolved

    repository.write(PATH, ABOVE + SECOND + REWRITTEN)
    records = {
        "created": created,
        "filled": filled[0],
        "function": function,
        "changed": changed,
        "limited": limited,
        "rewritten": rewritten,
        "safe": safe,
    }
    return Story(root, one, two, prompts, (commits[0], commits[1], commits[2]), records)


def _risk(score: float, temperature: float = 0.5) -> dict[str, Any]:
    """Return a score with matching factors: temperature, and the size of the edit for the rest."""
    rest = round((score - 0.15 * temperature) / 0.85, 6)
    factors = [
        {"signal": "temperature", "value": temperature, "weight": 0.15},
        {"signal": "scope_lines", "value": rest, "weight": 0.85},
    ]
    return {"risk_score": score, "risk_factors": factors}

"""Read `config.json` (RFC 8.1): its values, defaults for the rest, and its problems."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from vibes_lsp.errors import MalformedJson, UnreadableFile, VibesError
from vibes_lsp.model.canonical_json import parse_object
from vibes_lsp.model.config import Config, validate_config
from vibes_lsp.model.members import Members
from vibes_lsp.model.tracking import MAX_PATTERNS, Tracking
from vibes_lsp.model.validation import Problem
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.files import read_file

if TYPE_CHECKING:
    from vibes_lsp.risk.policy import Policy


@dataclass(frozen=True)
class LoadedConfig:
    """A project's policy as of the last read.

    Attributes:
        present: Whether the file exists.
        problem: Why the whole file is unusable.
        members: The members as stored.
        data: The file's bytes, to find members in.
    """

    present: bool = False
    problem: VibesError | None = None
    members: Members = field(default_factory=dict, repr=False)
    data: bytes = field(default=b"", repr=False)

    @property
    def config(self) -> Config:
        """The policy in force; invalid parts count as absent."""
        return self._validated[0]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the file, by field."""
        return self._judged[1]

    @property
    def policy(self) -> Policy:
        """The risk policy."""
        return self._judged[0]

    @cached_property
    def tracking(self) -> Tracking:
        """Which paths the project tracks (R26)."""
        return Tracking(self.config.tracked_extensions, self.config.exclude_patterns)

    @cached_property
    def _validated(self) -> tuple[Config, list[Problem]]:
        if not self.present or self.problem is not None:
            return Config(), []
        return validate_config(self.members)

    @cached_property
    def _judged(self) -> tuple[Policy, tuple[Problem, ...]]:
        # who only writes, such as a commit, need not wait for the rules of a policy
        from vibes_lsp.risk.policy import Policy, read_policy  # noqa: PLC0415

        if not self.present or self.problem is not None:
            return Policy(), ()
        config, problems = self._validated
        policy, unusable = read_policy(config, self.members)
        findings = list(problems)
        if len(config.exclude_patterns) > MAX_PATTERNS:
            message = f"only the first {MAX_PATTERNS} patterns are used"
            findings.append(Problem(f"exclude_patterns.{MAX_PATTERNS}", message, "policy"))
        findings += [
            Problem(
                problem.field,
                problem.message,
                "policy" if problem.is_known else "unknown",
                problem.offset,
            )
            for problem in unusable
        ]
        return policy, tuple(findings)


def load_config(directory: AuditDir, previous: LoadedConfig | None = None) -> LoadedConfig:
    """Return the policy, or the previous one if the file has not changed. Never raises."""
    try:
        content = read_file(directory.config)
    except UnreadableFile as error:
        if previous is not None and error.is_same_as(previous.problem):
            return previous
        return LoadedConfig(present=True, problem=error)
    if (
        previous is not None
        and not isinstance(previous.problem, UnreadableFile)
        and (previous.present, previous.data) == (content is not None, content or b"")
    ):
        return previous
    return LoadedConfig() if content is None else parse_config(content)


def parse_config(content: bytes) -> LoadedConfig:
    """Return the policy in the bytes of a `config.json`. Never raises."""
    try:
        members = parse_object(content)
    except MalformedJson as error:
        return LoadedConfig(present=True, problem=error, data=content)
    return LoadedConfig(present=True, members=members, data=content)

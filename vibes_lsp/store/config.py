"""Read `config.json` (RFC 8.1): its values, defaults for the rest, and its problems."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from vibes_lsp.errors import MalformedJson, UnreadableFile, VibesError
from vibes_lsp.model.canonical_json import parse_object, parse_object_allowing_non_finite
from vibes_lsp.model.gitignore import MAX_PATTERN
from vibes_lsp.model.members import Members, text
from vibes_lsp.model.tracking import MAX_PATTERNS, Tracking
from vibes_lsp.model.vocabulary import AssuranceLevel
from vibes_lsp.risk.policy import Policy, read_policy
from vibes_lsp.store import files
from vibes_lsp.store.audit_dir import AuditDir
from vibes_lsp.store.file_stamps import FileStamp, FileState
from vibes_lsp.store.files import read_file

if TYPE_CHECKING:
    from vibes_lsp.model.config import Config
    from vibes_lsp.model.validation import Problem


@dataclass(frozen=True)
class LoadedConfig:
    """A project's policy as of the last read.

    Validation is lazy: importing pydantic takes longer than answering from most trails.

    Attributes:
        present: Whether the file exists.
        problem: Why the whole file is unusable.
        members: The members as stored.
        data: The file's bytes, to find members in.
        non_finite_members: Members that are NaN, infinite or out of range.
        stamp: The file that was read.
        file_state: The last check of the file for changes.
    """

    present: bool = False
    problem: VibesError | None = None
    members: Members = field(default_factory=dict, repr=False)
    data: bytes = field(default=b"", repr=False)
    non_finite_members: tuple[str, ...] = ()
    stamp: FileStamp | None = field(default=None, repr=False)
    file_state: FileState = field(default_factory=FileState, repr=False, compare=False)

    @property
    def config(self) -> Config:
        """The policy in force; invalid parts count as absent."""
        return self._validated[0]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems of the file, by field."""
        return self._validated[1]

    @property
    def project_name(self) -> str:
        """The name of the project; empty if it has none."""
        if self._needs_validation:
            return self.config.project_name
        return text(self.members, "project_name") or ""

    @cached_property
    def policy(self) -> Policy:
        """The risk policy."""
        if self._needs_validation or self.members.get("risk_scoring") is not None:
            return self._validated[2]
        level = self.members.get("assurance_level")
        return (
            Policy(level=level)
            if isinstance(level, str) and level in set(AssuranceLevel)
            else Policy()
        )

    @cached_property
    def tracking(self) -> Tracking:
        """Which paths the project tracks (R26)."""
        if self._needs_validation:
            return Tracking(self.config.tracked_extensions, self.config.exclude_patterns)
        excludes = _valid_strings(self.members, "exclude_patterns", MAX_PATTERN) or []
        return Tracking(_valid_strings(self.members, "tracked_extensions"), excludes)

    @property
    def _needs_validation(self) -> bool:
        """Whether an invalid part may invalidate other members."""
        return bool(self.non_finite_members) or not all(map(_is_text, self.members))

    @cached_property
    def _validated(self) -> tuple[Config, tuple[Problem, ...], Policy]:
        from vibes_lsp.model.config import Config, validate_config  # noqa: PLC0415  # pydantic
        from vibes_lsp.model.validation import Problem  # noqa: PLC0415

        if not self.present or self.problem is not None:
            return Config(), (), Policy()
        config, problems = validate_config(self.members)
        policy, unusable = read_policy(config, self.members)
        found = [
            Problem(field, "expected a finite number", "number")
            for field in self.non_finite_members
        ]
        found += [problem for problem in problems if problem.field not in self.non_finite_members]
        if len(config.exclude_patterns) > MAX_PATTERNS:
            message = f"only the first {MAX_PATTERNS} patterns are used"
            found.append(Problem(f"exclude_patterns.{MAX_PATTERNS}", message, "policy"))
        found += [
            Problem(each.field, each.message, "policy" if each.is_known else "unknown", each.offset)
            for each in unusable
        ]
        return config, tuple(found), policy


def load_config(directory: AuditDir, previous: LoadedConfig | None = None) -> LoadedConfig:
    """Return the policy, or the previous one if the file has not changed. Never raises."""
    try:
        found = files.regular_file_stamp(directory.config)
        same = previous if previous is not None and found == previous.stamp else None
        if (
            same is not None
            and (found is None or same.file_state.settled)
            and not isinstance(same.problem, UnreadableFile)
        ):
            return same
        data = read_file(directory.config)
    except UnreadableFile as error:
        if previous is not None and error.is_same_as(previous.problem):
            return previous
        return LoadedConfig(present=True, problem=error)
    if data is None or found is None:  # one that appears meanwhile is read next time
        return LoadedConfig()
    if same is not None and same.file_state.recheck(data, [found]):
        return same
    return replace(parse_config(data), stamp=found, file_state=FileState.of(data, [found]))


def parse_config(data: bytes) -> LoadedConfig:
    """Return the policy in the bytes of a `config.json`. Never raises."""
    non_finite: list[str] = []
    try:
        members = parse_object(data)
    except MalformedJson:
        try:
            members, non_finite = parse_object_allowing_non_finite(data)
        except MalformedJson as error:
            return LoadedConfig(present=True, problem=error, data=data)
    return LoadedConfig(
        present=True, members=members, data=data, non_finite_members=tuple(non_finite)
    )


def _valid_strings(members: Members, name: str, longest: int | None = None) -> list[str] | None:
    """Return the valid strings of an array; None for anything else, as if absent."""
    value = members.get(name)
    if not isinstance(value, list):
        return None
    texts = [each for each in value if isinstance(each, str) and _is_text(each)]
    return [each for each in texts if longest is None or len(each) <= longest]


def _is_text(name: str) -> bool:
    """Whether a text is valid Unicode, without lone surrogates."""
    return name.isascii() or name == name.encode("utf-8", "ignore").decode()

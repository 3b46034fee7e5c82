"""Reading `config.json` (RFC 8.1): what it states, defaults for the rest, and what is wrong with it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import cached_property

from vibes_lsp.errors import MalformedJson, UnreadableFile, VibesError
from vibes_lsp.model.canonical import parse_object, parse_object_with_any_number
from vibes_lsp.model.config import Config
from vibes_lsp.model.members import Members
from vibes_lsp.model.tracking import MAX_PATTERNS, Tracking
from vibes_lsp.model.validation import Problem, read_config
from vibes_lsp.risk.policy import Policy, read_policy
from vibes_lsp.store import disk
from vibes_lsp.store.disk import Clock, Look, Signature, read_file
from vibes_lsp.store.layout import AuditDir


@dataclass(frozen=True)
class LoadedConfig:
    """A project's policy as it was at one moment.

    Attributes:
        config: What is in force; a broken part counts as not given.
        present: Whether the file is there.
        problem: Why nothing of the file could be used.
        problems: What is wrong inside it, by field.
        members: What the file says, as it says it.
        data: The file's bytes, to find fields in.
        policy: What it says about risk.
        signature: The file that this was read from.
        look: The last look at it.
    """

    config: Config
    present: bool = False
    problem: VibesError | None = None
    problems: tuple[Problem, ...] = ()
    members: Members = field(default_factory=dict, repr=False)
    data: bytes = field(default=b"", repr=False)
    policy: Policy = field(default_factory=Policy, repr=False)
    signature: Signature | None = field(default=None, repr=False)
    look: Look = field(default_factory=Look, repr=False, compare=False)

    @cached_property
    def tracking(self) -> Tracking:
        """Which paths the project tracks (R26)."""
        return Tracking(self.config.tracked_extensions, self.config.exclude_patterns)


def load_config(directory: AuditDir, previous: LoadedConfig | None = None, *, now_ns: Clock = time.time_ns) -> LoadedConfig:
    """Return the policy; the previous one when the file has not changed. Never raises."""
    try:
        found = disk.signature(directory.config)
        same = previous if previous is not None and found == previous.signature else None
        if same is not None and (found is None or same.look.settled) and not isinstance(same.problem, UnreadableFile):
            return same
        data = read_file(directory.config)
    except UnreadableFile as error:
        if previous is not None and isinstance(previous.problem, UnreadableFile) and previous.problem.message == error.message:
            return previous
        return LoadedConfig(Config(), present=True, problem=error)
    if data is None or found is None:  # it is not there, or it comes while we look and is found next time
        return LoadedConfig(Config())
    if same is not None and same.look.again(data, [found], now_ns):
        return same
    return replace(parse_config(data), signature=found, look=Look.at(data, [found], now_ns))


def parse_config(data: bytes) -> LoadedConfig:
    """Return the policy that these bytes state, from wherever they come. Never raises."""
    numbers: list[str] = []
    try:
        members = parse_object(data)
    except MalformedJson:
        try:
            members, numbers = parse_object_with_any_number(data)
        except MalformedJson as error:
            return LoadedConfig(Config(), present=True, problem=error, data=data)
    config, problems = read_config(members)
    policy, unusable = read_policy(config, members)
    found = [Problem(field, "is no number that JSON knows", "number") for field in numbers]
    found += [problem for problem in problems if problem.field not in numbers]
    if len(config.exclude_patterns) > MAX_PATTERNS:
        found.append(Problem(f"exclude_patterns.{MAX_PATTERNS}", f"only the first {MAX_PATTERNS} patterns are used", "policy"))
    found += [Problem(each.field, each.message, "policy" if each.is_known else "unknown", each.offset) for each in unusable]
    return LoadedConfig(config, present=True, problems=tuple(found), members=members, data=data, policy=policy)

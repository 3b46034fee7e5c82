"""Reading `config.json` (RFC 8.1): what it states, defaults for the rest, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from vibes_lsp.errors import MalformedJson, UnreadableFile, VibesError
from vibes_lsp.model.canonical import parse_object
from vibes_lsp.model.config import Config
from vibes_lsp.model.members import Members
from vibes_lsp.model.tracking import Tracking
from vibes_lsp.model.validation import Problem, read_config
from vibes_lsp.store import disk
from vibes_lsp.store.disk import Signature, read_file
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
        signature: The file that this was read from.
    """

    config: Config
    present: bool = False
    problem: VibesError | None = None
    problems: tuple[Problem, ...] = ()
    members: Members = field(default_factory=dict, repr=False)
    data: bytes = field(default=b"", repr=False)
    signature: Signature | None = field(default=None, repr=False)

    @cached_property
    def tracking(self) -> Tracking:
        """Which paths the project tracks (R26)."""
        return Tracking(self.config.tracked_extensions, self.config.exclude_patterns)


def load_config(directory: AuditDir, previous: LoadedConfig | None = None) -> LoadedConfig:
    """Return the policy; the previous one when the file has not changed. Never raises."""
    try:
        found = disk.signature(directory.config)
        if previous is not None and found == previous.signature and not isinstance(previous.problem, UnreadableFile):
            return previous
        data = read_file(directory.config)
    except UnreadableFile as error:
        return LoadedConfig(Config(), present=True, problem=error)
    if data is None:
        return LoadedConfig(Config())
    return parse_config(data, found)


def parse_config(data: bytes, found: Signature | None = None) -> LoadedConfig:
    """Return the policy that these bytes state, from wherever they come. Never raises."""
    try:
        members = parse_object(data)
    except MalformedJson as error:
        return LoadedConfig(Config(), present=True, problem=error, data=data, signature=found)
    config, problems = read_config(members)
    return LoadedConfig(config, present=True, problems=tuple(problems), members=members, data=data, signature=found)

"""The files that annotations are about, and the names that renamed ones have now (R19)."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from vibes_lsp.git.current_names import current_names
from vibes_lsp.git.repository import Repository
from vibes_lsp.model.paths import can_be_in_project, is_too_long, normal_path
from vibes_lsp.trail.trail import Trail


class FileNames:
    """Finds the annotated files, and follows renamed ones to their new names.

    Args:
        trail: The trail, refreshed.
        repository: The repository that the project is in; None without git.
        renamed: New names by old ones, of files that were renamed since the last commit.
    """

    def __init__(
        self, trail: Trail, repository: Repository | None, renamed: Mapping[str, str]
    ) -> None:
        self._trail, self._repository, self._renamed = trail, repository, renamed
        self._project: Final = str(trail.directory.project)

    @cached_property
    def annotated_files(self) -> Mapping[str, None]:
        """The existing files that annotations are about, by their current names (R19)."""
        return dict.fromkeys(
            self.current_name(name)
            for name in self.recorded
            if name not in self._gone or name in self.new_names
        )

    @property
    def has_gone_files(self) -> bool:
        """Whether annotations are about files that do not exist, even by another name."""
        return len(self._gone) > len(self.new_names)

    def former_paths(self, path: str) -> tuple[str, ...]:
        """Return the former names of a file under which annotations are recorded."""
        return tuple(self._former_names.get(path, ()))

    def with_former(self, paths: Iterable[str]) -> Iterator[str]:
        """Yield files, each with the former names under which annotations are recorded."""
        for path in paths:
            yield path
            yield from self.former_paths(path)

    def current_name(self, name: str) -> str:
        """Return the name that a file has now, by the recorded one; see `new_names`."""
        return self.new_names.get(name, name)

    @cached_property
    def _former_names(self) -> Mapping[str, Sequence[str]]:
        former: dict[str, list[str]] = defaultdict(list)
        for name, now in self.new_names.items():
            former[now].append(name)
        return former

    @cached_property
    def new_names(self) -> Mapping[str, str]:
        """The names that files have now which were renamed: from the client, else from git."""
        unknown = [name for name in self._gone if name not in self._renamed]
        names = {**self._names_in_git(unknown), **self._renamed}
        return {
            name: now
            for name in self._gone
            if (now := names.get(name)) is not None and self._exists(now)
        }

    def _names_in_git(self, names: Iterable[str]) -> Mapping[str, str]:
        """Return the names that files of the project have now by git."""
        if self._repository is None:
            return {}
        prefix = self._repository.prefix_of(self._trail.directory.project)
        current = current_names(
            self._repository, [prefix + name for name in names if can_be_in_project(name)]
        )
        return {
            name.removeprefix(prefix): now.removeprefix(prefix)
            for name, now in current.items()
            if now.startswith(prefix)
        }

    @cached_property
    def _gone(self) -> Mapping[str, None]:
        """The names of files that do not exist."""
        return dict.fromkeys(name for name in self.recorded if not self._exists(name))

    @cached_property
    def recorded(self) -> Sequence[str]:
        """The recorded names of files of this project, existing or not (R19)."""
        names = dict.fromkeys(map(normal_path, self._trail.annotated_paths()))
        return [name for name in names if can_be_in_project(name) or is_too_long(name)]

    def _exists(self, name: str) -> bool:
        # A Path takes ten times as long, and there may be tens of thousands.
        return os.path.isfile(f"{self._project}/{name}")  # noqa: PTH113

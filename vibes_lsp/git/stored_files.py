"""Which files git stores without their lines: those that a filter encrypts or replaces (R14, R32).

A trail is committed in clear, so it must have nothing of a text that git's objects do not have. No
filter is run, because a repository's configuration may name any program: HEAD shows what a filter
keeps. Git is started only where a file that sets attributes names a filter.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from vibes_lsp.anchors.line_hashes import is_distinctive
from vibes_lsp.anchors.text import Text
from vibes_lsp.errors import HistoryUnavailable, UnreadableFile
from vibes_lsp.git.attribute_files import attributes_in_tree, mentions
from vibes_lsp.git.objects import GitObjects
from vibes_lsp.git.process import run_git
from vibes_lsp.git.repository_state import is_special
from vibes_lsp.model.paths import can_be_in_project, normal_path
from vibes_lsp.store.file_stamps import FileStamp, file_stamp
from vibes_lsp.store.files import read_file
from vibes_lsp.store.git_folders import git_folders, read_head
from vibes_lsp.store.trail_search import is_repository

UNKNOWN_FILTER: Final = "unknown"
"""The name of a filter when git cannot be asked for it."""
_NO_VALUES: Final = frozenset({b"unspecified", b"unset"})
_MAX_ATTRIBUTES: Final = 1 << 20
"""Larger files of attributes are not compared with those of HEAD."""
_MAX_FILE: Final = 16 << 20
_MAX_KEPT: Final = 256
"""Files whose answers are kept: those that are being edited."""
_Answer = TypeVar("_Answer")
_Key = tuple[Path, str]
"""A top folder and a path from there, with links resolved."""


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder of a repository.

    Attributes:
        root: The top folder of the work tree.
        prefix: The folder's path from there, with a final slash; empty for the top.
        stamps: The state of all that sets attributes in it; None if nothing names a filter.
        only_git_knows: Whether something without a stamp may set attributes too.
    """

    root: Path
    prefix: str
    stamps: tuple[FileStamp | None, ...] | None
    only_git_knows: bool


class StoredFiles:
    """Answers which texts git's objects do not have.

    A file's attributes are looked up again when a file that sets them changes, and each time where
    settings may name other attributes. A `.gitattributes` that only the index has is not seen.

    Args:
        project: The folder that paths are relative to; there may be no repository.
    """

    def __init__(self, project: Path) -> None:
        self._project = project
        self._settings: dict[Path, tuple[object, list[Path]]] = {}
        self._filters: dict[_Key, tuple[_Folder, str | None]] = {}
        self._stored: dict[_Key, tuple[object, frozenset[str]]] = {}

    def hiding_filter(self, path: str, text: Text) -> str | None:
        """Return the filter that keeps a text out of git's objects; None if git has its lines.

        Where a filter applies, git is taken to have the lines only if HEAD shows it: HEAD has the
        same attributes, and at least half of the distinctive lines of HEAD's version are in the
        text. A new file is hidden until it is committed.

        Args:
            path: The file, relative to the project.
            text: Its text.
        """
        name = self.filters([path]).get(path)
        if name is None or _has_most(text, self._lines_under_filter(path)):
            return None
        return name

    def filters(self, paths: Iterable[str]) -> dict[str, str]:
        """Return the names of the filters that attributes set, by file; files without are left out.

        Git is started once for each repository, and not at all if no attributes name a filter.

        Args:
            paths: Files, relative to the project; those outside it are left out.
        """
        folders: dict[str, _Folder | None] = {}
        asked: dict[Path, dict[str, list[tuple[str, _Folder]]]] = {}
        filters: dict[str, str] = {}
        for path in paths:
            folder, name = self._place(path, folders)
            if folder is None or folder.stamps is None:
                continue
            known = self._filters.get((folder.root, name))
            if known is None or known[0] != folder or folder.only_git_knows:
                asked.setdefault(folder.root, {}).setdefault(name, []).append((path, folder))
            elif known[1] is not None:
                filters[path] = known[1]
        for root, files in asked.items():
            values = _filters_of(root, files)
            for name, same in files.items():
                for path, folder in same:
                    _keep(self._filters, (root, name), (folder, values.get(name)))
                    if name in values:
                        filters[path] = values[name]
        return filters

    def lines_in_head(self, path: str) -> frozenset[str] | None:
        """Return the distinctive lines of HEAD's version of a file; None if HEAD does not have it.

        Args:
            path: The file, relative to the project.
        """
        folder, name = self._place(path, {})
        if folder is None:
            return None
        with GitObjects(folder.root, limit=_MAX_FILE) as objects:
            head = objects.head()
            content = None if head is None else objects.contents(f"{head}:{name}")
        return None if content is None else _lines(content)

    def _lines_under_filter(self, path: str) -> frozenset[str]:
        """Return as `lines_in_head`; none if HEAD does not have the attributes that are set now.

        All rules count: one that does not name a filter may set it through a macro.
        """
        folder, name = self._place(path, {})
        if folder is None:
            return frozenset()
        state = folder, read_head(folder.root)
        kept = self._stored.get((folder.root, name))
        if kept is not None and kept[0] == state and state[1] is not None:
            return kept[1]
        lines: frozenset[str] = frozenset()
        with GitObjects(folder.root, limit=_MAX_FILE) as objects:
            head = objects.head()
            if head is not None and all(
                _has_rules(objects, head, attributes, _read(folder.root / attributes))
                for attributes in attributes_in_tree(folder.prefix)
            ):
                lines = _lines(objects.contents(f"{head}:{name}"))
        _keep(self._stored, (folder.root, name), (state, lines))
        return lines

    def _place(self, path: str, folders: dict[str, _Folder | None]) -> tuple[_Folder | None, str]:
        """Return the folder of a file, and the file's path from the top of its repository.

        Links are resolved: git has the text where the file is. There is no folder for a file
        outside the project or in no repository.
        """
        if not can_be_in_project(path):
            return None, ""
        file = os.path.join(self._project, normal_path(path))  # noqa: PTH118
        if os.path.islink(file):  # noqa: PTH114
            file = os.path.realpath(file)
        parent, name = os.path.split(file)
        if parent not in folders:
            folders[parent] = self._folder(parent)
        folder = folders[parent]
        return folder, "" if folder is None else folder.prefix + name

    def _folder(self, name: str) -> _Folder | None:
        folder, project = Path(os.path.realpath(name)), Path(os.path.realpath(self._project))
        if not folder.is_relative_to(project):
            return None
        root = next(
            (ancestor for ancestor in (folder, *folder.parents) if is_repository(str(ancestor))),
            None,
        )
        if root is None:
            return None
        inside = folder.relative_to(root).as_posix()
        prefix = "" if inside == "." else f"{inside}/"
        git, common = git_folders(root / ".git")
        sources = [root / path for path in attributes_in_tree(prefix)]
        sources += [common / "info/attributes", *_attributes_of_machine()]
        settings = self._files_of_settings(root, git, common)
        only_git_knows = settings is None or any(
            mentions(file, b"attributesfile", b"[attr]") for file in settings
        )
        is_named = only_git_knows or any(mentions(file, b"filter") for file in sources)
        watched = (*sources, *(settings or ()))
        stamps = tuple(map(file_stamp, watched)) if is_named else None
        return _Folder(root, prefix, stamps, only_git_knows)

    def _files_of_settings(self, root: Path, git: Path, common: Path) -> list[Path] | None:
        """Return the files of settings that git reads in a repository; None if it cannot say.

        Git is asked where some include others, again when one of them changes, or the branch.
        """
        own = [common / "config", git / "config.worktree", *_settings_of_machine(root)]
        if not any(mentions(file, b"[include") for file in own):
            return own
        known = self._settings.get(root)
        if known is not None and known[0] == _state(git, known[1]):
            return known[1]
        options = ("--list", "--show-origin", "--name-only", "--null")
        try:
            listed = run_git(root, "config", *options).split(b"\0")
        except HistoryUnavailable:
            return None
        names = dict.fromkeys(part[5:] for part in listed if part.startswith(b"file:"))
        files = list(dict.fromkeys([*own, *(root / os.fsdecode(name) for name in names)]))
        self._settings[root] = _state(git, files), files
        return files


def _state(git: Path, settings: Iterable[Path]) -> object:
    return [file_stamp(file) for file in (git / "HEAD", *settings)]


def _filters_of(root: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the filters of files by their paths from the top; all are unknown if git fails."""
    wanted = {os.fsencode(name): name for name in names}
    asked = b"".join(b"%b\0" % name for name in wanted)
    attributes = {path for name in names for path in attributes_in_tree(name)}
    if any(is_special(root / path) for path in attributes):  # git would wait for it
        return dict.fromkeys(wanted.values(), UNKNOWN_FILTER)
    try:
        answer = run_git(root, "check-attr", "-z", "--stdin", "filter", stdin=asked).split(b"\0")
    except HistoryUnavailable:
        return dict.fromkeys(wanted.values(), UNKNOWN_FILTER)
    return {
        wanted[name]: value.decode("utf-8", "replace")
        for name, value in zip(answer[0::3], answer[2::3], strict=False)
        if value not in _NO_VALUES
    }


def _attributes_of_machine() -> Sequence[Path]:
    return (
        _user_folder() / "attributes",
        *(folder / "gitattributes" for folder in _system_folders()),
    )


def _settings_of_machine(root: Path) -> Sequence[Path]:
    """Return the files that may name other attributes in every repository.

    Args:
        root: The folder that git is started in.
    """
    named = os.environ.get("GIT_CONFIG_GLOBAL")
    own = [root / named] if named else [_home() / ".gitconfig", _user_folder() / "config"]
    system = os.environ.get("GIT_CONFIG_SYSTEM")
    machine = [root / system] if system else [folder / "gitconfig" for folder in _system_folders()]
    return (*own, *machine)


def _user_folder() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or _home() / ".config") / "git"


def _home() -> Path:
    return Path(os.path.expanduser("~"))  # noqa: PTH111  # it never raises


def _system_folders() -> Collection[Path]:
    """Return where git may have the settings of the machine, by where it is installed."""
    program = shutil.which("git")
    folders = [Path("/etc")]
    if program is not None:
        folders.append(Path(program).parent.parent / "etc")
    return dict.fromkeys(folders)


def _read(file: Path) -> bytes | None:
    """Return the bytes of a small file, none if there is no file; None if it is not readable."""
    try:
        return read_file(file, limit=_MAX_ATTRIBUTES) or b""
    except (UnreadableFile, ValueError):
        return None


def _has_rules(objects: GitObjects, commit: str, path: str, attributes: bytes | None) -> bool:
    """Whether a commit has the rules of a file of attributes; not if either is not readable."""
    stored = objects.contents(f"{commit}:{path}")
    try:
        if stored is None and objects.certain_entry(commit, path) is None:
            stored = b""
    except HistoryUnavailable:
        return False
    if attributes is None or stored is None:
        return False
    return _rules(attributes) == _rules(stored)


def _rules(attributes: bytes) -> list[bytes]:
    lines = (line.strip(b" \t\r") for line in attributes.split(b"\n"))
    return [line for line in lines if line and not line.startswith(b"#")]


def _lines(content: bytes | None) -> frozenset[str]:
    return frozenset() if content is None else distinctive_lines(Text.from_bytes(content).lines)


def distinctive_lines(lines: Iterable[str]) -> frozenset[str]:
    """Return the distinctive ones of some lines, without white space at their ends."""
    return frozenset(line.strip() for line in lines if is_distinctive(line))


def _has_most(text: Text, stored: frozenset[str]) -> bool:
    """Whether a text has at least half of some lines, of which there must be one."""
    return bool(stored) and 2 * len(stored & distinctive_lines(text.lines)) >= len(stored)


def _keep(kept: dict[_Key, _Answer], key: _Key, answer: _Answer) -> None:
    kept.pop(key, None)
    kept[key] = answer
    while len(kept) > _MAX_KEPT:
        del kept[next(iter(kept))]

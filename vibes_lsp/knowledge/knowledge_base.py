"""A `.vouch/` folder on disk: its layout, and reading and writing its objects (vouch 1).

Files are the source of truth. They are created and replaced whole; all writers of this package
hold the lock that the reference implementation takes for its audit log. What is in the folder is
untrusted: a path is made of a checked id only, and no link leads out of the folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from vibes_lsp.errors import InvalidObject, KnowledgeBaseNotFound, UnreadableFile
from vibes_lsp.knowledge.object_format import (
    MAX_OBJECT,
    dump_page,
    dump_yaml,
    load_page,
    load_settings,
    load_yaml,
)
from vibes_lsp.knowledge.objects import (
    Kind,
    KnowledgeObject,
    Proposal,
    ending_of,
    is_id_of,
    parse_object,
    path_of,
)
from vibes_lsp.store.file_stamps import FileStamp, stamp_of
from vibes_lsp.store.files import (
    create_file,
    is_inside,
    make_folder,
    open_file,
    read_file,
    write_error,
)
from vibes_lsp.store.locks import FileLock

KNOWLEDGE_DIR: Final = ".vouch"
MAX_SOURCE: Final = 256 << 20
"""Largest content of a source, in bytes."""
MAX_DAYS: Final = 100_000
_IGNORED: Final = b"proposed/\nstate.db\nstate.db-*\naudit.log.jsonl.lock\n"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of objects whose file names none."""


class RetrievalConfig(BaseModel):
    """How texts are searched (vouch 1.1)."""

    model_config = ConfigDict(frozen=True)

    backend: str = "fts5"
    fts5_porter: bool = True


class ReviewConfig(BaseModel):
    """Who may approve, and whether claims need citations (vouch 1.1)."""

    model_config = ConfigDict(frozen=True)

    require_citations: bool = True
    approver_role: str = "human"
    expire_pending_after_days: int = Field(90, ge=1, le=MAX_DAYS)


class KnowledgeConfig(BaseModel):
    """The settings in `config.yaml`; further members belong to other programs.

    Attributes:
        agent: The actor when `VOUCH_AGENT` is unset.
    """

    model_config = ConfigDict(frozen=True)

    kb_name: str = ""
    agent: str | None = None
    retrieval: RetrievalConfig = RetrievalConfig()
    review: ReviewConfig = ReviewConfig()


class KnowledgeBase:
    """A knowledge base.

    Args:
        path: The folder `.vouch`.
    """

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        self.project: Final = path.parent
        self.audit_log: Final = path / "audit.log.jsonl"

    def lock(self) -> FileLock:
        """Return the lock that every writer holds; the reference implementation takes it too."""
        return FileLock(self.path / "audit.log.jsonl.lock")

    def config(self) -> KnowledgeConfig:
        """Return the settings; a missing file is an empty one.

        Raises:
            InvalidObject: The file is no YAML, or a setting has a wrong type.
            UnreadableFile: It cannot be read.
        """
        members = self.config_members()
        try:
            return KnowledgeConfig.model_validate(members)
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise InvalidObject(f"config.yaml: {where}: {error.errors()[0]['msg']}") from None

    def config_members(self) -> dict[str, Any]:
        """Return all members of `config.yaml`.

        Raises:
            InvalidObject: The file is no YAML.
            UnreadableFile: It cannot be read.
        """
        content = self._read(self.path / "config.yaml")
        members = {} if content is None else load_settings(content, "config.yaml")
        return members if isinstance(members, dict) else {}

    def file_of(self, kind: Kind, identifier: str) -> Path:
        """Return the path of an object, which need not exist.

        Raises:
            InvalidObject: The id is none, so that the path could lead anywhere.
        """
        if not is_id_of(kind, identifier):
            raise InvalidObject(f"{kind.noun} id: expected letters, digits, '-', '_' and '.'")
        return self.path / path_of(kind, identifier)

    def ids(self, kind: Kind) -> list[str]:
        """Return the ids that the files of a kind give; names that are no ids are left out."""
        identifiers = (self.id_of(kind, name) for name in self.file_stamps(kind))
        return sorted(identifier for identifier in identifiers if identifier is not None)

    def proposals(self, kind: Kind) -> Iterator[Proposal]:
        """Yield the valid proposals that wait or are decided, the oldest first."""
        for identifier in self.ids(kind):
            with suppress(InvalidObject, UnreadableFile):
                proposal = self.read(kind, identifier)
                if isinstance(proposal, Proposal):
                    yield proposal

    def file_stamps(self, kind: Kind) -> dict[str, FileStamp]:
        """Return the stamp of each file of a kind by its name, which need not give an id.

        A folder that is a link has no files.
        """
        folder, stamps = self.path / kind, dict[str, FileStamp]()
        with suppress(OSError):
            if folder.is_symlink():
                return {}
            with os.scandir(folder) as entries:
                for entry in entries:
                    status = _status_of(kind, entry)
                    if status is not None:
                        stamps[entry.name] = stamp_of(status)
        return stamps

    def name_of(self, kind: Kind, identifier: str) -> str:
        """Return the name of an object's file, or of its folder for a source."""
        return f"{identifier}{ending_of(kind)}"

    def id_of(self, kind: Kind, name: str) -> str | None:
        """Return the id that the name of a file gives; None if it gives none."""
        identifier = name.removesuffix(ending_of(kind))
        is_named = name == self.name_of(kind, identifier)
        return identifier if is_named and is_id_of(kind, identifier) else None

    def exists(self, kind: Kind, identifier: str) -> bool:
        """Return whether an object is there; a text that is no id names none."""
        try:
            return self.file_of(kind, identifier).is_file()
        except (InvalidObject, OSError, ValueError):
            return False

    def is_waiting(self, proposal_id: str) -> bool:
        """Return whether a proposal of proposed/ waits: only decided/ says what was decided."""
        return not self.exists(Kind.DECISION, proposal_id)

    def read(self, kind: Kind, identifier: str) -> KnowledgeObject | None:
        """Return an object; None if there is none.

        Raises:
            InvalidObject: The id is none, or the file breaks a rule.
            UnreadableFile: The file cannot be read.
        """
        content = self.read_bytes(kind, identifier)
        return None if content is None else self.parse(kind, identifier, content)

    def read_bytes(self, kind: Kind, identifier: str) -> bytes | None:
        """Return the content of an object's file; None if there is none.

        Raises:
            InvalidObject: The id is none.
            UnreadableFile: The file cannot be read.
        """
        return self._read(self.file_of(kind, identifier))

    def parse(self, kind: Kind, identifier: str, content: bytes) -> KnowledgeObject:
        """Return the object of a file's content.

        Raises:
            InvalidObject: It breaks a rule.
        """
        name = self._name(self.file_of(kind, identifier))
        try:
            knowledge_object = parse_object(kind, _load(kind, content, name), default_time=_EPOCH)
        except InvalidObject as error:
            prefix = "" if error.message.startswith(name) else f"{name}: "
            raise InvalidObject(f"{prefix}{error.message}") from None
        if knowledge_object.id != identifier:
            raise InvalidObject(f"{name}: id: expected {identifier}, as its file is named")
        if kind is Kind.PENDING:  # anybody can write another status into the file
            return knowledge_object.model_copy(update={"status": "pending"})
        return knowledge_object

    def dump(self, kind: Kind, knowledge_object: KnowledgeObject) -> bytes:
        """Return the content of an object's file.

        Raises:
            InvalidObject: It is too large to be read again.
        """
        members = knowledge_object.members()
        content = dump_page(members) if kind is Kind.PAGE else dump_yaml(members)
        if len(content) > MAX_OBJECT:
            raise InvalidObject(
                f"{kind.noun} {knowledge_object.id}: {len(content):,} bytes, "
                f"expected at most {MAX_OBJECT:,}"
            )
        return content

    def remove_pending(self, identifier: str) -> None:
        """Remove a proposal that has a decision.

        Raises:
            RefusedWrite: The folder is not writable.
        """
        path = self.file_of(Kind.PENDING, identifier)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise write_error(path, error) from error

    def content_of(self, source_id: str, *, limit: int = MAX_SOURCE) -> bytes | None:
        """Return the captured bytes of a source; None if it has none.

        Raises:
            InvalidObject: The id is none.
            UnreadableFile: They cannot be read, or are more than `limit`.
        """
        return self._read(self.content_file(source_id), limit=limit)

    def content_file(self, source_id: str) -> Path:
        """Return the path of the captured bytes of a source.

        Raises:
            InvalidObject: The id is none.
        """
        return self.file_of(Kind.SOURCE, source_id).with_name("content")

    def open_content(self, source_id: str) -> BinaryIO:
        """Open the captured bytes of a source.

        Raises:
            InvalidObject: The id is none.
            UnreadableFile: There are none, or they cannot be read.
        """
        path = self.content_file(source_id)
        self._check_links(path)
        return open_file(path)

    def make_folder_of(self, kind: Kind, path: Path) -> None:
        """Create the folder of an object's file if it is missing.

        Raises:
            InvalidObject: The file is a link out of the knowledge base.
            RefusedWrite: The folder is a link, or cannot be created.
        """
        make_folder(self.path / kind)
        if kind is Kind.SOURCE:
            make_folder(path.parent)
        if not is_inside(path, self.path):
            raise InvalidObject(f"{self._name(path)} is a link out of the knowledge base")

    def _read(self, path: Path, *, limit: int = MAX_OBJECT) -> bytes | None:
        self._check_links(path)
        return read_file(path, limit=limit)

    def _check_links(self, path: Path) -> None:
        if not is_inside(path, self.path):
            raise UnreadableFile(f"{self._name(path)} is a link out of the knowledge base")

    def _name(self, path: Path) -> str:
        return path.relative_to(self.path).as_posix()


def find_knowledge_base(folder: Path) -> KnowledgeBase:
    """Return the knowledge base nearest to a folder, in it or above.

    Raises:
        KnowledgeBaseNotFound: There is none.
        UnreadableFile: It is a link, which a repository can ship to lead anywhere.
    """
    start = folder.absolute()
    for candidate in (start, *start.parents):
        knowledge_folder = candidate / KNOWLEDGE_DIR
        if knowledge_folder.is_dir():
            if knowledge_folder.is_symlink():
                raise UnreadableFile(
                    f"{knowledge_folder} is a link",
                    hint="name the folder in VOUCH_KB_PATH to use it",
                )
            return KnowledgeBase(knowledge_folder)
    raise KnowledgeBaseNotFound(
        f"no {KNOWLEDGE_DIR}/ in {folder} or above it", hint="create one with `vibes kb init`"
    )


def create_knowledge_base(project: Path, *, agent: str | None = None) -> KnowledgeBase:
    """Create the folders, settings and ignore rules of a knowledge base that are missing.

    Args:
        project: The folder to create it in.
        agent: The actor when `VOUCH_AGENT` is unset.

    Returns:
        The knowledge base, whose settings stay as they are if it was there.

    Raises:
        RefusedWrite: The folder is not writable.
    """
    knowledge = KnowledgeBase(project.absolute() / KNOWLEDGE_DIR)
    try:
        knowledge.project.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise write_error(knowledge.project, error) from error
    make_folder(knowledge.path)
    for kind in Kind:
        make_folder(knowledge.path / kind)
    settings: dict[str, Any] = {
        "version": "0.1",
        "kb_name": knowledge.project.name,
        **({} if agent is None else {"agent": agent}),
        "retrieval": {"backend": "fts5", "fts5_porter": True},
        "review": {"require_citations": True, "approver_role": "human"},
    }
    create_file(knowledge.path / "config.yaml", dump_yaml(settings))
    create_file(knowledge.path / ".gitignore", _IGNORED)
    return knowledge


def _status_of(kind: Kind, entry: os.DirEntry[str]) -> os.stat_result | None:
    """Return the status of an object's file in the folder of its kind; None if it is gone."""
    try:
        if kind is not Kind.SOURCE:
            return entry.stat(follow_symlinks=False)
        is_link = entry.is_symlink()
        return None if is_link else os.lstat(f"{entry.path}{os.sep}meta.yaml")
    except OSError:
        return None


def _load(kind: Kind, content: bytes, name: str) -> Any:
    return load_page(content, name) if kind is Kind.PAGE else load_yaml(content, name)

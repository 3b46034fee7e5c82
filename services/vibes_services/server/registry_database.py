"""The registry's tables, in SQLite or PostgreSQL: attestations by id, key and project.

An attestation is stored before its submission is acknowledged, and is never changed or removed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

import sqlalchemy as sql
from sqlalchemy.engine import make_url
from sqlalchemy.pool import ConnectionPoolEntry

from vibes_lsp.errors import VibesError
from vibes_services.registry_client import RegisteredSignature

MAX_NAME: Final = 200
"""Longest project name, key id or submitter that is stored, in characters."""

CONNECTIONS: Final = 8
_WAIT: Final = 10
"""Seconds to wait for a connection, a lock or an answer of the database."""

SCHEMA_VERSION: Final = 1
"""The version of the tables; grows with each change of them."""

_SCHEMA: Final = sql.MetaData()
_VERSION: Final = sql.Table(
    "registry_schema",
    _SCHEMA,
    sql.Column("version", sql.Integer, primary_key=True, autoincrement=False),
)

_ATTESTATIONS: Final = sql.Table(
    "attestations",
    _SCHEMA,
    sql.Column("number", sql.BigInteger().with_variant(sql.Integer, "sqlite"), primary_key=True),
    sql.Column("attestation_id", sql.String(64), nullable=False, unique=True),
    sql.Column("received_at", sql.String(32), nullable=False),
    sql.Column("submitter", sql.String(MAX_NAME), nullable=False),
    sql.Column("project", sql.String(MAX_NAME), nullable=True),
    sql.Column("envelope", sql.Text, nullable=False),
    sql.Index("attestations_of_project", "project", "number"),
)
_SIGNATURES: Final = sql.Table(
    "signatures",
    _SCHEMA,
    sql.Column("number", sql.ForeignKey("attestations.number"), primary_key=True),
    sql.Column("place", sql.Integer, primary_key=True, autoincrement=False),
    sql.Column("key_id", sql.String(MAX_NAME), nullable=False),
    sql.Column("verified", sql.Boolean, nullable=False),
    sql.Index("signatures_of_key", "key_id", "number"),
)


@dataclass(frozen=True, slots=True)
class Submission:
    """An attestation to store.

    Attributes:
        attestation_id: The content-derived identifier (RFC 11.4).
        received_at: When it was received, as ISO 8601.
        submitter: Whose token it came with.
        project: The name that its statement has, if any.
        envelope: Its canonical JSON.
        signatures: Its signatures, in order.
    """

    attestation_id: str
    received_at: str
    submitter: str
    project: str | None
    envelope: str
    signatures: tuple[RegisteredSignature, ...]


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """A stored attestation, as listed.

    Attributes:
        number: Its place in the order of receipt.
        attestation_id: Its identifier.
        received_at: When it was received.
        project: The name that its statement has, if any.
        signatures: Its signatures, in order.
    """

    number: int
    attestation_id: str
    received_at: str
    project: str | None
    signatures: tuple[RegisteredSignature, ...]


class RegistryDatabase:
    """Stores and finds attestations.

    Args:
        url: A database URL such as `sqlite:///registry.db` or `postgresql://user@host/name`.

    Raises:
        VibesError: The URL is invalid, its driver is missing, there is no connection, or the tables
            are of another version.
    """

    def __init__(self, url: str) -> None:
        self._engine = _engine(url)
        # SQLite has one writer: waiting here is fair and cheap, waiting in it is a busy loop.
        self._writer: AbstractContextManager[Any] = (
            threading.Lock() if self._engine.dialect.name == "sqlite" else nullcontext()
        )
        try:
            try:
                with self._engine.begin() as connection:
                    _prepare_schema(connection)
            except sql.exc.IntegrityError:  # another server noted the version at the same time
                with self._engine.begin() as connection:
                    _prepare_schema(connection)
        except sql.exc.SQLAlchemyError as error:
            self.close()
            raise VibesError(
                f"the registry's database cannot be used: {_reason(error)}",
                hint="check its URL, and that it runs",
            ) from None
        except VibesError:
            self.close()
            raise

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def add(self, submission: Submission) -> tuple[RegistryEntry, bool]:
        """Store an attestation unless it is known; return its entry and whether it is new.

        When this returns, the entry is on the disk. For a known one, signatures that are verified
        now are marked.

        Raises:
            DatabaseDown: It was not stored.
        """
        try:
            with self._writer:
                try:
                    return self._insert(submission), True
                except sql.exc.IntegrityError:
                    return self._mark_verified(submission), False
        except sql.exc.SQLAlchemyError as error:
            raise DatabaseDown(_reason(error)) from None

    def envelope(self, attestation_id: str) -> tuple[RegistryEntry, str] | None:
        """Return an attestation with the canonical JSON of its envelope; None if there is none.

        Raises:
            DatabaseDown: The database does not answer.
        """
        query = sql.select(_ATTESTATIONS).where(_ATTESTATIONS.c.attestation_id == attestation_id)
        try:
            with self._engine.connect() as connection:
                row = connection.execute(query).mappings().first()
                if row is None:
                    return None
                [entry] = _entries(connection, [row])
                return entry, row["envelope"]
        except sql.exc.SQLAlchemyError as error:
            raise DatabaseDown(_reason(error)) from None

    def find(
        self, *, key_id: str | None, project: str | None, before: int | None, limit: int
    ) -> list[RegistryEntry]:
        """Return attestations, the newest first.

        Args:
            key_id: Only those with a signature that declares this identifier.
            project: Only those of this project.
            before: Only those received before the one with this number.
            limit: How many at most.

        Raises:
            DatabaseDown: The database does not answer.
        """
        columns = _ATTESTATIONS.c
        query = (
            sql.select(columns.number, columns.attestation_id, columns.received_at, columns.project)
            .order_by(columns.number.desc())
            .limit(limit)
        )
        if project is not None:
            query = query.where(columns.project == project)
        if before is not None:
            query = query.where(columns.number < before)
        if key_id is not None:
            signed = sql.select(_SIGNATURES.c.number).where(_SIGNATURES.c.key_id == key_id)
            query = query.where(columns.number.in_(signed))
        try:
            with self._engine.connect() as connection:
                return _entries(connection, connection.execute(query).mappings().all())
        except sql.exc.SQLAlchemyError as error:
            raise DatabaseDown(_reason(error)) from None

    def _insert(self, submission: Submission) -> RegistryEntry:
        with self._engine.begin() as connection:
            number: int = connection.execute(
                _ATTESTATIONS.insert()
                .values(
                    attestation_id=submission.attestation_id,
                    received_at=submission.received_at,
                    submitter=submission.submitter,
                    project=submission.project,
                    envelope=submission.envelope,
                )
                .returning(_ATTESTATIONS.c.number)
            ).scalar_one()
            connection.execute(
                _SIGNATURES.insert(),
                [
                    {
                        "number": number,
                        "place": place,
                        "key_id": each.key_id,
                        "verified": each.verified,
                    }
                    for place, each in enumerate(submission.signatures)
                ],
            )
        return RegistryEntry(
            number,
            submission.attestation_id,
            submission.received_at,
            submission.project,
            submission.signatures,
        )

    def _mark_verified(self, submission: Submission) -> RegistryEntry:
        with self._engine.begin() as connection:
            row = (
                connection.execute(
                    sql.select(_ATTESTATIONS).where(
                        _ATTESTATIONS.c.attestation_id == submission.attestation_id
                    )
                )
                .mappings()
                .one()
            )
            verified = [at for at, each in enumerate(submission.signatures) if each.verified]
            if verified:
                connection.execute(
                    _SIGNATURES.update()
                    .where(_SIGNATURES.c.number == row["number"], _SIGNATURES.c.place.in_(verified))
                    .values(verified=True)
                )
            [entry] = _entries(connection, [row])
            return entry


class DatabaseDown(VibesError):
    """The registry's database did not carry out a request."""

    code = "database-down"


def _entries(
    connection: sql.Connection, rows: Sequence[Mapping[str, Any] | sql.RowMapping]
) -> list[RegistryEntry]:
    """Return entries of rows, with their signatures."""
    numbers = [row["number"] for row in rows]
    found: dict[int, list[RegisteredSignature]] = {number: [] for number in numbers}
    for signature in connection.execute(
        sql.select(_SIGNATURES)
        .where(_SIGNATURES.c.number.in_(numbers))
        .order_by(_SIGNATURES.c.number, _SIGNATURES.c.place)
    ).mappings():
        found[signature["number"]].append(
            RegisteredSignature(signature["key_id"], bool(signature["verified"]))
        )
    return [
        RegistryEntry(
            row["number"],
            row["attestation_id"],
            row["received_at"],
            row["project"],
            tuple(found[row["number"]]),
        )
        for row in rows
    ]


def _prepare_schema(connection: sql.Connection) -> None:
    """Create the tables that are missing, and note their version.

    Raises:
        VibesError: The tables are of a version that this program does not know.
    """
    tables = sql.inspect(connection)
    newest = sql.select(sql.func.max(_VERSION.c.version))
    version = connection.scalar(newest) if tables.has_table(_VERSION.name) else None
    if version is not None and version != SCHEMA_VERSION:
        raise VibesError(
            f"the registry's database has tables of version {version}, expected {SCHEMA_VERSION}",
            hint="serve it with the release of vibes-lsp that made it, or a later one",
        )
    _SCHEMA.create_all(connection)
    if version is None:
        # Databases from before the version was noted have the tables of version 1.
        _require_columns(tables)
        connection.execute(_VERSION.insert().values(version=SCHEMA_VERSION))


def _require_columns(tables: sql.Inspector) -> None:
    for table in (_ATTESTATIONS, _SIGNATURES):
        present = {each["name"] for each in tables.get_columns(table.name)}
        missing = [each.name for each in table.columns if each.name not in present]
        if missing:
            raise VibesError(
                f"the registry's table {table.name} has no column {missing[0]}",
                hint="expected an empty database, or one that `vibes registry serve` made",
            )


def _engine(url: str) -> sql.Engine:
    try:
        parsed = make_url(url)
    except sql.exc.ArgumentError:
        raise VibesError(
            "the registry's database URL is invalid",
            hint="expected sqlite:///FILE or postgresql://USER@HOST/NAME",
        ) from None
    driver = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg"}
    name = driver.get(parsed.get_backend_name())
    if name is None:
        raise VibesError(
            f"the registry cannot use {parsed.get_backend_name()[:40]!r}",
            hint="expected sqlite:///FILE or postgresql://USER@HOST/NAME",
        )
    is_sqlite = name == "sqlite"
    arguments: dict[str, Any] = (
        {"timeout": _WAIT}
        if is_sqlite
        else {"connect_timeout": _WAIT, "options": f"-c statement_timeout={_WAIT * 1000}"}
    )
    try:
        engine = sql.create_engine(
            parsed.set(drivername=name),
            connect_args=arguments,
            pool_pre_ping=not is_sqlite,  # a server may restart
            pool_size=CONNECTIONS,
            max_overflow=0,
            pool_timeout=_WAIT,
        )
    except ModuleNotFoundError as error:
        raise VibesError(
            f"PostgreSQL needs the package {error.name}", hint="pip install 'psycopg[binary]'"
        ) from None
    if is_sqlite:
        sql.event.listen(engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: ConnectionPoolEntry) -> None:
    """Make each commit reach the disk, and readers not wait for it."""
    cursor = connection.cursor()
    statements: Iterable[str] = ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON")
    for statement in statements:
        cursor.execute(f"PRAGMA {statement}")
    cursor.close()


def _reason(error: sql.exc.SQLAlchemyError) -> str:
    """Return the database's own words, without the statement and its values."""
    original = getattr(error, "orig", None) or error
    return " ".join(str(original).split())[:MAX_NAME] or type(error).__name__

"""Keeps one store in a schema of a Postgres, which any number of servers and workers may use."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from chatbot.errors import StoreError
from chatbot.store.database import (
    EarlierStoreError,
    NewerStoreError,
    PostgresPlace,
    Schema,
    statements,
)
from chatbot.store.postgres_dialect import PostgresTransaction, run
from chatbot.store.postgres_faults import KEEPALIVES, SETTING, as_store_error, parse_address, shown_address
from chatbot.store.postgres_pool import Claims, PostgresConnection, PostgresPool

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresDatabase"]

T = TypeVar("T")
# Seconds a writer waits for another one's transaction; a statement may take; and a server may be silent.
LOCK_SECONDS, STATEMENT_SECONDS, SILENT_SECONDS = 20, 30, 33
# Seconds after which the server ends a transaction whose process does nothing, as when it was halted.
HALTED_SECONDS = 60
# For connections, unless the address says otherwise. What is lost on the way is noticed within a minute.
CONNECTING = {
    "connect_timeout": "10",
    "keepalives_idle": "20",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "30000",
    "client_encoding": "utf8",
}
LEAST_VERSION = 14
MARK = "finpolicy_store"
INSTALL_HINT = "Install it: make setup-served, or by pip the extra `served`."


class PostgresDatabase(Claims):
    """A schema that any thread may read, and any number of processes; see Database.

    One transaction at a time writes a store, whoever asks for it, so that each finds what the one before it
    has left. Readers wait for nobody and see what is committed.
    """

    shared = True

    def __init__(self, place: PostgresPlace, schema: Schema, *, read_only: bool = False) -> None:
        """Opens the schema, which is made if it is missing.

        read_only: whether nothing is written afterwards.

        Raises StoreError if the database cannot be used, or holds the tables of another program or version.
        """
        if importlib.util.find_spec("psycopg") is None:
            raise StoreError("The Postgres client (psycopg) is not installed.", hint=INSTALL_HINT)
        self._parts = CONNECTING | parse_address(place.address, SETTING)
        self._address, self.read_only = place.address, read_only
        self._local, self._supported = threading.local(), schema.version
        pool = PostgresPool(self._connect, self._explain, SILENT_SECONDS)
        super().__init__(f"finpolicy_{place.name}", pool)
        try:
            self._open(schema)
        except BaseException:
            self.close()
            raise

    def read(self, statement: str, arguments: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Returns all rows. Raises StoreError."""
        writing: PostgresTransaction | None = getattr(self._local, "writing", None)
        if writing is not None:
            return writing.execute(statement, arguments).fetchall()
        return self._again(lambda connection: run(connection, statement, arguments).fetchall())

    @contextmanager
    def write(self) -> Iterator[PostgresTransaction]:
        """Opens a transaction; what fails in it changes nothing. Raises StoreError.

        Where the server goes away before it has confirmed the end, what was written may be there or not.
        """
        with self._begun() as connection:
            self._local.writing = transaction = PostgresTransaction(connection, self._pool)
            try:
                yield transaction
                transaction.execute("commit")
            except BaseException:
                with suppress(Exception):  # a server that is gone has rolled back
                    connection.execute("rollback")
                raise
            finally:
                del self._local.writing

    def check_version(self) -> None:
        """Raises NewerStoreError if a later version of the program has changed the tables meanwhile."""
        found = self._version()
        if found > self._supported:
            raise NewerStoreError("store", found, self._supported)

    def complaints(self) -> list[str]:
        """Returns what a look at every table finds wrong, at most ten lines."""
        found = []
        for (table,) in self.read("select tablename from pg_tables where schemaname = ?", (self._name,)):
            try:
                self.read(f"select * from {table} limit 1")
            except StoreError as error:
                if error.retryable:
                    raise
                found.append(error.whole_message)
        return found[:10]

    def highest_number(self, table: str, column: str) -> int:
        """Returns the highest number that a column was ever given; 0 for none."""
        ((number,),) = self.read(
            "select coalesce(pg_sequence_last_value(pg_get_serial_sequence(?, ?)::regclass), 0)",
            (table, column),
        )
        return int(number)

    def number_from(self, table: str, column: str, number: int) -> None:
        """Lets a column go on after a number."""
        with self.write() as changes:
            changes.execute(
                "select setval(pg_get_serial_sequence(?, ?)::regclass, ?)", (table, column, number)
            )

    def used_bytes(self) -> int:
        """Returns the bytes of all tables and indexes."""
        ((size,),) = self.read(
            "select coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint from pg_class c"
            " join pg_namespace n on n.oid = c.relnamespace where n.nspname = ? and c.relkind = 'r'",
            (self._name,),
        )
        return int(size)

    # --- inside
    # --------------------------------------------------------------------------------------------------------

    def _open(self, schema: Schema) -> None:
        """Makes the tables unless they are there. Raises EarlierStoreError, NewerStoreError."""
        found = self._version()
        if found == schema.version:
            return
        with self._begun() as connection:
            transaction = PostgresTransaction(connection, self._pool)
            found = self._version(connection)  # others may have made them meanwhile
            if found > schema.version:
                raise NewerStoreError("store", found, schema.version)
            if found == 0:
                # Not `if not exists`, which asks for the right to create schemas even where there is one.
                if transaction.execute("select to_regnamespace(?)", (self._name,)).fetchone() == (None,):
                    transaction.execute(f"create schema {self._name}")
                for statement in statements(schema.tables):
                    transaction.execute(statement)
                transaction.execute(f"create table {MARK} (version integer not null)")
                transaction.execute(f"insert into {MARK} values (?)", (schema.version,))
            elif found < schema.version:
                raise EarlierStoreError("store", found, schema.version)
            transaction.execute("commit")

    def _version(self, connection: PostgresConnection | None = None) -> int:
        """Returns the version of the tables, 0 for none. Raises StoreError for those of another program."""
        # In one statement, for others may make the tables just now.
        look = "select bool_or(tablename = ?), count(*) from pg_tables where schemaname = ?"
        if connection is None:
            return self._again(self._version)
        ((marked, tables),) = run(connection, look, (MARK, self._name)).fetchall()
        if marked:
            return int(run(connection, f"select version from {MARK}").fetchall()[0][0])
        if tables:
            raise StoreError(
                f"The schema {self._name} of {shown_address(self._address)} holds another program's tables.",
                hint=f"Name another database in {SETTING}.",
            )
        return 0

    def _again(self, ask: Callable[[PostgresConnection], T]) -> T:
        """Asks once more if the connection broke, as when the server was restarted: reading changes
        nothing.
        """
        broken = False
        try:
            with self._pool.lent() as connection:
                try:
                    return ask(connection)
                finally:
                    broken = connection.closed and not self._pool.gave_up(connection)
        except StoreError as error:
            if not (broken and error.retryable):
                raise
        self._pool.forget()
        with self._pool.lent() as connection:
            return ask(connection)

    @contextmanager
    def _begun(self) -> Iterator[PostgresConnection]:
        """A transaction that is the only one to write this store."""
        begin = f"begin; select pg_advisory_xact_lock(hashtextextended('{self._name}', 0))"
        with self._pool.lent(begin.encode()) as connection:
            yield connection

    def _explain(self, error: psycopg.Error, late: bool) -> StoreError:
        return as_store_error(error, self._address, late=late)

    def _connect(self, _: float) -> PostgresConnection:
        import psycopg

        from chatbot.store.postgres_values import adapt

        connection = psycopg.connect(
            **(self._parts | {"application_name": self._name}),  # type: ignore[arg-type]  # all of them text
            autocommit=True,
        )
        try:
            version = connection.info.server_version // 10_000
            if version < LEAST_VERSION:
                raise StoreError(
                    f"The database has version {version} of Postgres, but {LEAST_VERSION} is needed.",
                    hint="Update Postgres.",
                )
            if connection.info.parameter_status("server_encoding") != "UTF8":
                raise StoreError(
                    f"The database {shown_address(self._address)} cannot hold every character.",
                    hint="Create it with the encoding UTF8.",
                )
            adapt(connection)
            kept_alive = "".join(f" set {name} = {value};" for name, value in KEEPALIVES.items())
            connection.execute(
                f"{kept_alive} set search_path to {self._name};"
                f" set statement_timeout = '{STATEMENT_SECONDS}s'; set lock_timeout = '{LOCK_SECONDS}s';"
                f" set idle_in_transaction_session_timeout = '{HALTED_SECONDS}s'".encode()
            )
        except BaseException:
            connection.close()
            raise
        return connection

"""Steps of migrations that run while the service is in use. Each can be repeated after an interruption.

A step that locks a table against everybody tries for half a second and then lets the others go first. Steps that only
read, build or check take no such lock, and may take as long as they need.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from alembic import op
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

LOCK_NOT_AVAILABLE, DEADLOCK = "55P03", "40P01"
ATTEMPTS, PAUSE_SECONDS = 60, 0.5
BLOCKS_OF_PAGE = 100
BLOCK_BYTES = 8192
PASSES = 20


class RowsNotFilled(RuntimeError):
    """Some rows got no value: they belong to nothing, or were locked all the time."""


@contextmanager
def beside_traffic() -> Iterator[None]:
    """Commit each statement of the block by itself; statements may take any time, and may be repeated."""
    with op.get_context().autocommit_block():
        op.execute("SET statement_timeout = 0")
        op.execute("SET lock_timeout = 0")
        yield
        op.execute("RESET lock_timeout")


def execute_with_short_lock(statement: str) -> None:
    """Run a statement that locks a table; while others hold it, try again every half a second. Raises DBAPIError."""
    op.execute("SET lock_timeout = '500ms'")
    for attempt in range(1, ATTEMPTS + 1):
        try:
            op.execute(statement)
            break
        except DBAPIError as error:
            if attempt == ATTEMPTS or getattr(error.orig, "sqlstate", None) not in (LOCK_NOT_AVAILABLE, DEADLOCK):
                raise
            time.sleep(PAUSE_SECONDS)
    op.execute("SET lock_timeout = 0")


def build_unique_index(name: str, table: str, columns: str, where: str = "") -> None:
    """Build a unique index beside the traffic, unless it is there; a broken one of an interrupted run is built again."""
    query = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)"
    is_valid = _connection().scalar(text(query), {"name": name})
    if is_valid:
        return
    op.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
    condition = f" WHERE {where}" if where else ""
    op.execute(f"CREATE UNIQUE INDEX CONCURRENTLY {name} ON {table} ({columns}){condition}")


def replace_unique_index(name: str, table: str, columns: str, where: str) -> None:
    """Replace a unique index by one with these columns and the same name; at each moment one of them holds."""
    query = "SELECT pg_get_indexdef(to_regclass(:name)) LIKE '%(' || :columns || ')%'"
    if _connection().scalar(text(query), {"name": name, "columns": columns}):
        return
    build_unique_index(f"{name}_event", table, columns, where)
    execute_with_short_lock(f"DO $$ BEGIN DROP INDEX {name}; ALTER INDEX {name}_event RENAME TO {name}; END $$")


def has_constraint(table: str, name: str) -> bool:
    query = "SELECT EXISTS (SELECT FROM pg_constraint WHERE conrelid = to_regclass(:table) AND conname = :name)"
    return bool(_connection().scalar(text(query), {"table": table, "name": name}))


def is_in_primary_key(table: str, column: str) -> bool:
    query = """
        SELECT EXISTS (SELECT FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
                        WHERE i.indrelid = to_regclass(:table) AND i.indisprimary AND a.attname = :column)"""
    return bool(_connection().scalar(text(query), {"table": table, "column": column}))


def replace_foreign_key(table: str, old: str, new: str, definition: str) -> None:
    """Add a foreign key, check the rows without blocking writes, and then drop the one that it replaces."""
    if not has_constraint(table, new):
        execute_with_short_lock(f"ALTER TABLE {table} ADD CONSTRAINT {new} {definition} NOT VALID")
    op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {new}")
    if has_constraint(table, old):
        execute_with_short_lock(f"ALTER TABLE {table} DROP CONSTRAINT {old}")


def fill_column(table: str, column: str, value: str) -> None:
    """Set a column that is null in pages of some thousand rows. `value` is SQL about the row `t`.

    A trigger must fill the column of every row that is written meanwhile. Rows that somebody has locked wait for the
    next pass. Raises RowsNotFilled.
    """
    update = text(f"""
        WITH page AS MATERIALIZED (
            SELECT ctid AS place FROM {table}
             WHERE ctid >= CAST(:first AS tid) AND ctid < CAST(:last AS tid) AND {column} IS NULL
               FOR NO KEY UPDATE SKIP LOCKED)
        UPDATE {table} t SET {column} = ({value}) FROM page WHERE t.ctid = page.place""")
    unfilled = f"SELECT count(*) FROM {table} t WHERE {column} IS NULL"
    connection = _connection()
    for _ in range(PASSES):
        blocks = (
            connection.scalar(text("SELECT pg_relation_size(to_regclass(:table))"), {"table": table}) // BLOCK_BYTES
        )
        for block in range(0, blocks, BLOCKS_OF_PAGE):
            connection.execute(update, {"first": f"({block},0)", "last": f"({block + BLOCKS_OF_PAGE},0)"})
        if not connection.scalar(text(unfilled)):
            return
        if count := connection.scalar(text(f"{unfilled} AND ({value}) IS NULL")):
            raise RowsNotFilled(f"{table}: {count} rows have no {column}, because their parent is missing.")
        time.sleep(PAUSE_SECONDS)
    raise RowsNotFilled(f"{table}: some rows were locked all the time; run the migration again.")


def require_column(table: str, column: str) -> None:
    """Let a filled column be never null. The check is validated first, so the table is not locked while it is read."""
    rule = f"{table}_{column}_is_set"
    query = "SELECT attnotnull FROM pg_attribute WHERE attrelid = to_regclass(:table) AND attname = :column"
    if not _connection().scalar(text(query), {"table": table, "column": column}):
        if not has_constraint(table, rule):
            execute_with_short_lock(f"ALTER TABLE {table} ADD CONSTRAINT {rule} CHECK ({column} IS NOT NULL) NOT VALID")
        op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {rule}")
        execute_with_short_lock(f"ALTER TABLE {table} ALTER COLUMN {column} SET NOT NULL")
    execute_with_short_lock(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {rule}")


def _connection() -> Connection:
    connection: Connection | None = op.get_bind()
    assert connection is not None
    return connection

"""Removes a constraint or index for control tests, which show what it prevents."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, text

from app.core.db import db, transaction_engine

DEFINITION_SQL = text("""
    SELECT conrelid::regclass, 'ALTER TABLE ' || conrelid::regclass || ' DROP CONSTRAINT ' || conname,
           'ALTER TABLE ' || conrelid::regclass || ' ADD CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid)
      FROM pg_constraint WHERE conname = :name
     UNION ALL
    SELECT indrelid::regclass, 'DROP INDEX ' || indexrelid::regclass, pg_get_indexdef(indexrelid)
      FROM pg_index WHERE indexrelid = to_regclass(:name)
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conname = :name)""")


@contextmanager
def without_rules(*names: str) -> Iterator[None]:
    """Removes these constraints and indexes for the block and then restores them with their own definitions.

    The rows of their tables are deleted, because they may violate the rules.
    """
    db.session.remove()
    with transaction_engine(db.engine).begin() as connection:
        removed_rules = [_remove_rule(connection, name) for name in names]
    try:
        yield
    finally:
        db.session.remove()
        with transaction_engine(db.engine).begin() as connection:
            connection.execute(text("SET LOCAL session_replication_role = replica"))
            for table, restore in removed_rules:
                connection.execute(text(f"DELETE FROM {table}"))
                connection.exec_driver_sql(restore)


def _remove_rule(connection: Connection, name: str) -> tuple[str, str]:
    """The table, and the statement that restores the rule."""
    table, drop, restore = connection.execute(DEFINITION_SQL, {"name": name}).one()
    connection.exec_driver_sql(drop)
    return table, restore

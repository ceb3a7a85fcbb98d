"""Tables without one of their rules, for controls that show what it is good for."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, text

from app.core.db import db

DEFINED = text("""
    SELECT conrelid::regclass, 'ALTER TABLE ' || conrelid::regclass || ' DROP CONSTRAINT ' || conname,
           'ALTER TABLE ' || conrelid::regclass || ' ADD CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid)
      FROM pg_constraint WHERE conname = :rule
     UNION ALL
    SELECT indrelid::regclass, 'DROP INDEX ' || indexrelid::regclass, pg_get_indexdef(indexrelid)
      FROM pg_index WHERE indexrelid = to_regclass(:rule)
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conname = :rule)""")


@contextmanager
def without(*rules: str) -> Iterator[None]:
    """Constraints and indexes are away for as long as the block. What comes back is what was there, whatever a
    migration has made of it; the rows of their tables do not, for they may break it."""
    db.session.remove()
    with db.engine.begin() as connection:
        found = [_taken_away(connection, rule) for rule in rules]
    try:
        yield
    finally:
        db.session.remove()
        with db.engine.begin() as connection:
            connection.execute(text("SET LOCAL session_replication_role = replica"))
            for table, put_back in found:
                connection.execute(text(f"DELETE FROM {table}"))
                connection.exec_driver_sql(put_back)


def _taken_away(connection: Connection, rule: str) -> tuple[str, str]:
    """Its table, and the words that bring it back."""
    table, drop, put_back = connection.execute(DEFINED, {"rule": rule}).one()
    connection.exec_driver_sql(drop)
    return table, put_back

"""Alembic's environment: the models' metadata, the application's database, short lock waits."""

from alembic import context
from flask import current_app
from sqlalchemy import text

from app.core.db import db
from app.core.jobs import discover

discover()
metadata = db.metadata


def include_name(name: str | None, kind: str, _: object) -> bool:
    return kind != "table" or name in metadata.tables


def migrate(connection: object) -> None:
    context.configure(
        connection=connection,
        target_metadata=metadata,
        compare_type=True,
        compare_server_default=False,
        include_name=include_name,
        transaction_per_migration=True,
    )
    with context.begin_transaction():
        context.run_migrations()


if context.is_offline_mode():
    context.configure(url=str(db.engine.url), target_metadata=metadata, literal_binds=True)
    with context.begin_transaction():
        context.run_migrations()
else:
    with current_app.app_context(), db.engine.connect() as connection:
        # A request has ten seconds; an index of a large table takes what it takes. Waiting for a lock still ends
        # after three. Nobody else shall inherit that, so the connection ends here. (It stays the pool's until then:
        # one that was detached cannot be set to commit each statement, as an index made beside the traffic needs it.)
        connection.execute(text("SET statement_timeout = 0"))
        connection.commit()
        try:
            migrate(connection)
        finally:
            connection.invalidate()

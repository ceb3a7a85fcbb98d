"""Alembic's environment: the models' metadata, the application's database, short lock waits."""

import time

from alembic import context
from flask import current_app
from sqlalchemy import text

from app.core import connections
from app.core.db import db

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
    with (
        current_app.app_context(),
        connections.create_direct_engine(current_app.extensions["settings"]).connect() as connection,
    ):
        # A request has ten seconds; an index of a large table takes what it takes. Waiting for the lock of a table
        # still ends after three. Another node that migrates at this moment is waited for without a statement under
        # way: an index that is made beside the traffic would wait for that one in turn.
        connection.execute(text("SET statement_timeout = 0"))
        while not connection.scalar(text("SELECT pg_try_advisory_lock(7161006)")):
            connection.commit()
            time.sleep(0.2)
        connection.commit()
        migrate(connection)

"""Migrations 0023 and 0024: rows of the previous version get their event, before, during and after an interruption."""

from collections.abc import Iterator

import click
import pytest
from alembic.script import ScriptDirectory
from flask import Flask
from flask_migrate import downgrade, upgrade
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

from app.core import migrations
from app.core.db import db, transaction_engine
from tests import stores
from tests.house.sources import ROOT
from tests.settings import app_for

FOLDER = str(ROOT / "migrations")
BEFORE, EXPANDED, CONTRACTED = "0022", "0023", "0024"
TABLES: dict[str, str] = ScriptDirectory(FOLDER).get_revision(EXPANDED).module.EVENTS
ID = "repeat('a', 24)"
PARENTS = f"""
    INSERT INTO account (id, email, password_version, name, roles, version)
    VALUES ({ID}, 'a@example.com', 1, 'A', '{{organiser}}', 1);
    INSERT INTO event (id, organiser_id, name, venue, city, city_key, country, timezone, starts_at, ends_at, visibility,
                       search_text)
    VALUES ({ID}, {ID}, 'E', 'V', 'C', 'c', 'NA', 'Africa/Windhoek', now(), now() + interval '1 day', 'draft', '');
    INSERT INTO ticket_type (id, event_id, position, name, name_key, price_minor, total)
    VALUES ({ID}, {ID}, 0, 'T', 't', 1, 10);
    INSERT INTO allocation_block (id, event_id, ticket_type_id, kind, quantity, unit_price_minor, status)
    VALUES ({ID}, {ID}, {ID}, 'sponsor', 0, 0, 'open');
    INSERT INTO campaign (id, event_id, name, template_id, title, body, channels, audience_type, respect_preferences,
                          status)
    VALUES ({ID}, {ID}, 'C', 't', 'T', 'B', '{{email}}', 'event_ticket_holders', true, 'sent');
    INSERT INTO participation (merchant_id, event_id) VALUES ({ID}, {ID});
    INSERT INTO crew_member (id, merchant_id, event_id, position, name, code_hash) VALUES ({ID}, {ID}, {ID}, 0, 'N', 'h');
    INSERT INTO inventory_order (id, event_id, actor_id) VALUES ({ID}, {ID}, {ID});
"""
CHILDREN = {
    "slots": f"""INSERT INTO allocation_slot (id, block_id, event_id, ticket_type_id)
                 VALUES (:id, {ID}, {ID}, {ID})""",
    "items": f"INSERT INTO inventory_item (id, event_id, name, sku, sku_key) VALUES (:id, {ID}, 'I', :id, :id)",
    "allocation_slot_event": f"""INSERT INTO allocation_slot_event (slot_id, block_id, verb, to_status, actor)
                                 VALUES (:id, {ID}, 'claim', 'claimed', 'guest')""",
    "invoice": f"""INSERT INTO invoice (id, block_id, organiser_id, kind, year, sequence, number, quantity, total_minor,
                                        paper)
                   VALUES (:id, {ID}, {ID}, 'credit_note', 2026, :number, right(:id, 9), 1, -1, '{{}}')""",
    "ticket_pack": f"INSERT INTO ticket_pack (id, block_id, count, status) VALUES (:id, {ID}, 1, 'queued')",
    "ticket_pack_slot": "INSERT INTO ticket_pack_slot (slot_id, pack_id, number) VALUES (:id, :id, 1)",
    "price_phase": f"""INSERT INTO price_phase (id, ticket_type_id, position, name, price_minor)
                       VALUES (:id, {ID}, 0, 'P', 1)""",
    "ticket_admission": f"""INSERT INTO ticket_admission (ticket_type_id, block_id, day, stripe, count)
                            VALUES ({ID}, {ID}, now(), :number, 1)
                                ON CONFLICT (ticket_type_id, block_id, day, stripe) DO UPDATE SET count = 2""",
    "ticket_tally": f"""INSERT INTO ticket_tally (ticket_type_id, day, sold, allocated, invited, claimed, admitted,
                                                  revoked, released, revenue_minor)
                        VALUES ({ID}, DATE '2026-01-01' + :number, 0, 0, 0, 0, 0, 0, 0, 0)
                            ON CONFLICT (ticket_type_id, day) DO UPDATE SET sold = 1""",
    "campaign_act": f"INSERT INTO campaign_act (campaign_id, verb) VALUES ({ID}, 'created')",
    "campaign_recipient": f"""INSERT INTO campaign_recipient (id, campaign_id, channel, person, address, places, variant)
                              VALUES (:id, {ID}, 'email', :id, :id, 1, 'A')""",
    "campaign_tally": f"""INSERT INTO campaign_tally (campaign_id, variant, stripe) VALUES ({ID}, 'A', :number)
                              ON CONFLICT (campaign_id, variant, stripe) DO UPDATE SET total = 1""",
    "inventory_order_line": f"""INSERT INTO inventory_order_line (order_id, item_id, sku, name, quantity)
                                VALUES ({ID}, :id, 's', 'n', 1)""",
    "shift": f"""INSERT INTO shift (id, crew_member_id, started_at, changed_at) VALUES (:id, {ID}, now(), now())
                     ON CONFLICT (crew_member_id) WHERE ended_at IS NULL DO UPDATE SET changed_at = now()""",
    "shift_break": """INSERT INTO shift_break (shift_id, started_at, ended_at)
                      SELECT id, now() + :number * interval '1 day', now() + :number * interval '1 day' FROM shift""",
}
"""Inserts of the previous version, in the order of their foreign keys."""


@pytest.fixture
def before(application: Flask, worker: str) -> Iterator[Flask]:
    """A database at 0022 with the parents, and a row of the previous version in each table."""
    url = stores.database_of(f"{worker}_event_keys")
    app = app_for(database_url=url, redis_url=application.extensions["settings"].REDIS_URL)
    with app.app_context():
        downgrade(directory=FOLDER, revision=BEFORE)
        with transaction_engine(db.engine).begin() as connection:
            connection.exec_driver_sql(PARENTS)
            insert_as_before(connection, 1)
        yield app
        db.session.remove()
        db.engine.dispose()
    stores.drop(url)


def insert_as_before(connection: Connection, number: int) -> None:
    for statement in CHILDREN.values():
        connection.exec_driver_sql(statement.replace(":id", f"'{number:024}'").replace(":number", str(number)))


def count_rows(connection: Connection) -> dict[str, int]:
    """How many rows of each table have the event."""
    counts = {table: f"SELECT count(*) FROM {table} WHERE event_id = {ID}" for table in TABLES}
    return {table: connection.scalar(text(statement)) or 0 for table, statement in counts.items()}


def list_triggers(connection: Connection) -> list[str]:
    names = connection.scalars(text("SELECT tgname FROM pg_trigger WHERE tgname LIKE '%\\_sets\\_event' ORDER BY 1"))
    functions = connection.scalars(text("SELECT proname FROM pg_proc WHERE proname LIKE '%\\_sets\\_event' ORDER BY 1"))
    found = list(names)
    assert found == list(functions)
    return found


def test_the_previous_version_goes_on_until_the_contraction(before: Flask) -> None:
    upgrade(directory=FOLDER, revision=EXPANDED)
    with transaction_engine(db.engine).begin() as connection:
        assert count_rows(connection) == dict.fromkeys(TABLES, 1)
        insert_as_before(connection, 2)
        assert count_rows(connection) == {**dict.fromkeys(TABLES, 2), "shift": 1}
        assert list_triggers(connection) == sorted(f"{table}_sets_event" for table in TABLES)
    upgrade(directory=FOLDER, revision=CONTRACTED)
    with transaction_engine(db.engine).begin() as connection:
        assert list_triggers(connection) == []
        with pytest.raises(DBAPIError, match="event_id"), connection.begin_nested():
            connection.exec_driver_sql(CHILDREN["campaign_act"])
        with pytest.raises(DBAPIError, match="never changed"), connection.begin_nested():
            connection.execute(text("UPDATE invoice SET number = 'x'"))
    downgrade(directory=FOLDER, revision=EXPANDED)
    with transaction_engine(db.engine).begin() as connection:
        insert_as_before(connection, 3)
        assert count_rows(connection) == {**dict.fromkeys(TABLES, 3), "shift": 1}
    downgrade(directory=FOLDER, revision=BEFORE)
    with transaction_engine(db.engine).begin() as connection:
        insert_as_before(connection, 4)


def test_an_interrupted_expansion_is_run_again(before: Flask) -> None:
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(text("UPDATE allocation_slot_event SET block_id = 'none'"))
    with pytest.raises(SystemExit):
        upgrade(directory=FOLDER, revision=EXPANDED)
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(text(f"UPDATE allocation_slot_event SET block_id = {ID}"))
    upgrade(directory=FOLDER, revision=EXPANDED)
    with transaction_engine(db.engine).begin() as connection:
        assert count_rows(connection) == dict.fromkeys(TABLES, 1)


def test_an_interrupted_contraction_is_not_taken_back(before: Flask) -> None:
    upgrade(directory=FOLDER, revision=EXPANDED)
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(text("ALTER TABLE shift_break DROP CONSTRAINT pk_shift_break"))
        connection.execute(text("ALTER TABLE shift_break ADD PRIMARY KEY (shift_id, started_at, event_id)"))
    with pytest.raises(click.ClickException, match="Run `db upgrade` first"):
        downgrade(directory=FOLDER, revision=BEFORE)


def test_an_interrupted_contraction_is_run_again(before: Flask) -> None:
    upgrade(directory=FOLDER, revision=EXPANDED)
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(text("CREATE UNIQUE INDEX shift_with_event ON shift (id, event_id)"))
        connection.execute(
            text("UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'shift_with_event'::regclass")
        )
        connection.execute(text("ALTER TABLE ticket_pack_slot DROP CONSTRAINT fk_ticket_pack_slot_pack_id_ticket_pack"))
        connection.execute(
            text(
                "ALTER TABLE ticket_pack_slot DROP CONSTRAINT pk_ticket_pack_slot,"
                " ADD CONSTRAINT pk_ticket_pack_slot PRIMARY KEY (slot_id, event_id)"
            )
        )
        connection.execute(text("DROP TRIGGER shift_sets_event ON shift"))
    upgrade(directory=FOLDER, revision=CONTRACTED)
    with transaction_engine(db.engine).begin() as connection:
        assert list_triggers(connection) == []
        assert connection.scalar(text("SELECT count(*) FROM pg_index WHERE NOT indisvalid")) == 0


@pytest.fixture
def contraction_is_last(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The code of the release with the contraction."""
    monkeypatch.setattr(migrations, "head", lambda: CONTRACTED)
    migrations._sufficient_revisions.cache_clear()
    yield
    migrations._sufficient_revisions.cache_clear()


@pytest.mark.usefixtures("contraction_is_last")
def test_an_upgrade_leaves_the_contraction_to_the_next_one(before: Flask) -> None:
    assert migrations.expanded() == EXPANDED
    assert [migrations.is_sufficient(name) for name in (BEFORE, EXPANDED, CONTRACTED)] == [False, True, True]
    expand = before.test_cli_runner()
    assert expand.invoke(args=["db", "expand"]).exit_code == 0
    with db.engine.connect() as connection:
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == EXPANDED

"""Migrations: one head, the same tables as the models, and a way back."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from flask import Flask
from flask_migrate import downgrade, upgrade
from sqlalchemy import inspect, text

from app.core.db import Base, db, transaction_engine
from tests import stores
from tests.faults.suite.release_faults import expanded
from tests.house.sources import ROOT, files
from tests.settings import app_for

FOLDER = str(ROOT / "migrations")


@pytest.fixture
def scratch(application: Flask, worker: str) -> Iterator[Flask]:
    """An application on a clone that a test may break."""
    url = stores.database_of(f"{worker}_scratch")
    app = app_for(database_url=url, redis_url=application.extensions["settings"].REDIS_URL)
    with app.app_context():
        yield app
        db.session.remove()
        db.engine.dispose()
    stores.drop(url)


def tables() -> set[str]:
    with db.engine.connect() as connection:
        return set(connection.scalars(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")))


def differences() -> list[object]:
    with db.engine.connect() as connection:
        found: list[object] = compare_metadata(
            MigrationContext.configure(connection, opts={"compare_type": True}), Base.metadata
        )
        return found


def primary_keys() -> dict[str, list[str]]:
    with db.engine.connect() as connection:
        found = inspect(connection)
        return {name: found.get_pk_constraint(name)["constrained_columns"] for name in Base.metadata.tables}


def test_there_is_one_head() -> None:
    assert len(ScriptDirectory(FOLDER).get_heads()) == 1


def test_the_models_are_what_the_migrations_make(scratch: Flask) -> None:
    assert differences() == []
    assert primary_keys() == {name: table.primary_key.columns.keys() for name, table in Base.metadata.tables.items()}


def test_migrations_go_down_and_up_again(scratch: Flask) -> None:
    before = tables()
    downgrade(directory=FOLDER, revision="base")
    assert tables() <= {"alembic_version"}
    with db.engine.connect() as connection:
        left = connection.scalars(
            text(
                "SELECT typname FROM pg_type JOIN pg_namespace n ON n.oid = typnamespace "
                "WHERE nspname = 'public' AND typtype = 'e'"
            )
        )
        assert list(left) == [], "enums of the tables that are gone"
    upgrade(directory=FOLDER)
    assert tables() == before and differences() == []


def test_the_migration_removes_invisible_characters_from_names(scratch: Flask) -> None:
    names = {
        "a": ("\ufeffFri\u200beda\u202e\U000e0066", "Frieda"),
        "b": ("مهدی\u200cزاده", "مهدی\u200cزاده"),
        "c": ("Fri\u200ceda", "Frieda"),
        "d": ("Ees ❤\ufe0f", "Ees ❤\ufe0f"),
        "e": ("\u3164", "\u3164"),
    }
    downgrade(directory=FOLDER, revision="0012")
    with transaction_engine(db.engine).begin() as connection:
        for id, (name, _) in names.items():
            connection.execute(
                text(
                    "INSERT INTO account (id, email, password_version, name, roles, version)"
                    " VALUES (repeat(:id, 24), :id || '@example.com', 1, :name, '{customer}', 1)"
                ),
                {"id": id, "name": name},
            )
    upgrade(directory=FOLDER)
    with db.engine.connect() as connection:
        rows = connection.execute(text("SELECT left(id, 1) AS id, name FROM account"))
        found = {row.id: row.name for row in rows}
    assert found == {id: cleaned for id, (_, cleaned) in names.items()}


def test_payments_keep_what_was_taken_back(scratch: Flask) -> None:
    """Payments stay in both directions; the version before cannot say which ones were taken back."""
    payment = (
        "INSERT INTO invoice_payment (invoice_id, event_id, number, amount_minor, reference, received_on, recorded_by"
        "{names}) VALUES (repeat('a', 24), repeat('e', 24), {number}, {amount}, 'EFT', now(), repeat('c', 24){values})"
    )
    replica = text("SET LOCAL session_replication_role = replica")
    downgrade(directory=FOLDER, revision="0071")
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(replica)
        connection.execute(text(payment.format(names="", number=1, amount=500, values="")))
    upgrade(directory=FOLDER)
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(replica)
        back = {"names": ", takes_back, reason", "number": 2, "amount": -500, "values": ", 1, 'typed twice'"}
        connection.execute(text(payment.format(**back)))
    with pytest.raises(SystemExit):
        downgrade(directory=FOLDER, revision="0071")
    with transaction_engine(db.engine).begin() as connection:
        assert connection.scalar(text("SELECT sum(amount_minor) FROM invoice_payment WHERE number < 3")) == 0
        connection.execute(text("DELETE FROM invoice_payment WHERE takes_back IS NOT NULL"))
    downgrade(directory=FOLDER, revision="0071")
    upgrade(directory=FOLDER)
    with db.engine.connect() as connection:
        assert connection.scalar(text("SELECT sum(amount_minor) FROM invoice_payment")) == 500


def test_no_draft_of_an_unverified_organiser_is_published_by_its_time(scratch: Flask) -> None:
    downgrade(directory=FOLDER, revision="0020")
    with transaction_engine(db.engine).begin() as connection:
        for name, verified in (("a", "now()"), ("b", "NULL")):
            connection.execute(
                text(
                    "INSERT INTO account (id, email, email_verified_at, password_version, name, roles, version)"
                    f" VALUES (repeat('{name}', 24), '{name}@example.com', {verified}, 1, 'N', '{{organiser}}', 1)"
                )
            )
            connection.execute(
                text(
                    "INSERT INTO event (id, organiser_id, name, venue, city, city_key, country, timezone, starts_at,"
                    " ends_at, visibility, publish_at, search_text)"
                    f" VALUES (repeat('{name}', 24), repeat('{name}', 24), 'E', 'V', 'C', 'c', 'NA', 'Africa/Windhoek',"
                    " now() + interval '2 days', now() + interval '3 days', 'draft', now() + interval '1 day', '')"
                )
            )
    upgrade(directory=FOLDER)
    with db.engine.connect() as connection:
        timed = text("SELECT left(id, 1) FROM event WHERE publish_at IS NOT NULL")
        assert connection.scalars(timed).all() == ["a"]


def test_documents_that_were_opened_count_as_accepted(scratch: Flask) -> None:
    downgrade(directory=FOLDER, revision="0069")
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(
            text(
                "INSERT INTO merchant_application (id, reference, status, amount_minor, destination, mode, version)"
                " VALUES (repeat('a', 24), 'MA-1', 'ready', 0, 'bank', 'now', 1)"
            )
        )
        for kind, opened, asked in (("x", "now()", "NULL"), ("y", "now()", "now()"), ("z", "NULL", "NULL")):
            connection.execute(
                text(
                    "INSERT INTO application_document (id, application_id, kind, file_name, content_type, size, stored_as,"
                    f" opened_at, asked_again_at) VALUES (repeat('{kind}', 24), repeat('a', 24), '{kind}', 'f', 'c', 1,"
                    f" 's', {opened}, {asked})"
                )
            )
    upgrade(directory=FOLDER)
    with db.engine.connect() as connection:
        query = "SELECT kind FROM application_document WHERE accepted_at = opened_at AND accepted_by IS NULL"
        assert connection.scalars(text(query)).all() == ["x"]


def test_events_get_slugs_and_those_of_the_previous_version_their_id(scratch: Flask) -> None:
    insert = text(
        "INSERT INTO event (id, organiser_id, name, venue, city, city_key, country, timezone, starts_at, ends_at,"
        " visibility, search_text) VALUES (:id, repeat('a', 24), :name, 'V', 'C', 'c', 'NA', 'Africa/Windhoek', now(),"
        " now() + interval '1 day', 'draft', '')"
    )
    names = ["Windhoek Lights", "Windhoek lights!", "沙漠", "Windhoek Lights 2", "Search"]
    downgrade(directory=FOLDER, revision="0041")
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(
            text(
                "INSERT INTO account (id, email, password_version, name, roles, version)"
                " VALUES (repeat('a', 24), 'a@example.com', 1, 'N', '{organiser}', 1)"
            )
        )
        for number, name in enumerate(names):
            connection.execute(insert, {"id": f"{number:024x}", "name": name})
    upgrade(directory=FOLDER)
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(insert, {"id": "b" * 24, "name": "Windhoek Lights"})
        found = connection.scalars(text("SELECT slug FROM event ORDER BY id")).all()
    assert found == [
        "windhoek-lights",
        "windhoek-lights-2",
        f"{2:024x}",
        "windhoek-lights-2-2",
        "search-2",
        "b" * 24,
    ]


def test_an_index_can_be_made_beside_the_traffic(scratch: Flask, tmp_path: Path) -> None:
    """As docs/upgrading.md advises: outside the transaction, and without a lock that others wait for."""
    folder = tmp_path / "migrations"
    head = expanded(folder)
    made = "SELECT count(*) FROM pg_indexes WHERE indexname LIKE '%_spare_index'"
    upgrade(directory=str(folder))
    with db.engine.connect() as connection:
        assert connection.scalar(text(made)) == 7
        assert connection.scalar(text("SHOW statement_timeout")) == "10s", "the pool has none of the migration's own"
    downgrade(directory=str(folder), revision=head)
    assert differences() == []


UNINDEXED = text("""
    SELECT k.conrelid::regclass || '.' || a.attname
      FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
     WHERE k.contype = 'f' AND k.confdeltype IN ('c', 'n', 'd') AND NOT EXISTS (
        SELECT FROM pg_index i
         WHERE i.indrelid = k.conrelid AND i.indkey[0] = k.conkey[1] AND i.indisvalid
           AND (i.indpred IS NULL OR pg_get_expr(i.indpred, i.indrelid) = '(' || a.attname || ' IS NOT NULL)'))
     ORDER BY 1
""")


def test_each_key_that_follows_a_deletion_has_an_index(scratch: Flask) -> None:
    """Without one, every deletion in the other table reads this table from end to end."""
    with db.engine.connect() as connection:
        assert list(connection.scalars(UNINDEXED)) == []


def test_each_migration_says_what_it_does() -> None:
    for path in files("migrations/versions"):
        assert path.read_text().startswith('"""'), path.name

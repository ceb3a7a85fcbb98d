"""Migrations on large tables: how long they take, and how long others wait meanwhile.

`python -m benchmarks.migrations` fills a new database at revision 0022 and then runs 0023 and 0024, while two writers
insert and update rows of the two large tables. It prints the seconds of each migration and the longest wait of a writer.
"""

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from flask_migrate import upgrade
from sqlalchemy import make_url

from app import create_app
from app.config import load
from app.core.db import db
from app.embedded import servers
from benchmarks.serving import ROOT

FIRST, EXPANDED, CONTRACTED = "0022", "0023", "0024"
ID = "repeat('a', 24)"
PARENTS = f"""
    INSERT INTO account (id, email, password_version, name, roles, version)
    VALUES ({ID}, 'a@example.com', 1, 'A', '{{organiser}}', 1);
    INSERT INTO event (id, organiser_id, name, venue, city, city_key, country, timezone, starts_at, ends_at, visibility,
                       search_text)
    VALUES ({ID}, {ID}, 'E', 'V', 'C', 'c', 'NA', 'Africa/Windhoek', now(), now() + interval '1 day', 'draft', '');
    INSERT INTO ticket_type (id, event_id, position, name, name_key, price_minor, total)
    VALUES ({ID}, {ID}, 0, 'T', 't', 1, 1000000);
    INSERT INTO allocation_block (id, event_id, ticket_type_id, kind, quantity, unit_price_minor, status)
    SELECT lpad(n::text, 24, '0'), {ID}, {ID}, 'sponsor', 0, 0, 'open' FROM generate_series(1, 1000) n;
    INSERT INTO campaign (id, event_id, name, template_id, title, body, channels, audience_type, respect_preferences,
                          status)
    SELECT lpad(n::text, 24, '0'), {ID}, 'C', 't', 'T', 'B', '{{email}}', 'event_ticket_holders', true, 'sent'
      FROM generate_series(1, 10) n;
"""
EVENTS = """
    INSERT INTO allocation_slot_event (slot_id, block_id, verb, to_status, actor)
    SELECT lpad(n::text, 24, '0'), lpad((n %% 1000 + 1)::text, 24, '0'), 'claim', 'claimed', 'guest'
      FROM generate_series(1, %(count)s) n
"""
RECIPIENTS = """
    INSERT INTO campaign_recipient (id, campaign_id, channel, person, address, places, variant, state)
    SELECT lpad(n::text, 24, '0'), lpad((n %% 10 + 1)::text, 24, '0'), 'email', n || '@example.com', n || '@example.com',
           1, 'A', 'sent'
      FROM generate_series(1, %(count)s) n
"""
INSERT_EVENT = """
    INSERT INTO allocation_slot_event (slot_id, block_id, verb, to_status, actor)
    VALUES (%(id)s, lpad('1', 24, '0'), 'claim', 'claimed', 'guest')
"""
INSERT_EVENT_WITH_KEY = f"""
    INSERT INTO allocation_slot_event (slot_id, block_id, event_id, verb, to_status, actor)
    VALUES (%(id)s, lpad('1', 24, '0'), {ID}, 'claim', 'claimed', 'guest')
"""
UPDATE_RECIPIENT = "UPDATE campaign_recipient SET clicked_at = now() WHERE id = %(id)s"
PAUSE_SECONDS = 0.005


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000, help="rows of allocation_slot_event")
    parser.add_argument("--recipients", type=int, default=300_000, help="rows of campaign_recipient")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, servers(Path(folder), durable=True) as stores:
        settings = {"DATABASE_URL": stores.database_url, "REDIS_URL": stores.redis_url, "DATA_DIR": folder}
        app = create_app(load({**os.environ, "SECRET_KEY": "k" * 60, **settings}))
        url = make_url(stores.database_url).set(drivername="postgresql").render_as_string(hide_password=False)
        with app.app_context():
            _migrate(FIRST)
            _fill(url, options.events, options.recipients)
            for revision, insert in ((EXPANDED, INSERT_EVENT), (CONTRACTED, INSERT_EVENT_WITH_KEY)):
                with (
                    _writing(url, insert, options.recipients) as waits,
                    _writing(url, UPDATE_RECIPIENT, 1000) as others,
                ):
                    began = time.monotonic()
                    _migrate(revision)
                    seconds = time.monotonic() - began
                print(
                    f"{revision}: {seconds:.1f} s; {len(waits) + len(others)} writes, the longest took"
                    f" {1000 * max(waits + others):.0f} ms"
                )
            db.engine.dispose()


def _migrate(revision: str) -> None:
    upgrade(directory=str(ROOT / "migrations"), revision=revision)


def _fill(url: str, events: int, recipients: int) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(PARENTS)
        connection.execute(EVENTS, {"count": events})
        connection.execute(RECIPIENTS, {"count": recipients})
        connection.execute("VACUUM ANALYZE")


@contextmanager
def _writing(url: str, statement: str, ids: int) -> Iterator[list[float]]:
    """Run a statement again and again in a thread; yields the seconds of each. A statement that fails fails the run."""
    waits: list[float] = []
    has_ended = threading.Event()
    errors: list[Exception] = []

    def write() -> None:
        try:
            with psycopg.connect(url, autocommit=True) as connection:
                number = 0
                while not has_ended.is_set():
                    number += 1
                    began = time.monotonic()
                    connection.execute(statement, {"id": str(number % ids + 1).zfill(24)})
                    waits.append(time.monotonic() - began)
                    time.sleep(PAUSE_SECONDS)
        except psycopg.Error as error:
            errors.append(error)

    thread = threading.Thread(target=write)
    thread.start()
    try:
        yield waits
    finally:
        has_ended.set()
        thread.join()
    if errors:
        raise errors[0]


if __name__ == "__main__":
    main()

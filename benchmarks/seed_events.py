"""Events and sold tickets in bulk, by COPY: what the benchmarks and the tests of query plans read."""

import random
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from app.events.search_words import key_of, search_text

CITIES = (
    "Windhoek",
    "Swakopmund",
    "Walvis Bay",
    "Lüderitz",
    "Oshakati",
    "Rundu",
    "Otjiwarongo",
    "Keetmanshoop",
    "Cape Town",
    "Johannesburg",
    "Gaborone",
    "Lusaka",
)
FIRST = ("River", "Desert", "Kalahari", "Namib", "Ocean", "Harvest", "Sunset", "Winter", "Golden", "Open")
SECOND = ("Lights", "Jazz", "Food", "Art", "Night", "Run", "Market", "Fair", "Sessions", "Weekend")
ARTISTS = ("Ees", "Gazza", "Elemotho", "Shishani", "Tate Buti", "Lize Ehlers", "Big Ben", "Sally", "Ndilimani")
CATEGORIES = ("music", "food", "arts", "sport", "business", "community", "family", "other")
YEARS = timedelta(days=3 * 365)
COLUMNS = (
    "id",
    "organiser_id",
    "name",
    "description",
    "venue",
    "city",
    "city_key",
    "country",
    "latitude",
    "longitude",
    "timezone",
    "starts_at",
    "ends_at",
    "visibility",
    "capacity",
    "category",
    "is_cashless",
    "search_text",
)
ORGANISER = "5eed" + "0" * 20
BATCH = 250_000


def seed_events(connection: psycopg.Connection[Any], count: int, *, first: int = 0) -> None:
    """Adds so many published events over the next three years (and every fiftieth draft), then lets PostgreSQL look
    at them. Every hundredth has a word of its own, so that searches can be common or rare. Commits."""
    connection.execute(
        "INSERT INTO account (id, email, name, roles, password_version, version)"
        " VALUES (%s, 'seed@example.com', 'Seed', '{organiser}', 1, 1) ON CONFLICT DO NOTHING",
        (ORGANISER,),
    )
    with without_indexes(connection, "event") if count > BATCH else nullcontext():
        copy_into = f"COPY event ({', '.join(COLUMNS)}) FROM STDIN"
        with connection.cursor() as cursor, cursor.copy(copy_into) as copy:
            for row in _events(first, count):
                copy.write_row(row)
    connection.commit()
    _vacuum(connection, "event")


def seed_sold(connection: psycopg.Connection[Any], ticket_type_id: str, count: int) -> None:
    """Sells so many tickets of a type, whose total grows to hold them. Commits."""
    found = connection.execute("SELECT event_id FROM ticket_type WHERE id = %s", (ticket_type_id,)).fetchone()
    assert found is not None
    columns = "id, event_id, ticket_type_id, reference, name, email, price_minor, sold_at, status"
    now = datetime.now(UTC)
    with connection.cursor() as cursor, cursor.copy(f"COPY ticket ({columns}) FROM STDIN") as copy:
        for number in range(count):
            copy.write_row(
                (
                    _id(number, 0x71),
                    found[0],
                    ticket_type_id,
                    f"S{number}",
                    "Zoë Großmann",
                    f"fan{number}@example.com",
                    85000,
                    now,
                    "sold",
                )
            )
    connection.execute(
        "UPDATE ticket_type SET total = greatest(total, sold + %s), sold = sold + %s WHERE id = %s",
        (count, count, ticket_type_id),
    )
    connection.commit()
    _vacuum(connection, "ticket")


def _events(first: int, count: int) -> Iterator[tuple[Any, ...]]:
    chance = random.Random(first)
    soon = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=1)
    for number in range(first, first + count):
        name = f"{chance.choice(FIRST)} {chance.choice(SECOND)} {number}"
        rare = f"rare{number // 10_000}" if number % 100 == 0 else None
        city, artist = chance.choice(CITIES), chance.choice(ARTISTS)
        starts_at = soon + YEARS * chance.random()
        yield (
            _id(number, 0x5E),
            ORGANISER,
            name,
            "Made for a measurement.",
            f"Ground {number % 500}",
            city,
            key_of(city),
            "NA",
            -22.5 + chance.uniform(-6, 6),
            17 + chance.uniform(-3, 8),
            "Africa/Windhoek",
            starts_at,
            starts_at + timedelta(hours=chance.choice((4, 6, 48))),
            "draft" if number % 50 == 49 else "published",
            500,
            chance.choice(CATEGORIES),
            number % 2 == 0,
            search_text(name=name, others=[city, f"Ground {number % 500}", artist, rare]),
        )


def _id(number: int, mark: int) -> str:
    return f"{0x65000000 + number // 1000:08x}{mark:02x}{number:014x}"


@contextmanager
def without_indexes(connection: psycopg.Connection[Any], table: str) -> Iterator[None]:
    """Drops a table's secondary indexes, and makes them again from its rows, which is much faster."""
    found = connection.execute(
        "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = %s AND indexname NOT LIKE 'pk_%%'", (table,)
    ).fetchall()
    for name, _ in found:
        connection.execute(f'DROP INDEX "{name}"')
    yield
    connection.execute("SET LOCAL maintenance_work_mem = '512MB'")
    for _, definition in found:
        connection.execute(definition)


def _vacuum(connection: psycopg.Connection[Any], table: str) -> None:
    connection.autocommit = True
    connection.execute(f"VACUUM (ANALYZE) {table}")
    connection.autocommit = False

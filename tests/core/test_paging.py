"""Keyset pages, at the level of the query: one statement, bounded, with a row to tell whether more follows."""

from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import Column, Integer, MetaData, String, Table, event, insert, select

from app.core.db import db
from app.core.paging import Order, Page, page_of
from app.core.transaction import transaction

thing = Table("core_thing", MetaData(), Column("id", String(24), primary_key=True), Column("rank", Integer))


@pytest.fixture(autouse=True)
def table(app: Flask) -> Iterator[None]:
    thing.metadata.create_all(db.engine)
    with transaction() as session:
        session.execute(insert(thing), [{"id": f"{n:024x}", "rank": n // 3} for n in range(10)])
    yield
    db.session.remove()
    thing.metadata.drop_all(db.engine)


def page(
    *, after: tuple[int, str] | None = None, descending: bool = False, total: bool = False, limit: int = 4
) -> Page:
    order = Order(thing.c.rank, descending)
    return page_of(select(thing), id_column=thing.c.id, order=order, limit=limit, after=after, with_total=total)


def numbers(found: Page) -> list[int]:
    return [int(row["id"], 16) for row in found.rows]


def test_a_page_says_where_the_next_one_starts() -> None:
    first = page()
    assert numbers(first) == [0, 1, 2, 3] and first.after == (1, f"{3:024x}")
    second = page(after=first.after)
    assert numbers(second) == [4, 5, 6, 7]
    last = page(after=second.after)
    assert numbers(last) == [8, 9] and last.after is None


def test_downwards_is_the_mirror() -> None:
    first = page(descending=True)
    assert numbers(first) == [9, 8, 7, 6]
    assert numbers(page(after=first.after, descending=True)) == [5, 4, 3, 2]


def test_a_full_last_page_has_none_after_it() -> None:
    assert page(limit=10).after is None and page(limit=9).after is not None


def test_a_page_is_one_query_and_two_with_the_total() -> None:
    seen: list[str] = []
    event.listen(db.engine, "before_cursor_execute", lambda *it: seen.append(it[2]))
    assert page().total is None and len(seen) == 1
    assert page(total=True).total == 10 and len(seen) == 3
    assert "OFFSET" not in str(seen)

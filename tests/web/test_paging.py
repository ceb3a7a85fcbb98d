"""Pagination: each row occurs once in every sort, also during inserts."""

from threading import Event, Thread
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from app.core.db import db
from app.core.transaction import transaction
from tests.http import Client, data, list_problems
from tests.web.shop import SORTS, stock

BOTH_WAYS = [sign + name for name in SORTS for sign in ("", "-")]


def pages(client: Client, query: str, limit: int = 7) -> list[list[dict[str, Any]]]:
    """All pages of a list, from the first to the last."""
    found: list[list[dict[str, Any]]] = []
    cursor = ""
    while True:
        page = data(client.get(f"/t/items?limit={limit}&{query}{cursor}"))
        found.append(page["items"])
        following = page["pagination"]["nextCursor"]
        if following is None:
            return found
        cursor = f"&cursor={following}"
        assert len(found) < 200, "the list has no end"


def ids(found: list[list[dict[str, Any]]]) -> list[str]:
    return [row["id"] for page in found for row in page]


@pytest.mark.parametrize("sort", BOTH_WAYS)
def test_every_row_comes_once_and_in_order_among_many_ties(client: Client, sort: str) -> None:
    stock(45)
    found = pages(client, f"sort={sort}")
    assert [len(page) for page in found] == [7] * 6 + [3]
    with db.engine.connect() as connection:
        way = "DESC" if sort.startswith("-") else "ASC"
        order = f"{sort.removeprefix('-')} {way}, id {way}"
        assert ids(found) == list(connection.scalars(text(f"SELECT id FROM shop_item ORDER BY {order}")))


@pytest.mark.parametrize("limit", [1, 44, 45, 46, 100])
def test_any_size_of_page_shows_the_same_rows(client: Client, limit: int) -> None:
    made = stock(45)
    found = pages(client, "sort=-rating", limit)
    assert sorted(ids(found)) == sorted(made)
    assert all(page for page in found)


def test_an_empty_list_is_one_empty_page(client: Client) -> None:
    page = data(client.get("/t/items?withTotal=true"))
    assert page == {"items": [], "pagination": {"limit": 20, "nextCursor": None, "total": 0}}


def test_total_is_counted_on_request_and_with_the_filters(client: Client) -> None:
    stock(45)
    assert "total" not in data(client.get("/t/items"))["pagination"]
    assert data(client.get("/t/items?withTotal=true&limit=1"))["pagination"]["total"] == 45
    assert data(client.get("/t/items?withTotal=true&limit=1&shelf=left"))["pagination"]["total"] == 22
    assert data(client.get("/t/items?withTotal=true&shelf=nowhere"))["items"] == []


def test_a_filter_holds_on_every_page(client: Client) -> None:
    stock(45)
    with db.engine.connect() as connection:
        right = set(connection.scalars(text("SELECT id FROM shop_item WHERE shelf = 'right'")))
    assert set(ids(pages(client, "shelf=right&sort=name"))) == right


@pytest.mark.parametrize("sort", ["at", "-at", "name", "-rank"])
def test_no_row_is_skipped_or_repeated_during_inserts(client: Client, sort: str) -> None:
    there = stock(60)
    app, done = client.flask.application, Event()

    def insert() -> None:
        with app.app_context():
            while not done.is_set():
                stock(7)

    others = [Thread(target=insert) for _ in range(3)]
    for other in others:
        other.start()
    try:
        # New rows sort in between for ever, so the walk stops once it has passed where the old ones end.
        seen = _until_all(client, sort, set(there))
    finally:
        done.set()
        for other in others:
            other.join()
    assert len(seen) == len(set(seen)), "a row was repeated"
    assert set(there) <= set(seen), "a row was skipped"


def _until_all(client: Client, sort: str, wanted: set[str]) -> list[str]:
    seen: list[str] = []
    cursor = ""
    for _ in range(400):
        page = data(client.get(f"/t/items?limit=50&sort={sort}{cursor}"))
        seen += [row["id"] for row in page["items"]]
        following = page["pagination"]["nextCursor"]
        if following is None or wanted <= set(seen):
            break
        cursor = f"&cursor={following}"
    return seen


def test_offsets_would_repeat_rows() -> None:
    """The control: with OFFSET in place of the cursor the same insert repeats a row."""
    stock(10)
    query = text("SELECT id FROM shop_item ORDER BY at DESC, id DESC OFFSET :skip LIMIT 5")
    with db.engine.connect() as connection:
        first = list(connection.scalars(query, {"skip": 0}))
    with transaction() as session:
        session.execute(text("UPDATE shop_item SET at = at - interval '1 day'"))
    stock(1)
    with db.engine.connect() as connection:
        second = list(connection.scalars(query, {"skip": 5}))
    assert set(first) & set(second)


def test_a_cursor_is_good_for_its_sort_only(client: Client) -> None:
    stock(10)
    cursor = data(client.get("/t/items?limit=2&sort=name"))["pagination"]["nextCursor"]
    for query in ("sort=-name", "sort=rank", ""):
        assert list_problems(client.get(f"/t/items?cursor={cursor}&{query}")) == {"cursor": "invalid_cursor"}
    assert len(data(client.get(f"/t/items?cursor={cursor}&sort=name&limit=100"))["items"]) == 8


def test_a_cursor_that_was_altered_anywhere_is_refused(client: Client) -> None:
    stock(10)
    cursor = data(client.get("/t/items?limit=2&sort=name"))["pagination"]["nextCursor"]
    for at in range(len(cursor) - 1):
        other = cursor[:at] + ("A" if cursor[at] != "A" else "B") + cursor[at + 1 :]
        assert list_problems(client.get(f"/t/items?sort=name&cursor={other}")) == {"cursor": "invalid_cursor"}, at


def test_a_long_name_still_makes_a_cursor(client: Client) -> None:
    stock(3, name="😀" * 200)
    assert len(ids(pages(client, "sort=name", 1))) == 3


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cursor=st.text(max_size=80) | st.from_regex(r"[A-Za-z0-9_=-]{1,80}", fullmatch=True))
def test_forged_cursor_is_a_client_error(client: Client, cursor: str) -> None:
    response = client.get("/t/items", query_string={"cursor": cursor.encode("utf-8", "replace")})
    assert response.status_code == 422

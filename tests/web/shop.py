"""A small shop on the web layer: operations of every kind, for tests that need one before there is a real one."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import count as count_from
from typing import Any

import orjson
from flask import Flask
from marshmallow import fields
from sqlalchemy import (
    Column,
    Date,
    DateTime,
    Integer,
    MetaData,
    Numeric,
    Select,
    String,
    Table,
    delete,
    insert,
    select,
    update,
)

from app.accounts.permissions import EVENTS_READ, EVENTS_WRITE, STALL_OWN, STALLS_DECIDE
from app.core.db import db
from app.core.errors import Conflict, NotFound, StaleVersion, Unprocessable
from app.core.ids import new_id
from app.core.transaction import after_commit, transaction
from app.web.access import ADMIN, PUBLIC, PUBLIC_OR_SIGNED_IN, SIGNED_IN, find_current_caller, get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.fields import Number, Text, TimeField, WholeNumber
from app.web.operation_definition import Deprecation
from app.web.paging import Listing
from app.web.rate_limits import Limit, get_client_network
from app.web.response_cache import CachePolicy
from app.web.schema import Query, Schema
from tests.web.wishes import Plain, Wish

metadata = MetaData()
item = Table(
    "shop_item",
    metadata,
    Column("id", String(24, collation="C"), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("shelf", String(20), nullable=False),
    Column("rank", Integer, nullable=False),
    Column("rating", Numeric(6, 2), nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("day", Date, nullable=False),
    Column("price_minor", Integer, nullable=False),
    Column("version", Integer, nullable=False),
)
AT = datetime(2026, 12, 4, 16, tzinfo=UTC)
SORTS = {name: item.c[name] for name in ("name", "rank", "rating", "at", "day")}
LEVELS = {
    "SIGNED_IN": SIGNED_IN,
    "MERCHANT": may(STALL_OWN),
    "ORGANISER": may(EVENTS_WRITE),
    "ORGANISER_OR_ANALYST": may(EVENTS_READ),
    "ORGANISER_OR_SUPPORT": may(STALLS_DECIDE),
    "ADMIN": ADMIN,
}


class AlreadyClosed(Conflict):
    number, code, message = 40909, "SHOP_ALREADY_CLOSED", "The shop is closed."


class WrongGuess(Unprocessable):
    number, code, message = 42298, "SHOP_WRONG_GUESS", "Guess again."


class Row(Schema):
    id = fields.String(required=True)
    name = fields.String(required=True)
    rank = WholeNumber(required=True)
    rating = Number(required=True)
    at = TimeField(required=True)
    price_minor = WholeNumber(required=True)
    version = WholeNumber(required=True)


class ItemBody(Schema):
    name = Text(required=True, min=1, max=200)
    price_minor = WholeNumber(min=1)


class Found(Schema):
    id = fields.String(allow_none=True)
    network = fields.String()
    count = WholeNumber()
    size = WholeNumber()


class Shelf(Query):
    shelf = Text(max=20)


class Files(Schema):
    title = Text(required=True)
    file = fields.Raw(required=True, metadata={"type": "string", "format": "binary"})


blp = Blueprint("shop", __name__, url_prefix="/t", description="A shop for tests")


def register(app: Flask) -> None:
    app.extensions["flask-smorest"]["apis"][""]["ext_obj"].register_blueprint(blp)


def stock(count: int, **more: Any) -> list[str]:
    """Items with many ties: ten names, five ranks, three ratings, four times, two days."""
    rows = [
        {
            "id": new_id(),
            "name": f"Äpfel {n % 10}",
            "shelf": "left" if n % 2 else "right",
            "rank": n % 5,
            "rating": Decimal(n % 3) / 4,
            "at": AT.replace(microsecond=n % 4),
            "day": date(2026, 1, 1 + n % 2),
            "price_minor": n,
            "version": 1,
            **more,
        }
        for n in range(count)
    ]
    with transaction() as session:
        session.execute(insert(item), rows)
    return [str(row["id"]) for row in rows]


def count() -> int:
    return len(db.session.execute(select(item.c.id)).all())


def _found(item_id: str) -> Any:
    row = db.session.execute(select(item).where(item.c.id == item_id)).mappings().first()
    if row is None:
        raise NotFound()
    return row


@blp.get("/items", access=PUBLIC, query=Shelf, returns=Listing("items", Row, SORTS, "at"))
def list_items(shelf: str | None = None) -> Select[Any]:
    """List items."""
    return select(item).where(item.c.shelf == shelf) if shelf else select(item)


@blp.post("/items", access=PUBLIC_OR_SIGNED_IN, body=ItemBody, returns=Row, status=201, idempotent=True)
def add_item(name: str, price_minor: int = 0) -> Any:
    """Add an item."""
    (added,) = stock(1, name=name, price_minor=price_minor)
    return _found(added)


@blp.get("/items/<itemId>", access=PUBLIC, returns=Row, etag=True, sparse=True)
def read_item(item_id: str) -> Any:
    """Read an item."""
    return _found(item_id)


@blp.patch("/items/<itemId>", access=PUBLIC, body=ItemBody, returns=Row, etag=True)
def change_item(item_id: str, name: str, expected_version: int | None, price_minor: int = 0) -> Any:
    """Change an item."""
    row = _found(item_id)
    if expected_version not in (None, row["version"]):
        raise StaleVersion()
    with transaction() as session:
        session.execute(update(item).where(item.c.id == item_id).values(name=name, version=row["version"] + 1))
    return _found(item_id)


@blp.delete("/items/<itemId>", access=PUBLIC, etag=True)
def remove_item(item_id: str, expected_version: int | None) -> None:
    """Remove an item."""
    if expected_version not in (None, _found(item_id)["version"]):
        raise StaleVersion()
    with transaction() as session:
        session.execute(delete(item).where(item.c.id == item_id))


@blp.post("/close", access=PUBLIC, status=202, idempotent=True, errors=[AlreadyClosed])
def close() -> None:
    """Close the shop, which works while something is in it."""
    with transaction() as session:
        if not session.execute(delete(item).returning(item.c.id)).first():
            raise AlreadyClosed()


@blp.post("/guess", access=PUBLIC, body=ItemBody, idempotent=True, errors=[WrongGuess])
def guess(name: str, price_minor: int = 0) -> None:
    """Guess the word; a wrong guess leaves an item behind, and half of one that fails nothing."""
    stock(1, name="a guess")
    with transaction() as session:
        session.execute(update(item).values(name="undone"))
        if name != "sesame":
            raise WrongGuess()


before: list[Callable[[], object]] = []
after: list[Callable[[], None]] = []


@blp.post("/staged", access=PUBLIC, idempotent="forever", returns=Row)
def staged() -> Any:
    """Add an item, and do what the test says before and after it is committed."""
    with transaction() as session:
        session.execute(insert(item), _one(new_id()))
        for call in after:
            after_commit(session, call)
        for wait in before:
            wait()
    return db.session.execute(select(item)).mappings().first()


def _one(item_id: str) -> dict[str, Any]:
    return {
        "id": item_id,
        "name": "one",
        "shelf": "left",
        "rank": 1,
        "rating": 1,
        "at": AT,
        "day": AT.date(),
        "price_minor": 1,
        "version": 1,
    }


@blp.post("/wish", access=PUBLIC, body=Wish, returns=Wish)
def wish(**body: Any) -> Any:
    """Give back what came in."""
    return body


@blp.post("/plain", access=PUBLIC, body=Plain)
def plain(**body: Any) -> Any:
    """Take a name, and return what no schema lets out."""
    return {"insides": body}


@blp.post("/files", access=PUBLIC, files=Files, returns=Found, idempotent=True, max_bytes=4096)
def upload(title: str, file: Any) -> Any:
    """Take a file."""
    stock(1, name=title)
    return {"size": len(file.read())}


@blp.post("/limited", access=PUBLIC_OR_SIGNED_IN, body=Plain, limit=Limit(30))
def limited(**body: Any) -> None:
    """Answer thirty times a minute."""


@blp.post("/limited-signed-in", access=SIGNED_IN, limit=Limit(30))
def limited_signed_in() -> None:
    """Answer each account thirty times a minute."""


@blp.get("/who", access=PUBLIC_OR_SIGNED_IN, returns=Found)
def who() -> Any:
    """Say who calls, and from where."""
    caller = find_current_caller()
    return {"id": caller.id if caller else None, "network": get_client_network()}


@blp.put(
    "/strict/<itemId>",
    access=may(STALL_OWN).with_verified_email(),
    body=ItemBody,
    query=Shelf,
    etag=True,
    limit=Limit(1000),
)
def strict(item_id: str, expected_version: int | None, **body: Any) -> None:
    """Refuse for every reason there is."""
    if expected_version not in (None, _found(item_id)["version"]):
        raise StaleVersion()
    raise AlreadyClosed()


@blp.get(
    "/old", access=PUBLIC, deprecation=Deprecation(datetime(2026, 11, 1, tzinfo=UTC), datetime(2027, 6, 1, tzinfo=UTC))
)
def old() -> None:
    """Respond as an operation that will be removed."""


window_views = count_from(1)


@blp.get("/window", access=PUBLIC, returns=Found, cache=CachePolicy(60, ("events",)))
def window() -> bytes:
    """Respond how often the view ran."""
    return orjson.dumps({"count": next(window_views)})


@blp.get("/boom", access=PUBLIC)
def boom() -> None:
    """Fail as nobody foresaw."""
    raise RuntimeError("password=hunter2 in /etc/passwd, SELECT * FROM account")


@blp.get("/unsayable", access=PUBLIC)
def unsayable() -> None:
    """Fail with data that JSON cannot hold."""
    raise Conflict(insides=object())


@blp.get("/slow", access=PUBLIC, returns=Found)
def slow() -> Any:
    """Ask the database."""
    return {"count": count()}


def _by_role(name: str) -> None:
    def view() -> Any:
        return {"id": get_current_caller().id}

    view.__doc__ = f"Answer {name}."
    view.__name__ = f"for_{name.lower()}"
    blp.get(f"/for/{name}", access=LEVELS[name], returns=Found)(view)


for _name in LEVELS:
    _by_role(_name)

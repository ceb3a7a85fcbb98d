"""Public routes of events: `/api/events/public`. Their responses are bytes that are cached for a second."""

import orjson

from app.blueprints.events import response_schemas, schemas
from app.events import discovery, public_events
from app.events.discovery_sql import EventFilters
from app.events.public_events import JsonObject
from app.web import paging
from app.web.access import PUBLIC
from app.web.blueprint import Blueprint
from app.web.response_cache import CachePolicy
from app.web.schema import to_snake_case

blp = Blueprint("public_events", __name__, url_prefix="/api/events/public", description="Events for everybody")

CATALOGUE = CachePolicy(1.0, ("events",))
TICKETS = CachePolicy(1.0, ("events", "tickets"))


@blp.get(
    "/discover",
    access=PUBLIC,
    query=schemas.DiscoverQuery,
    returns=response_schemas.Discovered,
    cache=CATALOGUE,
)
def discover(sort: str, limit: int, cursor: str | None = None, **filters: object) -> bytes:
    """Find published events that are upcoming or running.

    When nothing matches `q`, `suggestions` has names of similar events.
    """
    event_filters = schemas.build_filters(filters)
    return orjson.dumps(_build_page(event_filters, sort=sort, limit=limit, cursor=cursor))


@blp.get("/<id>", access=PUBLIC, returns=response_schemas.PublicEvent, cache=CATALOGUE)
def public_event(id: str) -> bytes:
    """Read a published or unlisted event."""
    return orjson.dumps(public_events.load_public_event(id))


@blp.get("/<id>/ticket-inventory", access=PUBLIC, returns=response_schemas.Inventory, cache=TICKETS)
def ticket_inventory(id: str) -> bytes:
    """Read the tickets of an event: how many there are, their present price, and whether they are on sale.

    Never stale by more than two seconds.
    """
    return orjson.dumps(public_events.load_ticket_inventory(id))


def _build_page(filters: EventFilters, *, sort: str, limit: int, cursor: str | None) -> JsonObject:
    domain_sort, cursor_scope = to_snake_case(sort), f"discover {sort}"
    column = discovery.CURSOR_COLUMNS[domain_sort]
    after = paging.decode_cursor(cursor, cursor_scope, column) if cursor is not None else None
    page = discovery.discover(sort=domain_sort, limit=limit, after=after, filters=filters)
    data: JsonObject = {
        "events": page.summaries,
        "pagination": {"limit": limit, "nextCursor": page.after and paging.encode_cursor(page.after, cursor_scope)},
    }
    if not page.rows and filters.q and cursor is None:
        data["suggestions"] = discovery.suggestions(filters.q)
    return data

"""Events for everybody: `/api/events/public`. These answer bytes that are kept for a second."""

from typing import Any

import orjson

from app.blueprints.events import query_schemas, response_schemas
from app.events import discovery, public_queries
from app.events.time_conversion import to_instant
from app.web import paging
from app.web.access import PUBLIC
from app.web.blueprint import Blueprint
from app.web.response_cache import CachePolicy

blp = Blueprint("public_events", __name__, url_prefix="/api/events/public", description="Events for everybody")

CATALOGUE = CachePolicy(1.0, ("events",))
TICKETS = CachePolicy(1.0, ("events", "tickets"))


@blp.get(
    "/discover", access=PUBLIC, query=query_schemas.DiscoverQuery, returns=response_schemas.Discovered, cache=CATALOGUE
)
def discover(**query: Any) -> bytes:
    """Find published events that are coming or running.

    When nothing matches `q`, `suggestions` names events that come near.
    """
    return orjson.dumps(_discovered(**query))


@blp.get("/<id>", access=PUBLIC, returns=response_schemas.PublicEvent, cache=CATALOGUE)
def public_event(id: str) -> bytes:
    """Read a published or unlisted event."""
    return orjson.dumps(public_queries.load_public_event(id))


@blp.get("/<id>/ticket-inventory", access=PUBLIC, returns=response_schemas.Inventory, cache=TICKETS)
def ticket_inventory(id: str) -> bytes:
    """Read what tickets there are, their present price, and whether they can be had.

    Never stale by more than two seconds.
    """
    return orjson.dumps(public_queries.load_ticket_inventory(id))


def _discovered(*, sort: str, limit: int, cursor: str | None = None, **filters: Any) -> dict[str, Any]:
    for name in ("since", "until"):
        if filters.get(name) is not None:
            filters[name] = to_instant(filters[name], "UTC")
    place = f"discover {sort}"
    after = paging.decode_cursor(cursor, place, discovery.KEYS[sort]) if cursor is not None else None
    result = discovery.discover(sort=sort, limit=limit, after=after, **filters)
    answer: dict[str, Any] = {
        "events": result.events,
        "pagination": {"limit": limit, "nextCursor": result.after and paging.encode_cursor(result.after, place)},
    }
    if not result.events and filters.get("q") and cursor is None:
        answer["suggestions"] = discovery.suggestions(filters["q"])
    return answer

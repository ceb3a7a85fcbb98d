"""A block with a page of its slots: what organisers and holders read."""

from collections.abc import Callable
from typing import Any

from app.allocations.queries import SLOT_SORTS
from app.core.paging import Order, page_of
from app.web import paging

COLUMN = SLOT_SORTS["id"]


def with_slots(
    block: dict[str, Any],
    slots: Callable[..., Any],
    *,
    limit: int,
    with_total: bool,
    cursor: str | None = None,
    **filters: Any,
) -> dict[str, Any]:
    """The block, the slots that `slots(block_id)` selects in the order of their making, and where the next page is."""
    place = f"slots {block['id']}"
    after = paging.decoded(cursor, place, COLUMN) if cursor is not None else None
    page = page_of(
        slots(block["id"], **filters),
        id_column=COLUMN,
        order=Order(COLUMN, False),
        limit=limit,
        after=after,
        with_total=with_total,
    )
    return {**block, "slots": page.rows, "pagination": paging.told(page, place)}

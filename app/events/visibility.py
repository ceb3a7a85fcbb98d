"""Who may see an event: the one rule that every public route asks.

    draft ──▶ published ◀──▶ unlisted        any ──▶ cancelled
      │           └──────┬───────┘
      └▶ unlisted        ▼
                      archived

Published and unlisted events answer by id; only published ones stand in lists. A draft with `publishAt` becomes
published at that moment by itself: the column `public_from`, which PostgreSQL derives from the expression below,
says since when an event is public, and every read compares it with the clock. No worker has to do anything.
"""

from datetime import datetime

from sqlalchemy import Boolean, ColumnElement, literal_column

DRAFT, PUBLISHED, UNLISTED, ARCHIVED, CANCELLED = "draft", "published", "unlisted", "archived", "cancelled"
VISIBILITIES = (DRAFT, PUBLISHED, UNLISTED, ARCHIVED, CANCELLED)

PUBLIC_FROM = (
    "CASE WHEN visibility IN ('published', 'unlisted') THEN '1970-01-01 00:00:00+00'::timestamptz "
    "WHEN visibility = 'draft' THEN publish_at END"
)
LISTED = "public_from IS NOT NULL AND visibility <> 'unlisted'"
BY_ID = "public_from <= now()"
IN_LISTS = f"{LISTED} AND {BY_ID}"

STEPS: dict[str, frozenset[str]] = {
    DRAFT: frozenset({PUBLISHED, UNLISTED, CANCELLED}),
    PUBLISHED: frozenset({UNLISTED, ARCHIVED, CANCELLED}),
    UNLISTED: frozenset({PUBLISHED, ARCHIVED, CANCELLED}),
    ARCHIVED: frozenset({CANCELLED}),
    CANCELLED: frozenset(),
}


def in_lists() -> ColumnElement[bool]:
    """The condition for standing in lists."""
    return literal_column(f"({IN_LISTS})", Boolean)


def reachable(now: str, result: str) -> bool:
    """Whether an event may go from one visibility to another; staying is always allowed."""
    return now == result or result in STEPS[now]


def is_due(visibility: str, publish_at: datetime | None, now: datetime) -> bool:
    """Whether a draft's moment has come, so that it counts as published."""
    return visibility == DRAFT and publish_at is not None and publish_at <= now

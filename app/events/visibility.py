"""Who may see an event: the rule of all public routes.

    draft ──▶ published ◀──▶ unlisted        any ──▶ cancelled
      │           └──────┬───────┘
      └▶ unlisted        ▼
                      archived

Published and unlisted events can be read by id; only published ones are listed. A draft with `publish_at` is published
at that time without a job: PostgreSQL computes the column `public_from` by the expression below, and every read compares
it with the clock.
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
TAKES_APPLICATIONS = "coalesce(applications_end_at, ends_at) > now()"

STEPS: dict[str, frozenset[str]] = {
    DRAFT: frozenset({PUBLISHED, UNLISTED, CANCELLED}),
    PUBLISHED: frozenset({UNLISTED, ARCHIVED, CANCELLED}),
    UNLISTED: frozenset({PUBLISHED, ARCHIVED, CANCELLED}),
    ARCHIVED: frozenset({CANCELLED}),
    CANCELLED: frozenset(),
}


def in_lists() -> ColumnElement[bool]:
    """The condition of listed events."""
    return literal_column(f"({IN_LISTS})", Boolean)


def can_be_read() -> ColumnElement[bool]:
    """The condition of events that everybody can read."""
    return literal_column(f"({BY_ID})", Boolean)


def takes_applications() -> ColumnElement[bool]:
    """The condition of events to which people may still apply for a stall without an invitation, if they are public."""
    return literal_column(f"({TAKES_APPLICATIONS})", Boolean)


def reachable(current: str, target: str) -> bool:
    """Whether an event may go from `current` to `target`; staying is always allowed."""
    return current == target or target in STEPS[current]


def is_due(visibility: str, publish_at: datetime | None, now: datetime) -> bool:
    """Whether a draft's time to be published has come, so that it counts as published."""
    return visibility == DRAFT and publish_at is not None and publish_at <= now

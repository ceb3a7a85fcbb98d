"""What the page of an event shows: its public data, the present offers of tickets, and a contact."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, cast

from sqlalchemy import Integer, bindparam, func, literal_column, or_, select

from app.accounts.models import DELETED_DOMAIN, Account, OrganiserProfile
from app.accounts.organisation_details import contact_sql
from app.accounts.queries import owner_id_sql
from app.core.db import fetch_mapping, fetch_rows
from app.core.errors import NotFound
from app.core.ids import is_id
from app.core.replica import may_be_stale
from app.events.models import Event
from app.events.public_events import PhaseRow, load_public_event, load_ticket_inventory
from app.events.ticket_types import current_phase
from app.events.visibility import CANCELLED, UNLISTED, can_be_read, in_lists, takes_applications

MAX_LISTED_PAGES = 10_000
OPEN_STATUSES = ("on_sale", "low", "not_started")


class TicketOffer(NamedTuple):
    """A ticket type with its present price; `status` as in the ticket inventory.

    `phase` is the name of the price phase, if one applies, and `begins_at` the start of a sale that has not begun. The gate
    `next_price_minor` is what a ticket costs after the phase, if that is known and another price. The gate
    admits the ticket from `valid_from` until `valid_until`; without them while the event lasts.
    """

    name: str
    description: str | None
    price_minor: int
    status: str
    phase: str | None
    phase_ends_at: datetime | None
    begins_at: datetime | None
    valid_from: datetime | None
    valid_until: datetime | None
    next_price_minor: int | None


class Performance(NamedTuple):
    """An entry of the line-up."""

    name: str
    stage: str | None
    starts_at: datetime | None
    ends_at: datetime | None


class EventSponsor(NamedTuple):
    """A sponsor, with the address of their page and logo."""

    name: str
    tier: str | None
    href: str | None
    logo_url: str | None


@dataclass(frozen=True, kw_only=True)
class EventPage:
    """A public event for people; `contact` is the address of the organiser."""

    id: str
    slug: str
    name: str
    description: str | None
    cover_image_url: str
    venue: str
    city: str
    country: str
    latitude: float | None
    longitude: float | None
    timezone: str
    starts_at: datetime
    ends_at: datetime
    category: str | None
    tickets_url: str | None
    is_cashless: bool
    organiser_id: str
    organiser_name: str
    contact: str
    lineup: list[Performance]
    sponsors: list[EventSponsor]
    offers: list[TicketOffer]
    takes_applications: bool
    applications_end_at: datetime | None
    is_listed: bool
    is_over: bool
    version: int
    changed_at: datetime

    @property
    def has_tickets(self) -> bool:
        """Whether people can get tickets now or later, as far as this service knows."""
        return not self.is_over and (not self.offers or any(offer.status in OPEN_STATUSES for offer in self.offers))


class CancelledEvent(NamedTuple):
    """An event that was public until it was cancelled, with the address of its organiser."""

    name: str
    starts_at: datetime
    ends_at: datetime
    timezone: str
    organiser_name: str
    contact: str


class ListedPage(NamedTuple):
    """A page that search engines may list."""

    slug: str
    changed_at: datetime


PAGE_BY_SLUG = (
    select(
        Event.id,
        Event.slug,
        Event.organiser_id,
        contact_sql(Event.organiser_id).label("contact"),
        (Event.visibility != UNLISTED).label("is_listed"),
        (Event.ends_at <= func.now()).label("is_over"),
        (takes_applications() & (func.jsonb_array_length(Event.stall_types) > 0)).label("takes_applications"),
        Event.version,
        Event.updated_at.label("changed_at"),
        func.now().label("now"),
    )
    .join(Account, Account.id == owner_id_sql(Event.organiser_id))
    .where(Event.slug == bindparam("slug", required=False), can_be_read())
)
CANCELLED_BY_SLUG = (
    select(
        Event.name,
        Event.starts_at,
        Event.ends_at,
        Event.timezone,
        func.coalesce(OrganiserProfile.org_name, Account.name).label("organiser_name"),
        contact_sql(Event.organiser_id).label("contact"),
    )
    .select_from(Event)
    .join(Account, Account.id == owner_id_sql(Event.organiser_id))
    .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Event.organiser_id)
    .where(
        or_(Event.slug == bindparam("slug", required=False), Event.id == bindparam("id", required=False)),
        Event.visibility == CANCELLED,
        Event.was_public,
        ~Account.email.endswith(f"@{DELETED_DOMAIN}"),
    )
)
SLUG_BY_ID = select(Event.slug).where(Event.id == bindparam("id", required=False), can_be_read())
LISTED_PAGES = (
    select(Event.slug, Event.updated_at)
    .where(in_lists())
    .order_by(Event.starts_at.desc(), Event.id.desc())
    .limit(literal_column(str(MAX_LISTED_PAGES), Integer))
)


@may_be_stale("events")
def load_event_page(slug: str) -> EventPage:
    """The page of a published or unlisted event. Raises NotFound."""
    page_row = fetch_mapping(PAGE_BY_SLUG, {"slug": slug})
    if page_row is None:
        raise NotFound()
    row = dict(page_row)
    now = row.pop("now")
    event = cast(dict[str, Any], load_public_event(row["id"]))
    return EventPage(
        **row,
        name=event["name"],
        description=event["description"],
        cover_image_url=event["coverImageUrl"],
        venue=event["venue"],
        city=event["city"],
        country=event["country"],
        latitude=event["latitude"],
        longitude=event["longitude"],
        timezone=event["timezone"],
        starts_at=datetime.fromisoformat(event["startsAt"]),
        ends_at=datetime.fromisoformat(event["endsAt"]),
        category=event["category"],
        tickets_url=event["ticketsUrl"],
        is_cashless=event["isCashless"],
        organiser_name=event["organiserName"],
        lineup=_sort_by_time(
            Performance(
                entry["name"],
                entry.get("stage"),
                _parse_time(entry.get("startsAt")),
                _parse_time(entry.get("endsAt")),
            )
            for entry in event["lineup"]
        ),
        sponsors=[
            EventSponsor(entry["name"], entry.get("tier"), entry.get("href"), entry.get("logoUrl"))
            for entry in event["sponsors"]
        ],
        applications_end_at=_parse_time(event["applicationsEndAt"]),
        offers=_build_offers(event, cast(dict[str, Any], load_ticket_inventory(row["id"])), now),
    )


def find_cancelled_event(slug: str) -> CancelledEvent | None:
    """The cancelled event that was public at this address, by its slug or its id."""
    row = fetch_mapping(CANCELLED_BY_SLUG, {"slug": slug, "id": slug if is_id(slug) else None})
    return CancelledEvent(**row) if row else None


def _sort_by_time(lineup: Iterable[Performance]) -> list[Performance]:
    """The line-up by the beginnings; what has none comes last. Others keep the order of the list."""
    return sorted(lineup, key=lambda entry: (entry.starts_at is None, entry.starts_at or datetime.min))


def find_slug(id: str) -> str | None:
    """The slug of a public event by its id; None without such an event."""
    row = fetch_mapping(SLUG_BY_ID, {"id": id}) if is_id(id) else None
    return row["slug"] if row is not None else None


@may_be_stale("events")
def list_pages() -> list[ListedPage]:
    """The pages of published events, those that start last first; ten thousand at most."""
    return [ListedPage(*row) for row in fetch_rows(LISTED_PAGES, {})]


def _build_offers(event: dict[str, Any], inventory: dict[str, Any], now: datetime) -> list[TicketOffer]:
    # Both reads may be on either side of a change of the types.
    types = {type_["id"]: type_ for type_ in event["ticketTypes"]}
    return [
        TicketOffer(
            offer["name"],
            types[offer["id"]]["description"],
            offer["priceMinor"],
            offer["status"],
            offer["phase"],
            _parse_time(offer["phaseEndsAt"]),
            _find_start(types[offer["id"]]["phases"]) if offer["status"] == "not_started" else None,
            _parse_time(types[offer["id"]]["validFrom"]),
            _parse_time(types[offer["id"]]["validUntil"]),
            _find_next_price(types[offer["id"]], offer, datetime.fromisoformat(inventory["salesEndAt"]), now),
        )
        for offer in inventory["ticketTypes"]
        if offer["id"] in types
    ]


def _find_next_price(type_: dict[str, Any], offer: dict[str, Any], sales_end_at: datetime, now: datetime) -> int | None:
    """The price after the present phase: at its end, or when its tickets are sold. None if these two differ, if the sale ends
    with the phase, or if the price stays."""
    phases = [
        PhaseRow(
            phase["name"],
            _parse_time(phase["startsAt"]),
            _parse_time(phase["endsAt"]),
            phase["priceMinor"],
            phase["quantity"],
        )
        for phase in type_["phases"]
    ]
    phase = current_phase(phases, sold=offer["sold"], now=now)
    if phase is None:
        return None
    followers = []
    if phase.ends_at is not None and phase.ends_at < sales_end_at:
        followers.append(current_phase(phases, sold=offer["sold"], now=phase.ends_at))
    position = next(index for index, it in enumerate(phases) if it is phase)
    places = sum(it.quantity or 0 for it in phases[: position + 1])
    if phase.quantity is not None and places - offer["sold"] < offer["available"]:
        followers.append(current_phase(phases, sold=places, now=now))
    prices = {follower.price_minor if follower else type_["priceMinor"] for follower in followers}
    return prices.pop() if len(prices) == 1 and offer["priceMinor"] not in prices else None


def _find_start(phases: list[dict[str, Any]]) -> datetime | None:
    return min((datetime.fromisoformat(phase["startsAt"]) for phase in phases if phase["startsAt"]), default=None)


def _parse_time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None

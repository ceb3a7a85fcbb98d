"""What an import of sold tickets did, or would do."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, TypedDict

from app.core.clock import rfc3339
from app.events.models import Event
from app.events.search_words import key_of
from app.events.ticket_files import SoldTicket
from app.events.ticket_layouts import SOLD
from app.events.timezones import to_instant

MAX_FIRST = 3


class ImportSource(NamedTuple):
    """The imported file: its name, layout and SHA-256 in hex, and the name of who imports it (None for a command)."""

    file_name: str | None
    format: str
    digest: str
    imported_by: str | None = None


class CancelledTicket(TypedDict):
    """A ticket that is not sold any more, and whether it was admitted; its code only if that is its number."""

    reference: str
    name: str | None
    secret: str | None
    admitted: bool


class UnpricedType(TypedDict):
    """A ticket type whose price, in cents, counts for created tickets without a price in the file, and how many these are."""

    ticket_type: str
    price_minor: int
    tickets: int


class FirstTicket(TypedDict):
    """A sold ticket as it will be imported; `sold_at` is a time of RFC 3339 in UTC."""

    reference: str | None
    order_number: str | None
    secret: str | None
    ticket_type: str
    name: str | None
    email: str | None
    price_minor: int | None
    sold_at: str | None


@dataclass(frozen=True)
class ImportResult:
    """What an import did, or would do in a dry run: counts of tickets and ticket types.

    `cancelled` are those of the updated tickets that are not sold any more, `cancelled_tickets` the first fifty of them, and
    `cancelled_admitted` how many of them were admitted; `missing` are the sold tickets of the event that are not in the file.
    `created_minor` is what the created tickets cost together, in cents; `undated` of them have no day of sale in the file and
    count as sold today, and `unpriced` has the ticket types whose price counts because the file has none. `assumed_sold` tickets
    have no status in the file and count as sold. `raised_types` got more places. `new_type_totals` has how many tickets
    each of `new_type_names` has.
    `chosen_types` are the names in the file for which a ticket type was chosen. `import_id` is None for a dry run, and only a
    dry run has the `first_tickets` of the file.
    """

    created: int
    updated: int
    unchanged: int
    skipped: int
    cancelled: int
    missing: int
    new_types: int
    warnings: tuple[str, ...] = ()
    raised_types: int = 0
    created_minor: int = 0
    undated: int = 0
    unpriced: Sequence[UnpricedType] = ()
    assumed_sold: int = 0
    cancelled_tickets: Sequence[CancelledTicket] = ()
    cancelled_admitted: int = 0
    new_type_names: Sequence[str] = ()
    new_type_totals: Sequence[int] = ()
    import_id: str | None = None
    chosen_types: Sequence[str] = ()
    first_tickets: Sequence[FirstTicket] = ()


def list_first_tickets(event: Event, tickets: Iterable[SoldTicket], type_ids: Mapping[str, str]) -> list[FirstTicket]:
    """The first sold tickets of a file, with the names of the event's ticket types."""
    names = {ticket_type.id: ticket_type.name for ticket_type in event.ticket_types}
    sold = islice((ticket for ticket in tickets if ticket.status == SOLD), MAX_FIRST)
    return [
        {
            "reference": ticket.reference,
            "order_number": ticket.order_number,
            "secret": ticket.secret,
            "ticket_type": names.get(type_ids.get(key_of(ticket.ticket_type), ""), ticket.ticket_type),
            "name": ticket.name,
            "email": ticket.email,
            "price_minor": ticket.price_minor,
            "sold_at": rfc3339(to_instant(ticket.sold_at, event.timezone)) if ticket.sold_at else None,
        }
        for ticket in sold
    ]

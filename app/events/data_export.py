"""Events of an organiser, and tickets of a person, in the copy of their data."""

from sqlalchemy import and_, select

from app.accounts.data_export import ExportOwner, export_part, list_rows
from app.accounts.queries import owned_organisations
from app.events.models import Event, Ticket, TicketType


@export_part("events")
def export_events(owner: ExportOwner) -> list[dict[str, object]]:
    query = select(
        Event.id,
        Event.name,
        Event.description,
        Event.venue,
        Event.city,
        Event.country,
        Event.timezone,
        Event.starts_at,
        Event.ends_at,
        Event.visibility,
        Event.capacity,
        Event.category,
        Event.keywords,
        Event.promo_codes,
        Event.bulk_discounts,
        Event.sponsors,
        Event.stall_types,
        Event.lineup,
        Event.created_at,
        Event.updated_at,
    ).where(Event.organiser_id.in_(owned_organisations(owner.account_id)))
    return list_rows(query.order_by(Event.starts_at, Event.id))


@export_part("tickets")
def export_tickets(owner: ExportOwner) -> list[dict[str, object]]:
    """Tickets that were sold elsewhere to the verified address."""
    query = (
        select(
            Event.name.label("event"),
            Event.starts_at.label("event_starts_at"),
            TicketType.name.label("ticket_type"),
            Ticket.reference,
            Ticket.name,
            Ticket.email,
            Ticket.price_minor,
            Ticket.status,
            Ticket.sold_at,
        )
        .join(Ticket, Ticket.event_id == Event.id)
        .join(TicketType, and_(TicketType.id == Ticket.ticket_type_id, TicketType.event_id == Ticket.event_id))
        .where(Ticket.email == owner.email)
    )
    return list_rows(query.order_by(Event.starts_at, Ticket.id))

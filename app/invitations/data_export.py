"""Invitations to a merchant, and the events that they take part in, in the copy of a person's data."""

from sqlalchemy import select

from app.accounts.data_export import ExportOwner, export_part, list_rows
from app.events.models import Event
from app.invitations.models import EventInvite, Participation


@export_part("invitations")
def export_invitations(owner: ExportOwner) -> list[dict[str, object]]:
    query = (
        select(
            Event.name.label("event"),
            EventInvite.status,
            EventInvite.message,
            EventInvite.stall_type,
            EventInvite.fee_minor,
            EventInvite.reply,
            EventInvite.created_at,
            EventInvite.expires_at,
            EventInvite.decided_at,
        )
        .join(Event, Event.id == EventInvite.event_id)
        .where(EventInvite.merchant_id == owner.account_id)
    )
    return list_rows(query.order_by(EventInvite.created_at, EventInvite.id))


@export_part("stalls")
def export_stalls(owner: ExportOwner) -> list[dict[str, object]]:
    query = (
        select(
            Event.name.label("event"),
            Participation.stall_type,
            Participation.fee_minor,
            Participation.floor_status,
            Participation.joined_at,
        )
        .join(Event, Event.id == Participation.event_id)
        .where(Participation.merchant_id == owner.account_id)
    )
    return list_rows(query.order_by(Participation.joined_at))

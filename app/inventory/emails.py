"""The emails about stock; their texts are in templates/email."""

from datetime import date
from decimal import Decimal
from typing import NamedTuple

from sqlalchemy import func, select

from app.accounts.models import Account, OrganiserProfile
from app.accounts.organisation_details import contact_sql
from app.accounts.queries import owner_id_sql
from app.clients.email_templates import render_email
from app.clients.message import Message
from app.core.db import db
from app.events.models import Event
from app.inventory.formatting import format_item, format_quantity
from app.inventory.models import ITEM_TABLE
from app.inventory.reminders import MAX_LISTED_ITEMS, Digest, DigestItem


class AlertItem(NamedTuple):
    """An item of an alert."""

    id: str
    name: str
    sku: str
    unit: str | None
    reorder_level: Decimal
    on_order: Decimal


class EventSender(NamedTuple):
    """The name of an event, and the name and the address of its organiser, who can order what is missing."""

    event: str
    organiser: str
    contact: str


def find_event_sender(event_id: str) -> EventSender | None:
    """Return the sender of an event's mail; None when the event has been deleted."""
    row = db.session.execute(
        select(Event.name, func.coalesce(OrganiserProfile.org_name, Account.name), contact_sql(Event.organiser_id))
        .select_from(Event)
        .join(Account, Account.id == owner_id_sql(Event.organiser_id))
        .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Event.organiser_id)
        .where(Event.id == event_id)
    ).first()
    return None if row is None else EventSender(*row)


def build_digest_email(digest: Digest, sender: EventSender, *, to: str, key: str) -> Message:
    """Return the email with the low items and the expiring items."""
    return render_email(
        "inventory_digest",
        to=to,
        key=key,
        sender_name=sender.organiser,
        reply_to=sender.contact,
        name="",
        event=digest.event_name,
        low=[_format_low_item(item, item.available) for item in digest.low],
        expiring=[
            f"{format_item(item.name, item.sku)}: {format_quantity(item.on_hand, item.unit)}, {_format_expiry(item.expiry_date, digest.today)}"
            for item in digest.expiring
        ],
        more=digest.omitted_count,
        organiser=sender.organiser,
    )


def build_alert_email(
    sender: EventSender, available_by_item: dict[str, Decimal], *, to: str, key: str
) -> Message | None:
    """Return the email with the items that fell to their reorder level; None when they have been deleted or archived."""
    rows = db.session.execute(
        select(*(ITEM_TABLE.c[name] for name in AlertItem._fields))
        .where(ITEM_TABLE.c.id.in_(list(available_by_item)), ITEM_TABLE.c.archived_at.is_(None))
        .order_by(func.lower(ITEM_TABLE.c.name))
        .limit(MAX_LISTED_ITEMS)
    )
    items = [AlertItem(*row) for row in rows]
    if not items:
        return None
    return render_email(
        "inventory_alert",
        to=to,
        key=key,
        sender_name=sender.organiser,
        reply_to=sender.contact,
        name="",
        event=sender.event,
        first=items[0].name,
        others=len(available_by_item) - 1,
        low=[_format_low_item(item, available_by_item[item.id]) for item in items],
        more=max(0, len(available_by_item) - len(items)),
        organiser=sender.organiser,
    )


def _format_low_item(item: DigestItem | AlertItem, available: Decimal) -> str:
    level = f"{format_quantity(available, item.unit)} available, reorder level {format_quantity(item.reorder_level)}"
    on_order = f", {format_quantity(item.on_order)} on order" if item.on_order else ""
    return f"{format_item(item.name, item.sku)}: {level}{on_order}"


def _format_expiry(expiry: date | None, today: date) -> str:
    assert expiry is not None
    formatted_day = f"{expiry:%a} {expiry.day} {expiry:%B %Y}"
    return f"expired on {formatted_day}" if expiry < today else f"good until {formatted_day}"

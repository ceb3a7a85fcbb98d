"""The stalls of an event for its organiser: who takes part, who is open now, and the stall plan.

The plan gives each stall a number, power, water and a note. A number stands for one stall of the event.
"""

from collections.abc import Sequence
from typing import TypedDict, Unpack

from sqlalchemy import ColumnElement, RowMapping, func, select

from app.accounts.caller import Caller
from app.audit.actions import Action
from app.audit.log import record
from app.core.db import db
from app.core.errors import NotFound, StaleVersion, ValidationFailed
from app.core.transaction import lock_name, transaction
from app.events.models import Event
from app.events.queries import owned
from app.events.search_words import contains_sql
from app.invitations.models import Participation
from app.invitations.participation import lock_participation
from app.invitations.queries import ListQuery
from app.invitations.sql import floor_status_sql
from app.merchants.models import Merchant, MerchantProfile

STALL_SORTS: dict[str, ColumnElement[str]] = {
    "businessName": func.coalesce(MerchantProfile.business_name, ""),
    "stallNumber": func.coalesce(Participation.stall_number, ""),
    "stallType": func.coalesce(Participation.stall_type, ""),
}


StallRecord = RowMapping
"""A row of the list."""


class StallPlace(TypedDict, total=False):
    """What the plan says about a stall; a field that is missing stays as it is."""

    stall_number: str | None
    power: str | None
    water: bool
    note: str | None


def list_stalls_query(
    caller: Caller, event_id: str, *, q: str | None = None, floor_status: str | None = None
) -> ListQuery:
    """The stalls of an event. Raises NotFound for the event."""
    if db.session.scalar(select(Event.id).where(Event.id == event_id, owned(caller))) is None:
        raise NotFound()
    statement = _stalls_query(event_id)
    if floor_status is not None:
        statement = statement.where(floor_status_sql() == floor_status)
    if q:
        columns = (MerchantProfile.business_name, Participation.stall_number, Participation.stall_type)
        matches = [contains_sql(column, q) for column in columns]
        statement = statement.where(matches[0] | matches[1] | matches[2])
    return statement


def list_plan(caller: Caller, event_id: str) -> Sequence[StallRecord]:
    """All stalls of an event by their number, those without one last. Raises NotFound for the event."""
    order = (Participation.stall_number.asc().nulls_last(), STALL_SORTS["businessName"], Participation.merchant_id)
    return db.session.execute(list_stalls_query(caller, event_id).order_by(*order)).mappings().all()


def get_stall(caller: Caller, event_id: str, merchant_id: str) -> StallRecord:
    """One stall with the columns of the list. Raises NotFound."""
    is_own = Participation.event_id.in_(select(Event.id).where(owned(caller)))
    statement = _stalls_query(event_id).where(Participation.merchant_id == merchant_id, is_own)
    row = db.session.execute(statement).mappings().first()
    if row is None:
        raise NotFound()
    return row


def place_stall(
    caller: Caller, event_id: str, merchant_id: str, *, expected_version: int | None, **place: Unpack[StallPlace]
) -> None:
    """Changes what the plan says about a stall. The same values again change nothing.

    Raises NotFound, StaleVersion, ValidationFailed for a number that another stall of the event has.
    """
    with transaction() as session:
        if session.scalar(select(Event.id).where(Event.id == event_id, owned(caller))) is None:
            raise NotFound()
        lock_name(session, f"stall-plan:{event_id}")
        participation = lock_participation(session, event_id, merchant_id)
        if participation is None:
            raise NotFound()
        if expected_version not in (None, participation.place_version):
            raise StaleVersion()
        values = {"place_note" if name == "note" else name: value or None for name, value in place.items()}
        values |= {"water": bool(place["water"])} if "water" in place else {}
        changes = {name: value for name, value in values.items() if getattr(participation, name) != value}
        if not changes:
            return
        if number := changes.get("stall_number"):
            is_other = (Participation.event_id == event_id) & (Participation.merchant_id != merchant_id)
            is_taken = func.lower(Participation.stall_number) == func.lower(number)
            if session.scalar(select(Participation.merchant_id).where(is_other, is_taken).limit(1)):
                raise ValidationFailed.of("stallNumber", "duplicate", "Another stall has this number.")
        for name, value in changes.items():
            setattr(participation, name, value)
        participation.place_version += 1
        record(session, Action.STALL_PLACED, event_id=event_id, account_id=merchant_id, subject=event_id)


def _stalls_query(event_id: str) -> ListQuery:
    return (
        select(
            Participation.merchant_id.label("id"),
            Participation.event_id,
            MerchantProfile.business_name,
            MerchantProfile.stall_name,
            Participation.stall_type,
            floor_status_sql().label("floor_status"),
            Participation.stall_number,
            Participation.power,
            Participation.water,
            Participation.place_note.label("note"),
            Participation.place_version.label("version"),
        )
        .outerjoin(MerchantProfile, MerchantProfile.account_id == Participation.merchant_id)
        .outerjoin(Merchant, Merchant.profile_id == Participation.merchant_id)
        .where(Participation.event_id == event_id)
    )

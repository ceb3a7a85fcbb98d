"""The stall types that an event lists: their fees, and the places that are taken.

An approved application, a participant and an open offer take a place of their type. The type is locked until the
transaction that takes one ends, so that two cannot take the last place.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session as OrmSession

from app.applications.errors import StallTypeFull
from app.applications.models import Application, ApplicationLink
from app.applications.states import ACCEPTED_STATES, APPROVED, OFFER, WAITLISTED
from app.core.transaction import lock_name
from app.events.models import Event
from app.invitations.acceptance_hooks import counts_places
from app.invitations.models import Participation

HAS_OPEN_OFFER_SQL: ColumnElement[bool] = (Application.status == WAITLISTED) & select(ApplicationLink.id).where(
    ApplicationLink.application_id == Application.id,
    ApplicationLink.purpose == OFFER,
    ApplicationLink.used_at.is_(None),
    ApplicationLink.replaced_at.is_(None),
).correlate(Application).exists()


class StallType(NamedTuple):
    """A stall type of an event; without a quantity there is no limit."""

    name: str
    fee_minor: int
    quantity: int | None


class LimitedType(NamedTuple):
    """A stall type with a quantity."""

    name: str
    quantity: int


StoredTypes = Sequence[Mapping[str, Any]]


def list_stall_types(stored_types: StoredTypes) -> list[StallType]:
    """The stall types in the column of an event."""
    return [StallType(stored["name"], stored["feeMinor"], stored.get("quantity")) for stored in stored_types]


def find_stall_type(stored_types: StoredTypes, name: str | None) -> StallType | None:
    """The stall type of this name, whatever its case; None when the event does not list it."""
    lower_name = (name or "").casefold()
    return next((listed for listed in list_stall_types(stored_types) if listed.name.casefold() == lower_name), None)


def check_place_left(session: OrmSession, event_id: str, stall_type: str | None, *, beyond_quota: bool = False) -> None:
    """Checks that a place of the type is left, for the row that the transaction writes afterwards.

    With `beyond_quota` a full type is no error. Raises StallTypeFull.
    """
    listed = _find_limited_type(session, event_id, stall_type)
    if listed is None:
        return
    taken = _lock_and_count_taken(session, event_id, listed.name)
    if taken >= listed.quantity and not beyond_quota:
        raise StallTypeFull(stall_type=listed.name, quantity=listed.quantity, taken=taken)


@counts_places
def count_places_left(session: OrmSession, event_id: str, stall_type: str | None) -> int | None:
    """The places of the type that are left, kept until the transaction ends; None without a limit."""
    listed = _find_limited_type(session, event_id, stall_type)
    return None if listed is None else max(listed.quantity - _lock_and_count_taken(session, event_id, listed.name), 0)


def _find_limited_type(session: OrmSession, event_id: str, stall_type: str | None) -> LimitedType | None:
    if stall_type is None:
        return None
    listed = find_stall_type(session.scalars(select(Event.stall_types).where(Event.id == event_id)).one(), stall_type)
    return None if listed is None or listed.quantity is None else LimitedType(listed.name, listed.quantity)


def _lock_and_count_taken(session: OrmSession, event_id: str, name: str) -> int:
    lock_stall_type(session, event_id, name)
    return count_taken(session, event_id, name)


def lock_stall_type(session: OrmSession, event_id: str, name: str) -> None:
    """Locks a type for transactions that take one of its places."""
    lock_name(session, f"stall-type:{event_id}:{name.casefold()}")


def count_taken(session: OrmSession, event_id: str, name: str) -> int:
    """How many places of a type are taken: by participants, by approved applications on their way there, and by offers.

    An offer takes its place until it is answered or recorded as lapsed, whatever the time.
    """
    has_type = func.lower(name)
    participants = (
        select(func.count())
        .where(Participation.event_id == event_id, func.lower(Participation.stall_type) == has_type)
        .scalar_subquery()
    )
    approved = (
        select(func.count())
        .where(
            Application.event_id == event_id,
            func.lower(Application.stall_type) == has_type,
            Application.status.in_((APPROVED, *ACCEPTED_STATES)) | HAS_OPEN_OFFER_SQL,
        )
        .scalar_subquery()
    )
    taken: int = session.scalars(select(participants + approved)).one()
    return taken

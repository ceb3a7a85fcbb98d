"""The stall types that an event lists: their fees, and the places that are taken.

A place belongs to one merchant and one type: however many approved applications, accepted invitations and stalls the
merchant has of a type at an event, they take one place of it. An application without an account takes a place of its
own, as does an open offer. The type is locked until the transaction that takes a place ends, so that two cannot take the
last one. Names of types are the same whatever their case, as Python compares them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, func, select, union
from sqlalchemy.orm import Session as OrmSession

from app.applications.errors import StallTypeFull
from app.applications.models import Application, ApplicationLink
from app.applications.states import ACCEPTED_STATES, ACTIVATED, APPROVED, OFFER, WAITLISTED
from app.core.db import db
from app.core.transaction import lock_name
from app.events.models import Event
from app.invitations.acceptance_hooks import counts_places
from app.invitations.models import EventInvite, Participation
from app.invitations.states import ACCEPTED as INVITE_ACCEPTED
from app.merchants.models import Merchant
from app.merchants.states import DELETED

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


class TakenPlace(NamedTuple):
    """A taken place; the holder is a merchant, or an application without an account. `type_key` is of `fold_name`."""

    holder_id: str
    type_key: str


class Places(NamedTuple):
    """A stall type with its taken places; `key` is of `fold_name`, `quantity` None without a limit."""

    name: str
    key: str
    fee_minor: int
    quantity: int | None
    taken: int

    @property
    def left(self) -> int | None:
        """The free places, of which more may be taken than there are; None without a limit."""
        return None if self.quantity is None else max(self.quantity - self.taken, 0)


StoredTypes = Sequence[Mapping[str, Any]]


def list_stall_types(stored_types: StoredTypes) -> list[StallType]:
    """The stall types in the column of an event."""
    return [StallType(stored["name"], stored["feeMinor"], stored.get("quantity")) for stored in stored_types]


def fold_name(name: str | None) -> str:
    """The name of a stall type for comparisons: the same one for every case of its letters."""
    return (name or "").casefold()


def find_stall_type(stored_types: StoredTypes, name: str | None) -> StallType | None:
    """The stall type of this name, whatever its case; None when the event does not list it."""
    type_key = fold_name(name)
    return next((listed for listed in list_stall_types(stored_types) if fold_name(listed.name) == type_key), None)


def check_place_left(
    session: OrmSession,
    event_id: str,
    stall_type: str | None,
    *,
    merchant_id: str | None,
    beyond_quota: bool = False,
) -> None:
    """Checks that a place of the type is left, for the row that the transaction writes afterwards.

    A merchant who has a place of the type needs no other. With `beyond_quota` a full type is no error. Raises
    StallTypeFull.
    """
    listed = _find_limited_type(session, event_id, stall_type)
    if listed is None:
        return
    lock_stall_type(session, event_id, listed.name)
    holder_ids = _list_holder_ids(session, event_id, listed.name)
    if len(holder_ids) >= listed.quantity and merchant_id not in holder_ids and not beyond_quota:
        raise StallTypeFull(stall_type=listed.name, quantity=listed.quantity, taken=len(holder_ids))


def list_places(event_id: str, stored_types: StoredTypes) -> list[Places]:
    """The stall types of an event with the places that are taken, in their order."""
    taken = Counter(place.type_key for place in list_taken_places(db.session(), event_id))
    return [
        Places(listed.name, fold_name(listed.name), listed.fee_minor, listed.quantity, taken[fold_name(listed.name)])
        for listed in list_stall_types(stored_types)
    ]


@counts_places
def count_places_left(session: OrmSession, event_id: str, stall_type: str | None) -> int | None:
    """The places of the type that are left, kept until the transaction ends; None without a limit."""
    listed = _find_limited_type(session, event_id, stall_type)
    if listed is None:
        return None
    lock_stall_type(session, event_id, listed.name)
    return max(listed.quantity - count_taken(session, event_id, listed.name), 0)


def _find_limited_type(session: OrmSession, event_id: str, stall_type: str | None) -> LimitedType | None:
    if stall_type is None:
        return None
    listed = find_stall_type(session.scalars(select(Event.stall_types).where(Event.id == event_id)).one(), stall_type)
    return None if listed is None or listed.quantity is None else LimitedType(listed.name, listed.quantity)


def lock_stall_type(session: OrmSession, event_id: str, name: str) -> None:
    """Locks a type for transactions that take one of its places."""
    lock_name(session, f"stall-type:{event_id}:{fold_name(name)}")


def count_taken(session: OrmSession, event_id: str, name: str) -> int:
    """How many places of a type are taken."""
    return len(_list_holder_ids(session, event_id, name))


def _list_holder_ids(session: OrmSession, event_id: str, name: str) -> set[str]:
    type_key = fold_name(name)
    return {place.holder_id for place in list_taken_places(session, event_id) if place.type_key == type_key}


def list_taken_places(session: OrmSession, event_id: str) -> set[TakenPlace]:
    """The places that are taken at an event, of all types.

    Participants, accepted invitations, approved applications and offers take them. An invitation with a fee has an
    application. An offer takes its place until it is answered or recorded as lapsed, whatever the time. A deleted
    merchant takes none.
    """
    participants = select(Participation.merchant_id, Participation.stall_type).where(Participation.event_id == event_id)
    invited = select(EventInvite.merchant_id, EventInvite.stall_type).where(
        EventInvite.event_id == event_id,
        EventInvite.status == INVITE_ACCEPTED,
        func.coalesce(EventInvite.fee_minor, 0) == 0,
    )
    approved = select(func.coalesce(Application.account_id, Application.id), Application.stall_type).where(
        Application.event_id == event_id,
        Application.status.in_((APPROVED, *ACCEPTED_STATES))
        | HAS_OPEN_OFFER_SQL
        | ((Application.status == ACTIVATED) & Application.account_id.is_not(None)),
    )
    rows = session.execute(union(participants, invited, approved))
    places = {TakenPlace(holder_id, fold_name(name)) for holder_id, name in rows if name is not None}
    holder_ids = {place.holder_id for place in places}
    deleted = select(Merchant.account_id).where(Merchant.account_id.in_(holder_ids), Merchant.status == DELETED)
    deleted_ids = set(session.scalars(deleted))
    return {place for place in places if place.holder_id not in deleted_ids}

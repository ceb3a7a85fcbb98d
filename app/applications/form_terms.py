"""The terms of an application form: the event, its stall types with their fees, and what an invitation agrees.

A form is for an event that takes applications, or for an invitation link. `get_form_terms` reads both.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import func, select

from app.accounts.models import Account
from app.accounts.organisation_details import contact_sql
from app.accounts.queries import owner_id_sql
from app.applications.errors import APPLICATIONS_ENDED, ApplicationsClosed
from app.applications.stall_types import (
    StallType,
    find_stall_type,
    fold_name,
    list_stall_types,
    list_taken_places,
)
from app.core.db import db
from app.core.errors import NotFound
from app.events.models import Event
from app.events.visibility import takes_applications
from app.invitations.queries import (
    EVENT_COLUMNS,
    EventSummary,
    InviteLinkDetails,
    get_active_invite_link,
)


class StallTypeOffer(NamedTuple):
    """A stall type that an applicant can choose; `left` is None without a limit."""

    name: str
    fee_minor: int
    left: int | None


@dataclass(frozen=True, kw_only=True)
class FormTerms:
    """The event of a form, and what its applicant chooses from.

    `stall_type`, `fee_minor`, `business_name` and `email` are those of the invitation, and cannot be changed.
    `has_listed_fee` says that the list of the event has the fee, so the form asks for no amount.
    """

    event: EventSummary
    organiser_id: str
    contact: str
    offers: Sequence[StallTypeOffer]
    has_listed_fee: bool
    applications_end_at: datetime | None = None
    invite_slug: str | None = None
    stall_type: str | None = None
    fee_minor: int | None = None
    business_name: str | None = None
    email: str | None = None

    @property
    def asks_for_amount(self) -> bool:
        """Whether the applicant types the amount that they have agreed with the organiser."""
        return self.fee_minor is None and not self.has_listed_fee


@dataclass(frozen=True, kw_only=True)
class PublicEvent(EventSummary):
    """A public event with its organiser and the stall types."""

    organiser_id: str
    contact: str
    stall_types: Sequence[Mapping[str, Any]]
    is_over: bool
    takes_applications: bool
    applications_end_at: datetime | None


def get_form_terms(event_id: str, invite_slug: str | None = None) -> FormTerms:
    """The terms of the form for an event, or for an invitation link to it.

    Raises NotFound for an event that is not public or does not exist, ApplicationsClosed for one that is over or takes
    no more applications, and for a link that cannot be used InviteExpired, InviteWithdrawn, InviteUsed or InviteDeclined.
    """
    if invite_slug is not None:
        return build_link_terms(get_active_invite_link(invite_slug))
    event = get_public_event(event_id)
    if not event.takes_applications:
        raise ApplicationsClosed() if event.is_over else ApplicationsClosed(APPLICATIONS_ENDED)
    return build_event_terms(event)


def build_event_terms(event: PublicEvent) -> FormTerms:
    """The terms of the form for an event, whether it takes applications or not."""
    offers = _list_offers(event.event_id, list_stall_types(event.stall_types))
    return FormTerms(
        event=event,
        organiser_id=event.organiser_id,
        contact=event.contact,
        offers=offers,
        has_listed_fee=bool(offers),
        applications_end_at=event.applications_end_at,
    )


def build_link_terms(link: InviteLinkDetails) -> FormTerms:
    """The terms of the form of an invitation link."""
    listed = find_stall_type(link.stall_types, link.stall_type)
    fee_minor = listed.fee_minor if listed is not None and link.fee_minor is None else link.fee_minor
    offers = [] if link.stall_type else _list_offers(link.event_id, list_stall_types(link.stall_types))
    return FormTerms(
        event=link,
        organiser_id=link.organiser_id,
        contact=link.contact,
        offers=offers,
        has_listed_fee=bool(offers),
        invite_slug=link.slug,
        stall_type=link.stall_type,
        fee_minor=fee_minor,
        business_name=link.business_name,
        email=link.email,
    )


def get_public_event(event_id: str) -> PublicEvent:
    """A public event, also one that is over. Raises NotFound."""
    row = db.session.execute(
        select(
            *EVENT_COLUMNS,
            Event.organiser_id,
            contact_sql(Event.organiser_id).label("contact"),
            Event.stall_types,
            (Event.ends_at <= func.now()).label("is_over"),
            takes_applications().label("takes_applications"),
            Event.applications_end_at,
        )
        .join(Account, Account.id == owner_id_sql(Event.organiser_id))
        .where(Event.id == event_id, Event.public_from <= func.now())
    ).first()
    if row is None:
        raise NotFound()
    return PublicEvent(**row._asdict())


def _list_offers(event_id: str, stall_types: Sequence[StallType]) -> list[StallTypeOffer]:
    has_limit = any(stall_type.quantity is not None for stall_type in stall_types)
    taken_places = list_taken_places(db.session(), event_id) if has_limit else set()
    taken_by_type = Counter(place.type_key for place in taken_places)
    return [
        StallTypeOffer(
            stall_type.name,
            stall_type.fee_minor,
            None
            if stall_type.quantity is None
            else max(0, stall_type.quantity - taken_by_type[fold_name(stall_type.name)]),
        )
        for stall_type in stall_types
    ]

"""The stall types that applications, stalls and invitations have: an event can neither remove nor rename them."""

from collections import Counter
from collections.abc import Mapping

from sqlalchemy import func, select, union
from sqlalchemy.orm import Session as OrmSession

from app.applications.models import Application
from app.applications.states import ACTIVATED, OPEN_STATES
from app.events.models import Event
from app.events.stall_type_uses import counts_stall_type_uses
from app.invitations.models import EventInvite, Participation
from app.invitations.sql import invite_status_sql
from app.invitations.states import ACCEPTED, PENDING


@counts_stall_type_uses
def count_stall_type_uses(session: OrmSession, event_id: str) -> Mapping[str, int]:
    """How many people have each stall type of the event, or ask for it; all rows of a merchant count once.

    A submitted application counts, because its approval takes a place. A pending invitation counts, because accepting
    it does.
    """
    stalls = select(Participation.merchant_id, Participation.stall_type).where(Participation.event_id == event_id)
    invited = (
        select(EventInvite.merchant_id, EventInvite.stall_type)
        .join(Event, Event.id == EventInvite.event_id)
        .where(EventInvite.event_id == event_id, invite_status_sql().in_((PENDING, ACCEPTED)))
    )
    applied = select(func.coalesce(Application.account_id, Application.id), Application.stall_type).where(
        Application.event_id == event_id, Application.status.in_((*OPEN_STATES, ACTIVATED))
    )
    rows = session.execute(union(stalls, invited, applied))
    return Counter(stall_type for _, stall_type in rows if stall_type is not None)

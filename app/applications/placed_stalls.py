"""The applications behind the stall plan: the one of a stall and what it says, and approved ones without a stall yet."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, RowMapping, ScalarSelect, func, select

from app.accounts.caller import Caller
from app.applications.models import Application
from app.applications.states import ACCEPTED_STATES, ACTIVATED
from app.core.db import db
from app.events.models import Event
from app.events.queries import owned
from app.invitations.models import Participation


def find_stall_number(application_id: str) -> str | None:
    """The number in the stall plan of the stall that an application led to; None while it has none."""
    statement = select(Participation.stall_number).join(Application, _is_of_the_stall())
    return db.session.scalar(statement.where(Application.id == application_id))


def find_stall_description(event_id: str, merchant_id: str) -> str | None:
    """What the merchant of a stall wrote about it when they applied; None without an application."""
    is_of_event = (Application.event_id == event_id) & (Application.account_id == merchant_id)
    statement = select(Application.description).where(is_of_event, Application.status == ACTIVATED)
    return db.session.scalar(statement.order_by(Application.activated_at.desc(), Application.id).limit(1))


def list_stalls_to_come(caller: Caller, event_id: str) -> Sequence[RowMapping]:
    """The approved applications of an event whose merchant has not opened their account, by name.

    They have `id, event_id, reference, business_name, stall_type, status`. Nothing for an event of others.
    """
    columns = (Application.reference, Application.business_name, Application.stall_type, Application.status)
    statement = (
        select(Application.id, Application.event_id, *columns)
        .join(Event, Event.id == Application.event_id)
        .where(Application.event_id == event_id, Application.status.in_(ACCEPTED_STATES), owned(caller))
        .order_by(func.lower(Application.business_name), Application.id)
    )
    return db.session.execute(statement).mappings().all()


def application_id_sql() -> ScalarSelect[str]:
    """The application from which a stall came; null for a merchant who has come by an invitation without a fee."""
    statement = select(Application.id).where(_is_of_the_stall(), Application.status == ACTIVATED)
    newest = statement.order_by(Application.activated_at.desc(), Application.id).limit(1)
    return newest.correlate(Participation).scalar_subquery()


def _is_of_the_stall() -> ColumnElement[bool]:
    return (Application.account_id == Participation.merchant_id) & (Application.event_id == Participation.event_id)

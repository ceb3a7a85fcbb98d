"""Which application a stall of the stall plan came from, and which number the stall of an application has."""

from sqlalchemy import select

from app.applications.models import Application
from app.core.db import db
from app.invitations.models import Participation


def find_stall_number(application_id: str) -> str | None:
    """The number in the stall plan of the stall that an application led to; None while it has none."""
    statement = select(Participation.stall_number).join(
        Application,
        (Application.account_id == Participation.merchant_id) & (Application.event_id == Participation.event_id),
    )
    return db.session.scalar(statement.where(Application.id == application_id))

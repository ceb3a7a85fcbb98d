"""Who sees an application, and who decides it.

The applicant sees their own, an organiser those for their own events, an admin of any tier all. Deciding is for the
event's organiser and for admins from support on; where there is no event, for those admins alone.
"""

from sqlalchemy import ColumnElement, false, or_, true

from app.accounts.caller import Caller
from app.applications.models import Application

READ_TIER, DECIDE_TIER = "analyst", "support"


def can_see_sql(caller: Caller) -> ColumnElement[bool]:
    """The applications that the caller may know of."""
    if caller.has_tier(READ_TIER):
        return true()
    conditions = []
    if "organiser" in caller.roles:
        conditions.append(Application.organiser_id == caller.id)
    if "merchant" in caller.roles:
        conditions.append(Application.account_id == caller.id)
    return or_(false(), *conditions)


def can_decide_sql(caller: Caller) -> ColumnElement[bool]:
    """The applications that the caller may decide, whose notes they may read."""
    if caller.has_tier(DECIDE_TIER):
        return true()
    return Application.organiser_id == caller.id if "organiser" in caller.roles else false()


def can_read_notes_sql(caller: Caller) -> ColumnElement[bool]:
    """The applications whose notes and risk the caller may read: those that are not their own as an applicant."""
    if caller.has_tier(READ_TIER):
        return true()
    return Application.organiser_id == caller.id if "organiser" in caller.roles else false()

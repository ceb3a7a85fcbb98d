"""Who sees an application, and who decides it.

The applicant sees his own, an organiser those for his own events, an admin of any tier all. Deciding is for the
event's organiser and for admins from support on; where there is no event, for those admins alone.
"""

from sqlalchemy import ColumnElement, false, or_, true

from app.accounts.caller import Caller
from app.applications.models import Application

READS, DECIDES = "analyst", "support"


def visible(caller: Caller) -> ColumnElement[bool]:
    """The applications that the caller may know of."""
    if caller.has_tier(READS):
        return true()
    ways = []
    if "organiser" in caller.roles:
        ways.append(Application.organiser_id == caller.id)
    if "merchant" in caller.roles:
        ways.append(Application.account_id == caller.id)
    return or_(false(), *ways)


def decidable(caller: Caller) -> ColumnElement[bool]:
    """The applications that the caller may decide, whose notes he may read."""
    if caller.has_tier(DECIDES):
        return true()
    return Application.organiser_id == caller.id if "organiser" in caller.roles else false()


def inside(caller: Caller) -> ColumnElement[bool]:
    """The applications whose notes and risk the caller may read: those that are not his own as an applicant."""
    if caller.has_tier(READS):
        return true()
    return Application.organiser_id == caller.id if "organiser" in caller.roles else false()

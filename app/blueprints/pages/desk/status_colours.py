"""Which states of the desk are shown in the colour of what is done, and which in that of what is wrong.

The word says the state; the colour helps to find it in a long table.
"""

from app.allocations import states as guests
from app.applications import states as applications
from app.campaigns import states as campaigns
from app.events.visibility import CANCELLED, PUBLISHED
from app.gate import log
from app.invitations import states as invitations

DONE = {
    PUBLISHED,
    guests.ADMITTED,
    applications.ACTIVATED,
    campaigns.SENT,
    invitations.ACCEPTED,
    log.ENTERED,
    "paid",
}
WRONG = {
    CANCELLED,
    guests.REVOKED,
    applications.DECLINED,
    campaigns.FAILED,
    invitations.EXPIRED,
    log.CONFLICT,
    log.FIRST_CONFLICT,
    "refunded",
    "overdue",
}


def find_colour(state: object) -> str:
    """The class of a state: `done`, `wrong` or nothing."""
    return "done" if state in DONE else "wrong" if state in WRONG else ""

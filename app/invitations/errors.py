"""Errors of invitations."""

from app.core.errors import Conflict, Gone
from app.core.languages import mark_for_translation


class InviteDecided(Conflict):
    number, code = 40970, "INVITE_DECIDED"
    message = "This invitation has been answered already; the other answer is no longer possible."


class EventClosed(Conflict):
    number, code = 40971, "EVENT_CLOSED"
    message = mark_for_translation("The event is over, archived or cancelled; it takes no invitations.")


class InviteExpired(Gone):
    number, code = 41070, "INVITE_EXPIRED"
    message = "This invitation has expired; ask the organiser for a new one."


class InviteWithdrawn(Gone):
    number, code = 41071, "INVITE_WITHDRAWN"
    message = "This invitation is no longer valid: it was withdrawn, or the event was cancelled."


class InviteDeclined(Gone):
    number, code = 41048, "INVITE_DECLINED"
    message = "This invitation was declined; ask the organiser for a new one."


class InviteUsed(Gone):
    number, code = 41072, "INVITE_USED"
    message = "This invitation has reached its limit; ask the organiser for a new one."

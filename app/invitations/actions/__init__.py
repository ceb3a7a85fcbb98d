"""Actions of organisers and merchants on invitations. Each is one transaction."""

from app.invitations.actions.invite_answers import answer_invite
from app.invitations.actions.invites import create_link, invite_from_directory, withdraw_invites, withdraw_link
from app.invitations.actions.link_answers import decline_link
from app.invitations.participation import set_floor_status

__all__ = [
    "answer_invite",
    "create_link",
    "decline_link",
    "invite_from_directory",
    "set_floor_status",
    "withdraw_invites",
    "withdraw_link",
]

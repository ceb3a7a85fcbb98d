"""Actions of organisers and merchants on invitations. Each is one transaction."""

from app.invitations.actions.directory_invites import invite_from_directory, withdraw_invites
from app.invitations.actions.floor_status import set_floor_status
from app.invitations.actions.invite_answers import answer_invite
from app.invitations.actions.invite_links import create_link, withdraw_link

__all__ = [
    "answer_invite",
    "create_link",
    "invite_from_directory",
    "set_floor_status",
    "withdraw_invites",
    "withdraw_link",
]

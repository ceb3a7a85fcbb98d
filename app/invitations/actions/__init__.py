"""What organisers and merchants do with invitations: one verb, one transaction."""

from app.invitations.actions.answer import answer_invite
from app.invitations.actions.directory import invite_from_directory, withdraw_invites
from app.invitations.actions.floor import set_floor_status
from app.invitations.actions.links import make_link, withdraw_link

__all__ = [
    "answer_invite",
    "invite_from_directory",
    "make_link",
    "set_floor_status",
    "withdraw_invites",
    "withdraw_link",
]

"""Actions on teams. Each is one transaction."""

from app.teams.actions.api_keys import create_api_key, end_api_key
from app.teams.actions.contact import confirm_contact, find_contact_request, resend_contact_link
from app.teams.actions.devices import create_device, end_device, pair_device
from app.teams.actions.members import (
    accept_invite,
    change_member,
    invite_member,
    leave_team,
    offer_ownership,
    remove_member,
)
from app.teams.actions.organisation import OrganisationChanges, update_organisation

__all__ = [
    "OrganisationChanges",
    "accept_invite",
    "change_member",
    "confirm_contact",
    "create_api_key",
    "create_device",
    "end_api_key",
    "end_device",
    "find_contact_request",
    "invite_member",
    "leave_team",
    "offer_ownership",
    "pair_device",
    "remove_member",
    "resend_contact_link",
    "update_organisation",
]

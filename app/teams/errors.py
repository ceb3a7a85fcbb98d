"""Errors of teams, devices and API keys."""

from app.core.errors import Conflict
from app.core.languages import mark_for_translation


class AlreadyMember(Conflict):
    number, code = 40915, "ALREADY_MEMBER"
    message = mark_for_translation("This address belongs to a member of the team already; change their role instead.")


class TeamFull(Conflict):
    number, code = 40916, "TEAM_FULL"
    message = mark_for_translation("The team has its maximum of members, devices or keys; remove one first.")


class OwnerRoleFixed(Conflict):
    number, code = 40918, "OWNER_ROLE_FIXED"
    message = mark_for_translation(
        "The owner stays a member with every permission; pass the ownership to another member first."
    )


class InviteForAnotherAddress(Conflict):
    number, code = 40919, "INVITE_FOR_ANOTHER_ADDRESS"
    message = "This invitation was sent to another address; sign in with the account of that address, and verify it."


class TeamNeedsOwner(Conflict):
    number, code = 40963, "TEAM_NEEDS_OWNER"
    message = "A team needs you; pass its ownership on first."

"""Teams: members of organisations and merchants, `/api/organisations/me`, `/api/merchants/me/members`, invitations."""

from typing import Any

from app.accounts.errors import MAIL_ERRORS, SecondFactorOff
from app.accounts.permissions import MEMBERS_READ, MEMBERS_WRITE, STALL_OWN
from app.blueprints.teams import schemas
from app.core.errors import LinkExpired, LinkUsed, NotFound, Throttled
from app.teams import actions, errors, queries
from app.teams.queries import Team
from app.web.access import PUBLIC, SIGNED_IN, get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.rate_limits import limit_failed_lookups

blp = Blueprint("teams", __name__, url_prefix="/api", description="Teams of organisers and merchants")
ORGANISATION, MERCHANT_TEAM = "/organisations/me/members", "/merchants/me/members"
INVITE_ERRORS = [errors.AlreadyMember, errors.TeamFull]


def _list_team(team: Team) -> dict[str, object]:
    return {"members": queries.list_members(team), "invitations": queries.list_open_invites(team)}


@blp.get(
    "/organisations/me",
    access=may(MEMBERS_READ, whole_organisation=True),
    returns=schemas.OrganisationData,
)
def read_organisation() -> dict[str, object]:
    """Read the name, the details and the settings of the organisation."""
    return queries.load_organisation(queries.get_organisation(get_current_caller()))


@blp.patch(
    "/organisations/me",
    access=may(MEMBERS_WRITE, whole_organisation=True),
    body=schemas.OrganisationChanges,
    returns=schemas.OrganisationData,
    errors=[SecondFactorOff, Throttled, *MAIL_ERRORS],
)
def change_organisation(**changes: Any) -> dict[str, object]:
    """Change the details and settings of the organisation.

    Address, VAT number and bank details are on its invoices; with a VAT number these are tax invoices. `bank` needs your
    password, or a sign-in of the last ten minutes. With `requiresSecondFactor`, members without one get 403
    `SECOND_FACTOR_SETUP_REQUIRED` until they turn it on; the owner needs one first.
    """
    caller = get_current_caller()
    organisation = queries.get_organisation(caller)
    actions.update_organisation(caller=caller, organisation=organisation, **changes)
    return queries.load_organisation(organisation)


@blp.post(
    "/organisations/me/contact-link",
    access=may(MEMBERS_WRITE, whole_organisation=True).with_verified_email(),
    errors=[Throttled, *MAIL_ERRORS],
)
def resend_contact_link() -> None:
    """Mail the link of the contact address that waits for its confirmation again."""
    actions.resend_contact_link(queries.get_organisation(get_current_caller()))


@blp.get(
    ORGANISATION,
    access=may(MEMBERS_READ, whole_organisation=True),
    returns=schemas.MembersData,
)
def list_members() -> dict[str, object]:
    """List the members of the organisation, and the open invitations."""
    return _list_team(queries.get_organisation(get_current_caller()))


@blp.post(
    ORGANISATION,
    access=may(MEMBERS_WRITE, whole_organisation=True).with_verified_email(),
    body=schemas.MemberBody,
    returns=schemas.TeamInviteRow,
    status=201,
    idempotent=True,
    errors=INVITE_ERRORS,
)
def invite_member(**body: Any) -> object:
    """Invite a person to the organisation by mail.

    They join when they accept on the page of the mail, within seven days. A new invitation replaces the old one.
    """
    caller = get_current_caller()
    return actions.invite_member(caller=caller, team=queries.get_organisation(caller), **body)


@blp.patch(
    f"{ORGANISATION}/<memberId>",
    access=may(MEMBERS_WRITE, whole_organisation=True),
    body=schemas.MemberChanges,
    returns=schemas.MemberChanged,
    errors=[errors.OwnerRoleFixed],
)
def change_member(member_id: str, **changes: Any) -> object:
    """Change the role or the events of a member. It counts from their next request on."""
    team = queries.get_organisation(get_current_caller())
    return actions.change_member(
        team=team, member_id=member_id, all_events=changes.get("event_ids", ()) is None, **changes
    )


@blp.delete(
    f"{ORGANISATION}/<memberId>",
    access=may(MEMBERS_WRITE, whole_organisation=True),
    query=schemas.RemovalQuery,
    returns=schemas.RemovalData,
    errors=[errors.OwnerRoleFixed],
)
def remove_member(member_id: str, end_devices_and_keys: bool) -> object:
    """Remove a member, or withdraw an invitation. It counts from their next request on.

    Their unused pairing codes and open invitations end. Devices and API keys that they made work on; the response says
    how many. `endDevicesAndKeys` ends these too.
    """
    return actions.remove_member(
        team=queries.get_organisation(get_current_caller()),
        member_id=member_id,
        end_devices_and_keys=end_devices_and_keys,
    )


@blp.post(
    f"{ORGANISATION}/<memberId>/offer-ownership",
    access=may(MEMBERS_WRITE, whole_organisation=True).with_verified_email(),
    body=schemas.OwnershipBody,
    returns=schemas.TeamInviteRow,
    status=201,
    errors=[errors.OwnerRoleFixed],
)
def offer_ownership(member_id: str, password: str | None) -> object:
    """Offer a member the ownership of the organisation by mail.

    It needs your password, or a sign-in of the last ten minutes. The ownership passes when they accept; you become a
    manager.
    """
    caller = get_current_caller()
    team = queries.get_organisation(caller)
    return actions.offer_ownership(caller=caller, team=team, member_id=member_id, password=password)


@blp.get(MERCHANT_TEAM, access=may(STALL_OWN), returns=schemas.MembersData)
def list_merchant_members() -> dict[str, object]:
    """List the members of the merchant's team, and the open invitations."""
    return _list_team(queries.get_merchant_team(get_current_caller()))


@blp.post(
    MERCHANT_TEAM,
    access=may(STALL_OWN).with_verified_email(),
    body=schemas.MerchantMemberBody,
    returns=schemas.TeamInviteRow,
    status=201,
    idempotent=True,
    errors=INVITE_ERRORS,
)
def invite_merchant_member(**body: Any) -> object:
    """Invite a person to the merchant's team by mail."""
    caller = get_current_caller()
    return actions.invite_member(caller=caller, team=queries.get_merchant_team(caller), **body)


@blp.patch(
    f"{MERCHANT_TEAM}/<memberId>",
    access=may(STALL_OWN),
    body=schemas.MerchantMemberChanges,
    returns=schemas.MemberChanged,
)
def change_merchant_member(member_id: str, role: str) -> object:
    """Change the role of a member. It counts from their next request on."""
    return actions.change_member(team=queries.get_merchant_team(get_current_caller()), member_id=member_id, role=role)


@blp.delete(f"{MERCHANT_TEAM}/<memberId>", access=may(STALL_OWN))
def remove_merchant_member(member_id: str) -> None:
    """Remove a member, or withdraw an invitation. It counts from their next request on."""
    actions.remove_member(team=queries.get_merchant_team(get_current_caller()), member_id=member_id)


@blp.get(
    "/team-invites/<token>",
    access=PUBLIC,
    returns=schemas.InvitationData,
    errors=[NotFound, LinkExpired, LinkUsed],
)
@limit_failed_lookups
def read_invitation(token: str) -> queries.Invitation:
    """Read an invitation to a team."""
    return queries.get_invitation(token)


@blp.post(
    "/team-invites/<token>/accept",
    access=SIGNED_IN,
    returns=schemas.JoinedData,
    errors=[NotFound, LinkExpired, LinkUsed, errors.InviteForAnotherAddress],
)
@limit_failed_lookups
def accept_invitation(token: str) -> Team:
    """Join a team. The account must have the address of the invitation, verified."""
    return actions.accept_invite(caller=get_current_caller(), token=token)


@blp.get("/auth/memberships", access=SIGNED_IN, returns=schemas.MembershipsData)
def list_memberships() -> dict[str, object]:
    """List the teams of others in which you have a role."""
    return {"memberships": queries.list_memberships(get_current_caller())}


@blp.delete("/auth/memberships/<membershipId>", access=SIGNED_IN, errors=[errors.OwnerRoleFixed])
def leave_team(membership_id: str) -> None:
    """Leave a team."""
    actions.leave_team(caller=get_current_caller(), membership_id=membership_id)

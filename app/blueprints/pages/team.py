"""The team of the signed-in person: members, invitations, and the teams of others in which they have a role."""

from flask import Response, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.permissions import (
    MEMBERS_READ,
    MEMBERS_WRITE,
    MERCHANT,
    ORGANISER,
    OWNER,
    ROLES,
    STALL_OWN,
    describe_role,
)
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form
from app.blueprints.pages.rendering import Pages, render_page
from app.blueprints.pages.signed_in import authorise_page, get_page_caller, get_signed_in_caller
from app.core.errors import LinkExpired, LinkUsed, NotFound
from app.core.ids import is_id
from app.events import queries as event_queries
from app.teams import actions, queries
from app.teams.errors import InviteForAnotherAddress
from app.teams.queries import Team
from app.web.access import may
from app.web.fields import Choice, Email, Secret
from app.web.rate_limits import count_lookup_failure
from app.web.schema import Query

blueprint = Pages("team", __name__, url_prefix="/account/team", needs_sign_in=True)
join = Pages("join", __name__, url_prefix="/join")
READ = {ORGANISER: may(MEMBERS_READ, whole_organisation=True), MERCHANT: may(STALL_OWN)}
WRITE = {ORGANISER: may(MEMBERS_WRITE, whole_organisation=True), MERCHANT: may(STALL_OWN)}
NAMES = {ORGANISER: "organisation", MERCHANT: "business"}
EMAIL = Input(
    "email",
    "E-mail address",
    hint="We send the invitation there. It works for seven days.",
    type="email",
    inputmode="email",
    messages={
        "required": "Enter an e-mail address.",
        "invalid_email": "Enter an e-mail address like name@example.com.",
    },
    error_codes=("ALREADY_MEMBER", "MAIL_LIMIT_REACHED"),
)
ROLE = Input("role", "Role", messages={"required": "Choose a role.", "unknown_value": "Choose a role."})
ROLE_HINTS = {
    "manager": "everything but this team and API keys",
    "finance": "invoices and money; reads guests, stalls and stock",
    "door": "admits guests",
    "stock": "reads and changes the stock",
    "messages": "writes to ticket holders",
    "viewer": "reads everything but money",
    "cashier": "shifts of the crew and the status of the stall",
}


MAX_EVENTS = 100


class InviteSchema(Query):
    email = Email(required=True)
    role = Choice(*(role for role in (*ROLES[ORGANISER], *ROLES[MERCHANT]) if role != OWNER), required=True)


class PasswordSchema(Query):
    password = Secret(required=True)


INVITE = Form(InviteSchema, EMAIL, ROLE)
PASSWORD = Form(
    PasswordSchema,
    Input(
        "password",
        "Your password",
        hint="We ask for it because this gives everything to somebody else.",
        type="password",
        autocomplete="current-password",
        messages={"required": "Enter your password."},
        error_codes=("CURRENT_PASSWORD_WRONG", "RATE_LIMITED"),
    ),
)


def _list_kinds() -> list[str]:
    caller = get_signed_in_caller()
    return [kind for kind, access in READ.items() if access.allows(caller.for_permission(str(access.permission)))]


def _get_team(kind: str, *, write: bool = True) -> Team:
    """The team of this kind. Raises NotFound, RoleNotAllowed."""
    if kind not in READ:
        raise NotFound()
    caller = authorise_page((WRITE if write else READ)[kind])
    return queries.get_organisation(caller) if kind == ORGANISER else queries.get_merchant_team(caller)


def _list_role_choices(kind: str) -> list[tuple[str, str, str]]:
    return [(role, role.capitalize(), ROLE_HINTS[role]) for role in ROLES[kind] if role != OWNER]


def _render_team(kind: str, form: FilledForm) -> Response:
    team = _get_team(kind, write=False)
    caller = get_signed_in_caller().for_permission(str(WRITE[kind].permission))
    can_write = WRITE[kind].allows(caller)
    organised = event_queries.list_present_events(caller) if kind == ORGANISER and can_write else []
    return render_form(
        "pages/team.html",
        form,
        kind=kind,
        kind_name=NAMES[kind],
        members=queries.list_members(team),
        invites=queries.list_open_invites(team),
        can_write=can_write,
        role_choices=_list_role_choices(kind),
        events=organised,
        chosen_events=request.form.getlist("event"),
    )


@blueprint.get("")
def show() -> ResponseReturnValue:
    """Show the teams that the person may see, and those of others in which they have a role."""
    kinds = _list_kinds()
    memberships = queries.list_memberships(get_signed_in_caller())
    if len(kinds) == 1 and not memberships:
        return redirect(url_for("team.show_team", kind=kinds[0]), 303)
    return render_page(
        "pages/teams.html", kinds=kinds, names=NAMES, memberships=memberships, describe_role=describe_role
    )


@blueprint.get("/<kind>")
def show_team(kind: str) -> Response:
    """Show the members of a team and the form to invite one."""
    return _render_team(kind, INVITE.fill())


@blueprint.post("/<kind>/invite")
def invite(kind: str) -> ResponseReturnValue:
    """Mail an invitation."""
    form = INVITE.from_request()
    team = _get_team(kind)
    try:
        values = form.load()
        caller = authorise_page(WRITE[kind].with_verified_email())
        event_ids = sorted({id for id in request.form.getlist("event") if is_id(id)})[:MAX_EVENTS] or None
        actions.invite_member(caller=caller, team=team, event_ids=event_ids, **values)
    except FORM_ERRORS as error:
        return _render_team(kind, form.with_error(error))
    flash(f"We sent the invitation to {values['email']}.")
    return redirect(url_for("team.show_team", kind=kind), 303)


@blueprint.get("/<kind>/members/<member_id>")
def show_member(kind: str, member_id: str) -> Response:
    """Show a member with what the owner can change."""
    team = _get_team(kind)
    return _render_member(kind, team, member_id, PASSWORD.fill())


def _render_member(kind: str, team: Team, member_id: str, form: FilledForm) -> Response:
    member = next((row for row in queries.list_members(team) if row.id == member_id), None)
    if member is None or member.role == OWNER:
        raise NotFound()
    working_devices, working_keys = queries.count_working_access(team, member.account_id)
    return render_form(
        "pages/team_member.html",
        form,
        kind=kind,
        kind_name=NAMES[kind],
        member=member,
        role_choices=_list_role_choices(kind),
        can_pass=kind == ORGANISER,
        working_devices=working_devices,
        working_keys=working_keys,
    )


@blueprint.post("/<kind>/members/<member_id>/role")
def change_role(kind: str, member_id: str) -> ResponseReturnValue:
    """Change the role of a member; it counts from their next request on."""
    role = request.form.get("role", "")
    if role not in {choice for choice, *_ in _list_role_choices(kind)} if kind in ROLES else True:
        raise NotFound()
    actions.change_member(team=_get_team(kind), member_id=member_id, role=role)
    flash("The role is changed. It counts immediately.")
    return redirect(url_for("team.show_team", kind=kind), 303)


@blueprint.post("/<kind>/members/<member_id>/remove")
def remove(kind: str, member_id: str) -> ResponseReturnValue:
    """Remove a member, or withdraw an invitation."""
    end_devices_and_keys = request.form.get("endDevicesAndKeys") == "true"
    removal = actions.remove_member(
        team=_get_team(kind), member_id=member_id, end_devices_and_keys=end_devices_and_keys
    )
    if removal.working_devices or removal.working_api_keys:
        return render_page("pages/team_member_removed.html", kind=kind, kind_name=NAMES[kind], removal=removal)
    flash("Removed. They no longer see anything of the team.")
    return redirect(url_for("team.show_team", kind=kind), 303)


@blueprint.post("/<kind>/members/<member_id>/owner")
def offer_ownership(kind: str, member_id: str) -> ResponseReturnValue:
    """Offer a member the ownership."""
    if kind != ORGANISER:
        raise NotFound()
    form, team = PASSWORD.from_request(), _get_team(kind)
    try:
        caller = authorise_page(WRITE[ORGANISER].with_verified_email())
        actions.offer_ownership(caller=caller, team=team, member_id=member_id, **form.load())
    except FORM_ERRORS as error:
        return _render_member(kind, team, member_id, form.with_error(error))
    flash("We sent them an e-mail. You stay the owner until they accept.")
    return redirect(url_for("team.show_team", kind=kind), 303)


@blueprint.post("/memberships/<membership_id>/leave")
def leave(membership_id: str) -> ResponseReturnValue:
    """Leave the team of somebody else."""
    actions.leave_team(caller=get_signed_in_caller(), membership_id=membership_id)
    flash("You have left the team.")
    return redirect(url_for("team.show"), 303)


@join.get("/<token>")
def show_invitation(token: str) -> ResponseReturnValue:
    """Show an invitation to a team: to accept, or why it no longer works."""
    return _render_invitation(token)


@join.post("/<token>")
def accept(token: str) -> ResponseReturnValue:
    """Join the team."""
    caller = get_page_caller()
    if caller is None:
        return redirect(url_for("sign_in.start", next=url_for("join.show_invitation", token=token)), 303)
    try:
        team = actions.accept_invite(caller=caller, token=token)
    except InviteForAnotherAddress:
        return _render_invitation(token, status=InviteForAnotherAddress.status)
    except (NotFound, LinkExpired, LinkUsed):
        return _render_invitation(token)
    flash(f"Welcome to the team. You can use what the {NAMES[team.kind]} has given you immediately.")
    return redirect(url_for("team.show"), 303)


def _render_invitation(token: str, *, status: int = 200) -> Response:
    try:
        invitation = queries.get_invitation(token)
    except (LinkExpired, LinkUsed) as error:
        count_lookup_failure()
        return render_page("pages/join_ended.html", is_used=isinstance(error, LinkUsed), status=error.status)
    except NotFound:
        count_lookup_failure()
        raise
    person = get_page_caller()
    return render_page(
        "pages/join.html",
        status=status,
        invitation=invitation,
        role=describe_role(invitation.role),
        is_ownership=invitation.role == OWNER,
        kind_name=NAMES[invitation.kind],
        path=url_for("join.show_invitation", token=token),
        signed_in_as=person.email if person else None,
        is_right_person=person is not None and person.email == invitation.email and person.email_verified,
    )

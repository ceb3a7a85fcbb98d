"""The team of the signed-in person: members, invitations, and the teams of others in which they have a role."""

from contextlib import suppress
from dataclasses import replace
from functools import partial

from flask import Response, flash, redirect, request, session, url_for
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
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, render_form, submit
from app.blueprints.pages.owner_confirmation import PASSWORD, ConfirmedSchema, for_owner
from app.blueprints.pages.rendering import Pages, render_page
from app.blueprints.pages.sign_in import EMAIL_KEY
from app.blueprints.pages.signed_in import (
    authorise_page,
    choose_team,
    get_page_caller,
    get_signed_in_caller,
    get_team_caller,
)
from app.core.errors import LinkExpired, LinkUsed, NotFound, ValidationFailed
from app.core.ids import is_id
from app.events import queries as event_queries
from app.teams import actions, queries
from app.teams.errors import InviteForAnotherAddress
from app.teams.queries import Team
from app.web.access import may
from app.web.fields import Boolean, Choice, Email
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
    "viewer": "reads everything but money, links and codes",
    "cashier": "shifts of the crew and the status of the stall",
}


MAX_EVENTS = 100


class InviteSchema(Query):
    email = Email(required=True)
    role = Choice(*(role for role in (*ROLES[ORGANISER], *ROLES[MERCHANT]) if role != OWNER), required=True)


class SecondFactorSchema(Query):
    required = Boolean(required=True)


INVITE = Form(InviteSchema, EMAIL, ROLE)
SECOND_FACTOR = Form(SecondFactorSchema, Input("required", "Second factor"))
OWNERSHIP = Form(ConfirmedSchema, PASSWORD)


def _list_kinds() -> list[str]:
    return [kind for kind, access in READ.items() if access.allows(get_team_caller(access))]


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
    caller = get_team_caller(WRITE[kind])
    can_write = WRITE[kind].allows(caller)
    members = queries.list_members(team)
    organised = event_queries.list_present_events(caller) if kind == ORGANISER and can_write else []
    return render_form(
        "pages/team.html",
        form,
        kind=kind,
        team_name=queries.load_team_name(team),
        members=members,
        second_factor_rule=_load_second_factor_rule(team) if can_write else None,
        has_second_factor=caller.has_second_factor,
        unsecured=[member for member in members if not member.has_second_factor],
        invites=queries.list_open_invites(team),
        can_write=can_write,
        role_choices=_list_role_choices(kind),
        events=organised,
        chosen_events=request.form.getlist("event"),
    )


def _load_second_factor_rule(team: Team) -> bool | None:
    """Whether the organisation requires a second factor; None for a team that cannot."""
    try:
        return bool(queries.load_organisation(team)["requires_second_factor"]) if team.kind == ORGANISER else None
    except NotFound:
        return None


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


@blueprint.post("/<kind>/choose")
def choose(kind: str) -> ResponseReturnValue:
    """Use another of several teams on the pages."""
    choose_team(kind, request.form.get("team", ""))
    return redirect(url_for("account.show"), 303)


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
        event_ids = sorted(set(request.form.getlist("event"))) or None
        if event_ids and (len(event_ids) > MAX_EVENTS or not all(map(is_id, event_ids))):
            raise ValidationFailed.of("eventIds", "unknown_event", "Choose the events again.")
        actions.invite_member(caller=caller, team=team, event_ids=event_ids, **values)
    except FORM_ERRORS as error:
        return _render_team(kind, form.with_error(error))
    flash(f"We sent the invitation to {values['email']}.")
    return redirect(url_for("team.show_team", kind=kind), 303)


@blueprint.post("/organiser/second-factor")
def require_second_factor() -> ResponseReturnValue:
    """Set whether members of the organisation need a second factor."""
    form, team = SECOND_FACTOR.from_request(), _get_team(ORGANISER)

    def require(required: bool) -> None:
        actions.update_organisation(caller=get_signed_in_caller(), organisation=team, requires_second_factor=required)

    return submit(
        form,
        require,
        lambda form: _render_team(ORGANISER, replace(INVITE.fill(), error=form.error)),
        done="Members of the team now need a second factor."
        if form.values["required"] == "true"
        else "Members of the team no longer need a second factor.",
        path=url_for("team.show_team", kind=ORGANISER),
    )


@blueprint.get("/<kind>/members/<member_id>")
def show_member(kind: str, member_id: str) -> Response:
    """Show a member with what the owner can change."""
    team = _get_team(kind)
    return _render_member(kind, team, member_id, for_owner(OWNERSHIP).fill())


def _render_member(kind: str, team: Team, member_id: str, form: FilledForm) -> Response:
    member = next((row for row in queries.list_members(team) if row.id == member_id), None)
    if member is None or member.role == OWNER:
        raise NotFound()
    working_devices, working_keys = queries.count_working_access(team, member.account_id)
    return render_form(
        "pages/team_member.html",
        form,
        kind=kind,
        team_name=queries.load_team_name(team),
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
    team = _get_team(kind)
    end_devices_and_keys = request.form.get("endDevicesAndKeys") == "true"
    try:
        removal = actions.remove_member(team=team, member_id=member_id, end_devices_and_keys=end_devices_and_keys)
    except NotFound:
        flash("They are no longer in the team.")
        return redirect(url_for("team.show_team", kind=kind), 303)
    if removal.working_devices or removal.working_api_keys:
        team_name = queries.load_team_name(team)
        return render_page("pages/team_member_removed.html", kind=kind, team_name=team_name, removal=removal)
    flash(
        "The invitation is withdrawn." if removal.was_invited else "Removed. They no longer see anything of the team."
    )
    return redirect(url_for("team.show_team", kind=kind), 303)


@blueprint.post("/<kind>/members/<member_id>/owner")
def offer_ownership(kind: str, member_id: str) -> ResponseReturnValue:
    """Offer a member the ownership."""
    if kind != ORGANISER:
        raise NotFound()
    team = _get_team(kind)

    def offer(password: str | None) -> None:
        caller = authorise_page(WRITE[ORGANISER].with_verified_email())
        actions.offer_ownership(caller=caller, team=team, member_id=member_id, password=password)

    return submit(
        for_owner(OWNERSHIP).from_request(),
        offer,
        partial(_render_member, kind, team, member_id),
        done="We sent them an e-mail. You stay the owner until they accept.",
        path=url_for("team.show_team", kind=kind),
    )


@blueprint.post("/memberships/<membership_id>/leave")
def leave(membership_id: str) -> ResponseReturnValue:
    """Leave the team of somebody else."""
    caller = get_signed_in_caller()
    with suppress(NotFound):
        actions.leave_team(caller=caller, membership_id=membership_id)
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
    if person is None:
        session[EMAIL_KEY] = invitation.email
    return render_page(
        "pages/join.html",
        status=status,
        invitation=invitation,
        role=describe_role(invitation.role),
        is_ownership=invitation.role == OWNER,
        kind_name=NAMES[invitation.kind],
        next=url_for("join.show_invitation", token=token),
        signed_in_as=person.email if person else None,
        is_right_person=person is not None and person.email == invitation.email and person.email_verified,
    )

"""The teams of a merchant: that of their business, and those of others in which they have a role; and how to join one.

The team of an organisation is at the desk.
"""

from contextlib import suppress

from flask import Response, flash, redirect, request, session, url_for
from flask.typing import ResponseReturnValue

from app.accounts.permissions import MEMBERS_READ, MERCHANT, ORGANISER, OWNER, STALL_OWN, describe_role
from app.blueprints.pages.forms import FilledForm, render_form
from app.blueprints.pages.rendering import Pages, render_page
from app.blueprints.pages.sign_in import EMAIL_KEY
from app.blueprints.pages.signed_in import (
    authorise_page,
    choose_team,
    get_page_caller,
    get_signed_in_caller,
    get_team_caller,
    use_joined_team,
)
from app.blueprints.pages.team_pages import INVITE, TeamPages
from app.core.errors import LinkExpired, LinkUsed, NotFound
from app.core.languages import gettext, lazy_gettext
from app.teams import actions, queries
from app.teams.errors import InviteForAnotherAddress
from app.web.access import may
from app.web.rate_limits import count_lookup_failure

blueprint = Pages("team", __name__, url_prefix="/account/team", needs_sign_in=True, translated=True)
business = Pages("business_team", __name__, url_prefix="/account/team/merchant", needs_sign_in=True, translated=True)
join = Pages("join", __name__, url_prefix="/join", translated=True)
READ_ORGANISATION, OWN = may(MEMBERS_READ, whole_organisation=True), may(STALL_OWN)
WELCOMES = {
    ORGANISER: lazy_gettext("Welcome to the team. You can use what the organisation has given you immediately."),
    MERCHANT: lazy_gettext("Welcome to the team. You can use what the business has given you immediately."),
}
TEAM_TITLES = {
    ORGANISER: lazy_gettext("The team of your organisation"),
    MERCHANT: lazy_gettext("The team of your business"),
}
TEAM_ENDPOINTS = {ORGANISER: "desk_team.show", MERCHANT: "business_team.show"}
"""The page of the team of each kind."""


def _render_business_page(template: str, *, form: FilledForm, **context: object) -> Response:
    return render_form(template, form, layout="pages/account_form.html", **context)


pages = TeamPages(MERCHANT, _render_business_page)


@blueprint.get("")
def show() -> ResponseReturnValue:
    """Show the teams that the person may see, and those of others in which they have a role."""
    access = {ORGANISER: READ_ORGANISATION, MERCHANT: OWN}
    kinds = [kind for kind, rule in access.items() if rule.allows(get_team_caller(rule))]
    memberships = queries.list_memberships(get_signed_in_caller())
    if len(kinds) == 1 and not memberships:
        return redirect(url_for(TEAM_ENDPOINTS[kinds[0]]), 303)
    return render_page(
        "pages/teams.html",
        teams=[(url_for(TEAM_ENDPOINTS[kind]), TEAM_TITLES[kind]) for kind in kinds],
        memberships=memberships,
        describe_role=describe_role,
    )


@blueprint.post("/<kind>/choose")
def choose(kind: str) -> ResponseReturnValue:
    """Use another of several teams on the pages."""
    choose_team(kind, request.form.get("team", ""))
    return redirect(url_for("account.show"), 303)


@blueprint.post("/memberships/<membership_id>/leave")
def leave(membership_id: str) -> ResponseReturnValue:
    """Leave the team of somebody else."""
    caller = get_signed_in_caller()
    with suppress(NotFound):
        actions.leave_team(caller=caller, membership_id=membership_id)
    flash(gettext("You have left the team."))
    return redirect(url_for("team.show"), 303)


@business.get("", endpoint="show")
def show_business() -> Response:
    """Show the members of the business and the form to invite one."""
    return pages.render_team(authorise_page(OWN), INVITE.fill(), can_write=True)


@business.post("/invite")
def invite() -> ResponseReturnValue:
    """Mail an invitation."""
    return pages.invite(authorise_page(OWN), OWN.with_verified_email())


@business.get("/members/<member_id>")
def show_member(member_id: str) -> Response:
    """Show a member with what the owner can change."""
    return pages.render_member(authorise_page(OWN), member_id)


@business.post("/members/<member_id>/role")
def change_role(member_id: str) -> ResponseReturnValue:
    """Change the role of a member."""
    return pages.change_role(authorise_page(OWN), member_id)


@business.post("/members/<member_id>/remove")
def remove(member_id: str) -> ResponseReturnValue:
    """Remove a member, or withdraw an invitation."""
    return pages.remove(authorise_page(OWN), member_id)


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
    flash(str(WELCOMES[team.kind]))
    return redirect(use_joined_team(team.kind, team.id), 303)


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
        role=gettext(describe_role(invitation.role)),
        is_ownership=invitation.role == OWNER,
        next=url_for("join.show_invitation", token=token),
        signed_in_as=person.email if person else None,
        is_right_person=person is not None and person.email == invitation.email and person.email_verified,
    )

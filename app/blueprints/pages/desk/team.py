"""The team of the organisation: members, roles, invitations, the rule about the second factor, the ownership."""

from dataclasses import replace
from functools import partial

from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import MEMBERS_READ, MEMBERS_WRITE, ORGANISER
from app.blueprints.pages.desk.shell import DeskPages, may_use, render_desk
from app.blueprints.pages.forms import FORM_ERRORS, Form, Input
from app.blueprints.pages.owner_confirmation import for_owner
from app.blueprints.pages.team_pages import INVITE, OWNERSHIP, TeamPages
from app.core.languages import gettext, lazy_gettext
from app.teams import actions
from app.web.access import check_access, may
from app.web.fields import Boolean
from app.web.schema import Query

blueprint = DeskPages("desk_team", __name__, url_prefix="/desk/team")
pages = TeamPages(ORGANISER, partial(render_desk, layout="desk/base.html"))
READ = may(MEMBERS_READ, whole_organisation=True)
WRITE = may(MEMBERS_WRITE, whole_organisation=True)
MAIL = WRITE.with_verified_email()


class SecondFactorSchema(Query):
    required = Boolean(required=True)


SECOND_FACTOR = Form(SecondFactorSchema, Input("required", lazy_gettext("Second factor")))


@blueprint.page("", access=READ)
def show(caller: Caller) -> ResponseReturnValue:
    """Show the members, and to the owner the form to invite one."""
    return pages.render_team(caller, INVITE.fill(), can_write=may_use(WRITE))


@blueprint.act("/invite", access=WRITE)
def invite(caller: Caller) -> ResponseReturnValue:
    """Mail an invitation."""
    return pages.invite(caller, MAIL)


@blueprint.act("/second-factor", access=WRITE)
def require_second_factor(caller: Caller) -> ResponseReturnValue:
    """Set whether members of the organisation need a second factor."""
    form = SECOND_FACTOR.from_request()
    try:
        required = form.load()["required"]
        actions.update_organisation(caller=caller, organisation=pages.get_team(caller), requires_second_factor=required)
    except FORM_ERRORS as error:
        return pages.render_team(caller, replace(INVITE.fill(), error=error), can_write=True)
    return pages.go_to_team(
        gettext("Members of the team now need a second factor.")
        if required
        else gettext("Members of the team no longer need a second factor.")
    )


@blueprint.page("/members/<member_id>", access=WRITE)
def show_member(caller: Caller, member_id: str) -> ResponseReturnValue:
    """Show a member with what the owner can change."""
    return pages.render_member(caller, member_id)


@blueprint.act("/members/<member_id>/role", access=WRITE)
def change_role(caller: Caller, member_id: str) -> ResponseReturnValue:
    """Change the role of a member."""
    return pages.change_role(caller, member_id)


@blueprint.act("/members/<member_id>/remove", access=WRITE)
def remove(caller: Caller, member_id: str) -> ResponseReturnValue:
    """Remove a member, or withdraw an invitation."""
    return pages.remove(caller, member_id)


@blueprint.act("/members/<member_id>/owner", access=WRITE)
def offer_ownership(caller: Caller, member_id: str) -> ResponseReturnValue:
    """Offer a member the ownership."""
    form = for_owner(OWNERSHIP).from_request()
    try:
        password = form.load()["password"]
        check_access(MAIL, caller)
        actions.offer_ownership(caller=caller, team=pages.get_team(caller), member_id=member_id, password=password)
    except FORM_ERRORS as error:
        return pages.render_member(caller, member_id, form.with_error(error))
    return pages.go_to_team(gettext("We sent them an e-mail. You stay the owner until they accept."))

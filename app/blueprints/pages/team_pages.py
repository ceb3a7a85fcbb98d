"""What the pages of a team do, for the organisation at the desk and for the business of a merchant.

The views of both are thin: they check who may do it, and call a method of their `TeamPages`. Addresses are relative to the
blueprint of the request.
"""

from collections.abc import Callable
from dataclasses import dataclass

from flask import Response, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import MERCHANT, ORGANISER, OWNER, ROLES
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.owner_confirmation import PASSWORD, ConfirmedSchema, for_owner
from app.core.errors import NotFound, ValidationFailed
from app.core.ids import is_id
from app.core.languages import gettext, lazy_gettext
from app.events import queries as event_queries
from app.teams import actions, queries
from app.teams.queries import Team
from app.web.access import Access, check_access
from app.web.fields import Choice, Email
from app.web.schema import Query

ROLE_LABELS = {
    "owner": lazy_gettext("owner"),
    "manager": lazy_gettext("manager"),
    "finance": lazy_gettext("finance"),
    "door": lazy_gettext("door"),
    "stock": lazy_gettext("stock"),
    "messages": lazy_gettext("messages"),
    "viewer": lazy_gettext("viewer"),
    "cashier": lazy_gettext("cashier"),
}
ROLE_HINTS = {
    "manager": lazy_gettext("everything but this team and API keys"),
    "finance": lazy_gettext("invoices and money; reads guests, stalls and stock"),
    "door": lazy_gettext("looks guests up and admits them by hand. A paired phone scans without an account"),
    "stock": lazy_gettext("reads and changes the stock"),
    "messages": lazy_gettext("writes to ticket holders"),
    "viewer": lazy_gettext("reads everything but money, links and codes"),
    "cashier": lazy_gettext("shifts of the crew and the status of the stall"),
}
MAX_EVENTS = 100


class InviteSchema(Query):
    email = Email(required=True)
    role = Choice(*(role for role in (*ROLES[ORGANISER], *ROLES[MERCHANT]) if role != OWNER), required=True)


INVITE = Form(
    InviteSchema,
    Input(
        "email",
        lazy_gettext("E-mail address"),
        hint=lazy_gettext("We send the invitation there. It works for seven days."),
        type="email",
        inputmode="email",
        messages={
            "required": lazy_gettext("Enter an e-mail address."),
            "invalid_email": lazy_gettext("Enter an e-mail address like name@example.com."),
        },
        error_codes=("ALREADY_MEMBER", "MAIL_LIMIT_REACHED"),
    ),
    Input(
        "role",
        lazy_gettext("Role"),
        messages={"required": lazy_gettext("Choose a role."), "unknown_value": lazy_gettext("Choose a role.")},
    ),
)
OWNERSHIP = Form(ConfirmedSchema, PASSWORD)


@dataclass(frozen=True)
class TeamPages:
    """The pages of the teams of one kind. `render` renders a template with the form, in the frame of these pages."""

    kind: str
    render: Callable[..., Response]

    def get_team(self, caller: Caller) -> Team:
        """The team for which the caller acts."""
        is_organisation = self.kind == ORGANISER
        return queries.get_organisation(caller) if is_organisation else queries.get_merchant_team(caller)

    def render_team(self, caller: Caller, form: FilledForm, *, can_write: bool) -> Response:
        """The page with members and invitations, and for those who may write the form to invite somebody."""
        team = self.get_team(caller)
        members = queries.list_members(team)
        has_events = self.kind == ORGANISER and can_write
        return self.render(
            "pages/team.html",
            form=form,
            kind=self.kind,
            team_name=queries.load_team_name(team),
            members=members,
            role_labels=ROLE_LABELS,
            second_factor_rule=_load_second_factor_rule(team) if can_write else None,
            has_second_factor=caller.has_second_factor,
            unsecured=[member for member in members if not member.has_second_factor],
            invites=queries.list_open_invites(team),
            can_write=can_write,
            role_choices=self._list_role_choices(),
            events=event_queries.list_present_events(caller) if has_events else [],
            chosen_events=request.form.getlist("event"),
        )

    def invite(self, caller: Caller, access: Access) -> ResponseReturnValue:
        """Mail the invitation of the form, for a caller who has this access; an error keeps what was typed."""
        form = INVITE.from_request()
        try:
            values = form.load()
            check_access(access, caller)
            event_ids = sorted(set(request.form.getlist("event"))) or None
            if event_ids and (len(event_ids) > MAX_EVENTS or not all(map(is_id, event_ids))):
                raise ValidationFailed.of("eventIds", "unknown_event", gettext("Choose the events again."))
            actions.invite_member(caller=caller, team=self.get_team(caller), event_ids=event_ids, **values)
        except FORM_ERRORS as error:
            return self.render_team(caller, form.with_error(error), can_write=True)
        return self.go_to_team(gettext("We sent the invitation to %(email)s.", email=values["email"]))

    def render_member(self, caller: Caller, member_id: str, form: FilledForm | None = None) -> Response:
        """The page of a member, with what the owner can change. Raises NotFound, also for the owner."""
        team = self.get_team(caller)
        member = next((row for row in queries.list_members(team) if row.id == member_id), None)
        if member is None or member.role == OWNER:
            raise NotFound()
        working_devices, working_keys = queries.count_working_access(team, member.account_id)
        return self.render(
            "pages/team_member.html",
            form=form or for_owner(OWNERSHIP).fill(),
            team_name=queries.load_team_name(team),
            member=member,
            role_choices=self._list_role_choices(),
            can_pass=self.kind == ORGANISER,
            working_devices=working_devices,
            working_keys=working_keys,
        )

    def change_role(self, caller: Caller, member_id: str) -> ResponseReturnValue:
        """Change the role of a member; it counts from their next request on. Raises NotFound for an unknown role."""
        role = request.form.get("role", "")
        if role not in {choice for choice, *_ in self._list_role_choices()}:
            raise NotFound()
        actions.change_member(team=self.get_team(caller), member_id=member_id, role=role)
        return self.go_to_team(gettext("The role is changed. It counts immediately."))

    def remove(self, caller: Caller, member_id: str) -> ResponseReturnValue:
        """Remove a member, or withdraw an invitation. What they made and still works is listed."""
        team = self.get_team(caller)
        ends_access = request.form.get("endDevicesAndKeys") == "true"
        try:
            removal = actions.remove_member(team=team, member_id=member_id, end_devices_and_keys=ends_access)
        except NotFound:
            return self.go_to_team(gettext("They are no longer in the team."))
        if removal.working_devices or removal.working_api_keys:
            team_name = queries.load_team_name(team)
            return self.render("pages/team_member_removed.html", form=None, team_name=team_name, removal=removal)
        was_invited = removal.was_invited
        return self.go_to_team(
            gettext("The invitation is withdrawn.")
            if was_invited
            else gettext("Removed. They no longer see anything of the team.")
        )

    def go_to_team(self, done: str) -> ResponseReturnValue:
        """Say on the page of the team what was done."""
        flash(done)
        return redirect(url_for(".show"), 303)

    def _list_role_choices(self) -> list[tuple[str, str, str]]:
        return [
            (role, str(ROLE_LABELS[role]).capitalize(), ROLE_HINTS[role]) for role in ROLES[self.kind] if role != OWNER
        ]


def _load_second_factor_rule(team: Team) -> bool | None:
    """Whether the organisation requires a second factor; None for a team that cannot."""
    try:
        return bool(queries.load_organisation(team)["requires_second_factor"]) if team.kind == ORGANISER else None
    except NotFound:
        return None

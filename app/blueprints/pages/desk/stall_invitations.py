"""Inviting to a stall: merchants of the directory, and a link for businesses that are not in it."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import STALLS_INVITE
from app.applications.directory import list_directory_query
from app.blueprints.pages.desk.form_parts import WRONG_NUMBER
from app.blueprints.pages.desk.shell import count_like, go_to, render_desk, render_desk_form
from app.blueprints.pages.desk.stall_approval import WRONG_FEE
from app.blueprints.pages.desk.stall_words import STATE_LABELS
from app.blueprints.pages.desk.stalls import MAX_DECIDED, READ, blueprint, get_permissions
from app.blueprints.pages.desk.tables import STATUS, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.inputs import Amount
from app.core.errors import ValidationFailed
from app.core.ids import is_id
from app.core.languages import gettext, lazy_gettext, mark_for_translation, mark_plural, ngettext
from app.events import queries as events
from app.events.queries import OwnEvent
from app.invitations import actions, directory, states
from app.web.access import may
from app.web.fields import Email, EndTimeField, Text, WholeNumber
from app.web.schema import Query
from app.web.text_fields import EmailName, EmailText

INVITE = may(STALLS_INVITE).with_verified_email()
INVITE_LABELS = {
    states.PENDING: lazy_gettext("Invited"),
    states.ACCEPTED: lazy_gettext("Accepted"),
    states.DECLINED: lazy_gettext("Declined"),
    states.WITHDRAWN: lazy_gettext("Withdrawn"),
    states.EXPIRED: lazy_gettext("Ended"),
}
MAX_USES = 100_000


class DirectorySchema(Query):
    q = Text(max=120)
    category = Text(max=80)
    city = Text(max=120)


class TermsSchema(Query):
    message = EmailText(max=1000)
    stall_type = EmailName(max=120)
    fee_minor = Amount(data_key="fee")
    expires_at = EndTimeField()


class LinkSchema(TermsSchema):
    email = Email()
    business_name = EmailName(max=200)
    max_uses = WholeNumber(min=1, max=MAX_USES)


TERMS = (
    Input("message", lazy_gettext("Your message"), hint=lazy_gettext("Leave out web addresses."), type="textarea"),
    Input(
        "stallType",
        lazy_gettext("Stall type"),
        hint=lazy_gettext("The name as in the list of the event. Empty: the merchant chooses."),
        messages={"unknown_value": lazy_gettext("The event has no stall type of this name. Look at its list.")},
    ),
    Input(
        "fee",
        lazy_gettext("Fee in N$"),
        hint=lazy_gettext("Empty: that of the stall type."),
        inputmode="decimal",
        messages={"invalid_type": WRONG_FEE},
    ),
    Input(
        "expiresAt",
        lazy_gettext("Valid until"),
        hint=lazy_gettext("Empty: a week, and two days before the event at the latest."),
        type="datetime-local",
        messages={"too_early": lazy_gettext("Choose a time in the future.")},
    ),
)
INVITATION = Form(TermsSchema, *TERMS)
LINK = Form(
    LinkSchema,
    Input(
        "email",
        lazy_gettext("E-mail address"),
        hint=lazy_gettext("Empty: no mail is sent, and you hand the link over."),
        type="email",
    ),
    Input("businessName", lazy_gettext("Business")),
    *TERMS,
    Input(
        "maxUses",
        lazy_gettext("How many may apply with it"),
        hint=lazy_gettext("Empty: one with an e-mail address, else no limit."),
        inputmode="numeric",
        messages={"invalid_type": WRONG_NUMBER},
    ),
)
DIRECTORY = Table(
    "merchants",
    Column("business_name", lazy_gettext("Business"), sort="businessName"),
    Column("stall_name", lazy_gettext("Stall")),
    Column("category", lazy_gettext("Category")),
    Column("city", lazy_gettext("Town")),
    Column("invite_status", lazy_gettext("Invitation"), STATUS, labels=INVITE_LABELS),
    Column("application_status", lazy_gettext("Application"), STATUS, labels=STATE_LABELS),
    Column("takes_part", lazy_gettext("Takes part"), STATUS, labels={True: lazy_gettext("Yes"), False: ""}),
    sorts=directory.DIRECTORY_SORTS,
    default_sort="businessName",
    counted=mark_plural("%(num)s merchant", "%(num)s merchants"),
    filters=Form(
        DirectorySchema,
        Input("q", lazy_gettext("Search"), type="search"),
        Input("category", lazy_gettext("Category")),
        Input("city", lazy_gettext("Town")),
    ),
    empty=lazy_gettext("Merchants appear here when they have opened an account."),
)


@blueprint.page("/invitations", access=READ)
def show_directory(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the merchants who can be invited, with the state of their invitations."""
    event = events.get_event(caller, event_id)
    view = partial(list_directory_query, caller, event_id)
    return render_desk_table(
        "desk/stall_directory.html",
        DIRECTORY,
        view,
        event=event,
        may_choose=_may_choose,
        list_choosable=_list_choosable,
        **get_permissions(caller, event),
    )


@blueprint.page("/invitations/new", access=INVITE)
def choose_terms(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Ask with which terms to invite the chosen merchants."""
    if not _list_chosen_ids():
        return go_to(url_for("desk_stalls.show_directory", event_id=event_id), gettext("Nobody was chosen."))
    return _render_terms(events.get_event(caller, event_id), INVITATION.fill())


@blueprint.act("/invitations/new", access=INVITE)
def invite(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Invite the chosen merchants by mail; who is invited already is not mailed again."""
    event, form = events.get_event(caller, event_id), INVITATION.from_request()
    try:
        count_like(caller, "invitations.directory_invites")
        values = _load_terms(event, form)
        result = actions.invite_from_directory(
            caller=caller, event_id=event_id, merchant_ids=_list_chosen_ids(), **values
        )
    except FORM_ERRORS as error:
        return _render_terms(event, form.with_error(error))
    return go_to(url_for("desk_stalls.show_directory", event_id=event_id), _describe(result))


@blueprint.act("/invitations/withdraw", access=INVITE)
def withdraw(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Withdraw the invitations of the chosen merchants that have no answer; they can be invited again."""
    result = actions.withdraw_invites(caller=caller, event_id=event_id, merchant_ids=_list_chosen_ids())
    count = len(result["withdrawn"])
    if count:
        done = gettext("Withdrawn: %(num)s.", num=count)
    else:
        done = gettext("No invitation was open, so nothing has changed.")
    return go_to(url_for("desk_stalls.show_directory", event_id=event_id), done)


@blueprint.page("/invitations/link", access=INVITE)
def add_link(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the form for a link by which a business can apply."""
    return _render_link(events.get_event(caller, event_id), LINK.fill())


@blueprint.act("/invitations/link", access=INVITE)
def create_link(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Make a link, mail it if there is an address, and show it."""
    event, form = events.get_event(caller, event_id), LINK.from_request()
    try:
        count_like(caller, "invitations.merchant_invite")
        link = actions.create_link(caller=caller, event_id=event_id, **_load_terms(event, form))
    except FORM_ERRORS as error:
        return _render_link(event, form.with_error(error))
    return render_desk("desk/stall_invite_link.html", event=event, link=link)


@blueprint.act("/invitations/link/withdraw", access=INVITE)
def withdraw_link(caller: Caller, event_id: str) -> ResponseReturnValue:
    """End a link; who has applied with it stays."""
    actions.withdraw_link(caller=caller, event_id=event_id, slug=request.form.get("slug", ""))
    return go_to(url_for("desk_stalls.show_directory", event_id=event_id), gettext("The link has ended."))


def _may_choose(row: Row) -> bool:
    """Whether a merchant can be invited, or has an invitation that can be withdrawn."""
    is_there = row["takes_part"] or row["application_status"] is not None or row["invite_status"] == states.ACCEPTED
    return row["invite_status"] == states.PENDING or not is_there


def _list_choosable(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if _may_choose(row)]


def _load_terms(event: OwnEvent, form: FilledForm) -> dict[str, Any]:
    """The values of a form. Raises ValidationFailed, also for a stall type that is not in the list of the event."""
    values, names = form.load(), {stall_type["name"].casefold() for stall_type in event.stall_types}
    if names and values.get("stall_type") and values["stall_type"].casefold() not in names:
        raise ValidationFailed.of("stallType", "unknown_value", "Must be a stall type of the event.")
    return values


def _list_chosen_ids() -> list[str]:
    return [id for id in dict.fromkeys(request.values.getlist("id")) if is_id(id)][:MAX_DECIDED]


def _describe(result: Any) -> str:
    """What came of the invitations, in one sentence each."""
    groups = (
        (mark_for_translation("Invited: %(num)s."), result["invited"]),
        (mark_for_translation("Invited before: %(num)s."), result["already_invited"]),
        (mark_for_translation("Not possible now: %(num)s."), result["unavailable"]),
    )
    return " ".join(gettext(text, num=len(group)) for text, group in groups if group) or gettext("Nobody was chosen.")


def _render_terms(event: OwnEvent, form: FilledForm) -> Response:
    ids = _list_chosen_ids()
    return render_desk_form(
        form,
        event=event,
        title=ngettext("Invite %(num)s merchant", "Invite %(num)s merchants", len(ids)),
        lead=gettext("Each merchant gets a mail. Merchants who are invited already get no second mail."),
        button=gettext("Send the invitations"),
        back=url_for("desk_stalls.show_directory", event_id=event.id),
        template="desk/stall_invite.html",
        ids=ids,
    )


def _render_link(event: OwnEvent, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        title=gettext("Link to apply"),
        lead=gettext(
            "Everybody who has the link can apply with these terms. If you enter an address, the link is sent there."
        ),
        button=gettext("Make the link"),
        back=url_for("desk_stalls.show_directory", event_id=event.id),
    )

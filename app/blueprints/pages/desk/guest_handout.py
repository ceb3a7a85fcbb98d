"""Places of a block given out by the organiser: invitations by mail, reminders, and claim codes to print."""

from dataclasses import replace
from functools import partial
from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.allocations import actions, errors, links, queries, slot_queries, states
from app.allocations.actions.invites import INVITATION, SENDS, TICKET, Invites
from app.audit.actions import Action
from app.audit.log import record_export
from app.blueprints.pages.desk.form_parts import WRONG_NUMBER
from app.blueprints.pages.desk.guest_block import build_block_path, get_event_block, list_slots
from app.blueprints.pages.desk.guest_block_form import MAX_PLACES
from app.blueprints.pages.desk.guest_words import REFUSALS, SLOT_LABELS, name_block, reword
from app.blueprints.pages.desk.guests import MAIL, MAIL_LIMIT, WRITE, blueprint, count_act
from app.blueprints.pages.desk.shell import do_once, go_to, render_desk, render_desk_form
from app.blueprints.pages.desk.tables import STATUS, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.blueprints.pages.guest_lines import GUESTS, GuestLines
from app.blueprints.pages.rendering import describe_error
from app.core.errors import AppError
from app.core.languages import gettext, lazy_gettext, mark_plural, ngettext
from app.core.paging import Order, Page, SortKey, page_of
from app.events.queries import OwnEvent
from app.web.fields import Boolean, Choice, WholeNumber
from app.web.schema import Query

MAX_RECIPIENTS, MAX_SHOWN = 500, 50
SKIPPED_LABELS = {
    "REMINDED_RECENTLY": mark_plural("%(num)s was reminded in the last day", "%(num)s were reminded in the last day"),
    "NO_ADDRESS": mark_plural("%(num)s code has no address", "%(num)s codes have no address"),
    "ALREADY_CLAIMED": mark_plural("%(num)s has a ticket already", "%(num)s have a ticket already"),
}


class InviteSchema(Query):
    recipients = GuestLines(max_guests=MAX_RECIPIENTS, required=True)
    sends = Choice(*SENDS, load_default=INVITATION)
    allow_duplicates = Boolean(load_default=False)


class CodesSchema(Query):
    count = WholeNumber(min=1, max=MAX_PLACES)


INVITE = Form(
    InviteSchema,
    GUESTS,
    Input(
        "sends",
        lazy_gettext("They get"),
        options=[
            (INVITATION, lazy_gettext("An invitation to accept")),
            (TICKET, lazy_gettext("Their ticket at once")),
        ],
    ),
    Input("allowDuplicates", lazy_gettext("Also for people who have a place of this block already"), type="checkbox"),
)
CODES_FORM = Form(
    CodesSchema,
    Input(
        "count",
        lazy_gettext("How many"),
        hint=lazy_gettext("Empty: one for each free place."),
        inputmode="numeric",
        messages={"invalid_type": WRONG_NUMBER},
        error_codes=(errors.InsufficientSlots.code,),
    ),
)
CODES = Table(
    "codes",
    Column("code", lazy_gettext("Code")),
    Column("url", lazy_gettext("Claim link"), link=lambda row: str(row["url"])),
    Column("status", lazy_gettext("State"), STATUS, labels=SLOT_LABELS),
    Column("name", lazy_gettext("Guest")),
    Column("email", lazy_gettext("E-mail")),
    sorts={"id": slot_queries.SLOT_ID},
    default_sort="id",
    counted=mark_plural("%(num)s code", "%(num)s codes"),
    empty=lazy_gettext("Codes appear here when you make them. A guest claims one ticket with each code."),
    returns_page=True,
)


@blueprint.page("/<block_id>/invite", access=MAIL)
def write_invitations(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Show the form for the guests to invite."""
    event, block = get_event_block(caller, event_id, block_id)
    return _render_invitations(event, block, INVITE.fill())


@blueprint.act("/<block_id>/invite", access=MAIL)
def invite(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Show who gets a mail and who does not; with `send` invite them, or send their tickets."""
    event, block = get_event_block(caller, event_id, block_id)
    form = INVITE.from_request()
    try:
        values = form.load()
        if request.form.get("change"):
            return _render_invitations(event, block, form)
        if not request.form.get("send"):
            invites = actions.invite_recipients(caller, event_id, block_id, **values, dry_run=True)
            return _render_check(event, block, form, invites)
        count_act(caller, MAIL_LIMIT, "/invite")
        done = do_once(caller, lambda: _send_invitations(caller, event_id, block_id, values))
    except FORM_ERRORS as error:
        return _render_invitations(event, block, form.with_error(reword(error)))
    return go_to(build_block_path(event_id, block_id), done)


@blueprint.page("/<block_id>/remind", access=MAIL)
def confirm_reminder(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Say who is reminded."""
    event, block = get_event_block(caller, event_id, block_id)
    return _render_reminder(event, block)


@blueprint.act("/<block_id>/remind", access=MAIL)
def remind(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Mail the claim link again to the guests who have not claimed, each once a day at most."""
    event, block = get_event_block(caller, event_id, block_id)
    try:
        count_act(caller, MAIL_LIMIT, "/remind")
        reminders = actions.remind_recipients(caller, event_id, block_id)
    except FORM_ERRORS as error:
        return _render_reminder(event, block, reword(error))
    reasons = [slot.get("reason", "") for slot in reminders.skipped]
    skipped = [
        ngettext(*labels, reasons.count(reason)) for reason, labels in SKIPPED_LABELS.items() if reason in reasons
    ]
    done = gettext("Reminded: %(num)s.", num=len(reminders.reminded))
    if skipped:
        done += " " + gettext("Not reminded: %(skipped)s.", skipped=", ".join(skipped))
    return go_to(build_block_path(event_id, block_id), done)


@blueprint.page("/<block_id>/codes", access=WRITE)
def show_codes(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Show the claim codes of a block, and who has used them. It is recorded, as a code is worth a ticket."""
    event, block = get_event_block(caller, event_id, block_id)
    record_export(Action.CODES_EXPORTED, event_id=event_id, subject=block_id)
    view = partial(_list_codes, block_id)
    return render_desk_table("desk/guest_codes.html", CODES, view, event=event, block=block, title=name_block(block))


@blueprint.page("/<block_id>/codes/new", access=MAIL)
def add_codes(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Ask how many codes to make."""
    event, block = get_event_block(caller, event_id, block_id)
    return _render_codes_form(event, block, CODES_FORM.fill())


@blueprint.act("/<block_id>/codes/new", access=MAIL)
def create_codes(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Give codes to free places."""
    event, block = get_event_block(caller, event_id, block_id)
    form = CODES_FORM.from_request()

    def create() -> str:
        codes = actions.create_claim_codes(caller, event_id, block_id, **form.load())
        if not codes:
            return gettext("No place is free, so no code was made. Give the block more places first.")
        return ngettext("Made: %(num)s code.", "Made: %(num)s codes.", len(codes))

    try:
        done = do_once(caller, create)
    except FORM_ERRORS as error:
        return _render_codes_form(event, block, form.with_error(reword(error)))
    return go_to(url_for("desk_guests.show_codes", event_id=event_id, block_id=block_id), done)


def _send_invitations(caller: Caller, event_id: str, block_id: str, values: dict[str, Any]) -> str:
    invites = actions.invite_recipients(caller, event_id, block_id, **values, dry_run=False)
    counts = (
        (gettext("Invited: %(num)s."), len(invites["invited"])),
        (gettext("They get a ticket by e-mail: %(num)s."), len(invites["mailed"])),
        (gettext("On the list at the gate: %(num)s."), len(invites["listed"])),
        (gettext("Left out: %(num)s."), len(invites["duplicates"])),
    )
    return " ".join(text % {"num": count} for text, count in counts if count)


def _list_codes(block_id: str, *, sort: str, limit: int, after: SortKey | None, with_total: bool) -> Page:
    page = page_of(
        slot_queries.list_claim_codes_query(block_id),
        id_column=slot_queries.SLOT_ID,
        order=Order(slot_queries.SLOT_ID, sort.startswith("-")),
        limit=limit,
        after=after,
        with_total=with_total,
    )
    url_prefix = links.build_url_prefix("claim")
    return replace(page, rows=[{**row, "url": f"{url_prefix}{row['code']}"} for row in page.rows])


def _render_invitations(event: OwnEvent, block: queries.BlockRow, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        title=gettext("Invite guests: %(name)s", name=name_block(block)),
        lead=" ".join(
            (
                ngettext("%(num)s place is free.", "%(num)s places are free.", block["available"]),
                gettext("You see the list before anything is sent."),
            )
        ),
        button=gettext("Check the list"),
        back=build_block_path(event.id, block["id"]),
    )


def _render_check(event: OwnEvent, block: queries.BlockRow, form: FilledForm, invites: Invites) -> Response:
    return render_desk(
        "desk/guest_invite.html",
        event=event,
        form=form,
        invites=invites,
        refusals=REFUSALS,
        title=gettext("Is the list right?"),
        path=request.path,
    )


def _render_reminder(event: OwnEvent, block: queries.BlockRow, error: AppError | None = None) -> Response:
    invited = list_slots(block["id"], limit=MAX_SHOWN, status=states.INVITED)
    people: list[Row] = [slot for slot in invited.rows if slot["email"]]
    return render_desk(
        "desk/guest_remind.html",
        event=event,
        status=error.status if error else 200,
        error=describe_error(error) if error else "",
        title=gettext("Remind the guests of %(name)s?", name=name_block(block)),
        people=people,
        more=(invited.total or 0) - len(invited.rows),
        back=build_block_path(event.id, block["id"]),
        path=request.path,
    )


def _render_codes_form(event: OwnEvent, block: queries.BlockRow, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        title=gettext("Make claim codes: %(name)s", name=name_block(block)),
        lead=" ".join(
            (
                gettext("Each code gives one guest a ticket."),
                ngettext("%(num)s place is free.", "%(num)s places are free.", block["available"]),
            )
        ),
        button=gettext("Make the codes"),
        back=url_for("desk_guests.show_codes", event_id=event.id, block_id=block["id"]),
    )

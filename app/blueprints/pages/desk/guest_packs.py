"""Packs of a block: tickets without a name, printed for the door."""

from flask import Response, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.allocations import errors, queries, states, ticket_packs
from app.blueprints.pages.desk.form_parts import WRONG_NUMBER
from app.blueprints.pages.desk.guest_block import build_block_path, get_event_block
from app.blueprints.pages.desk.guest_block_form import MAX_PLACES
from app.blueprints.pages.desk.guest_words import name_block, reword
from app.blueprints.pages.desk.guests import PDF_LIMIT, READ, WRITE, blueprint, count_act, get_permissions
from app.blueprints.pages.desk.shell import do_once, go_to, render_desk, render_desk_form
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.languages import gettext, lazy_gettext, ngettext
from app.events.queries import OwnEvent
from app.web.fields import WholeNumber
from app.web.file_responses import build_pdf_response
from app.web.schema import Query


class PackSchema(Query):
    count = WholeNumber(required=True, min=1, max=MAX_PLACES)


PACK = Form(
    PackSchema,
    Input(
        "count",
        lazy_gettext("How many tickets"),
        inputmode="numeric",
        messages={
            "required": lazy_gettext("Enter how many."),
            "invalid_type": WRONG_NUMBER,
            "too_small": lazy_gettext("Enter 1 or more."),
        },
        error_codes=(errors.InsufficientSlots.code,),
    ),
)


@blueprint.page("/<block_id>/packs", access=READ)
def show_packs(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Show the packs, the newest first, with how far they are drawn."""
    event, block = get_event_block(caller, event_id, block_id)
    return render_desk(
        "desk/guest_packs.html",
        event=event,
        block=block,
        title=name_block(block),
        packs=ticket_packs.list_packs(caller, event_id, block_id),
        done=states.DONE,
        back=build_block_path(event_id, block_id),
        **get_permissions(caller, event),
    )


@blueprint.page("/<block_id>/packs/new", access=WRITE)
def add_pack(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Ask how many tickets to print."""
    event, block = get_event_block(caller, event_id, block_id)
    return _render(event, block, PACK.fill())


@blueprint.act("/<block_id>/packs/new", access=WRITE)
def create_pack(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Turn free places into tickets without a name; a worker draws them."""
    event, block = get_event_block(caller, event_id, block_id)
    form = PACK.from_request()
    try:
        do_once(caller, lambda: ticket_packs.create_pack(caller, event_id, block_id, **form.load()).id)
    except FORM_ERRORS as error:
        return _render(event, block, form.with_error(reword(error)))
    return go_to(_build_path(event_id, block_id), gettext("The tickets are being made."))


@blueprint.page("/<block_id>/packs/<pack_id>/tickets.pdf", access=WRITE)
def open_pack(caller: Caller, event_id: str, block_id: str, pack_id: str) -> ResponseReturnValue:
    """The tickets of a pack as one PDF. Raises PackNotReady."""
    count_act(caller, PDF_LIMIT, "/packs/<packId>/tickets.pdf")
    return build_pdf_response(ticket_packs.get_pack_pdf(caller, event_id, block_id, pack_id), f"tickets-{pack_id}")


def _build_path(event_id: str, block_id: str) -> str:
    return url_for("desk_guests.show_packs", event_id=event_id, block_id=block_id)


def _render(event: OwnEvent, block: queries.BlockRow, form: FilledForm) -> Response:
    return render_desk_form(
        form,
        event=event,
        title=gettext("Print tickets: %(name)s", name=name_block(block)),
        lead=ngettext("%(num)s place free.", "%(num)s places free.", block["available"])
        + " "
        + gettext(
            "Each ticket has its own code and no name, and the gate admits it. A sheet of A4 has eight tickets. "
            "To print the same tickets again, open the same PDF again."
        ),
        button=gettext("Make the tickets"),
        back=_build_path(event.id, block["id"]),
    )

"""One block: its figures, what can be done with it, and its places with their guests; a place taken back."""

from dataclasses import replace
from functools import partial
from typing import Any

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.allocations import actions, links, queries, slot_queries, states
from app.allocations.link_summaries import describe_allocator_link, describe_open_link
from app.allocations.pricing import calculate_row_cost
from app.allocations.release_plan import list_release_steps
from app.audit.actions import Action
from app.audit.log import record_export
from app.blueprints.pages.desk.guest_words import (
    BLOCK_STATE_LABELS,
    ENDED_PLACES,
    KIND_LABELS,
    LINK_LABELS,
    SLOT_LABELS,
    VIA_LABELS,
    describe_credit,
    describe_invoice,
    find_block_state,
    name_block,
    name_holder,
    name_slot,
    reword,
)
from app.blueprints.pages.desk.guests import FIGURES, READ, WRITE, blueprint, get_permissions
from app.blueprints.pages.desk.shell import go_to, render_desk_form
from app.blueprints.pages.desk.tables import STATUS, TIME, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input
from app.core.errors import NotFound
from app.core.languages import gettext, lazy_gettext, lazy_pgettext, mark_plural
from app.core.paging import Order, Page, SortKey, page_of
from app.desk.failed_mails import find_failed_mail
from app.events import queries as events
from app.events.queries import OwnEvent
from app.web.fields import Choice, Text
from app.web.schema import Query


class FilterSchema(Query):
    q = Text(max=200)
    status = Choice(*states.SLOT_STATES)


class RevocationSchema(Query):
    return_to = Choice("block", "public", required=True)


def _link_ticket(row: Row) -> str:
    return str(row["ticket_url"])


TICKET = Column("ticket", lazy_gettext("Ticket"), link=_link_ticket)
TICKET_IN_FILE = (Column("code", lazy_gettext("Code")), Column("ticket_url", lazy_gettext("Link")))
"""Who has a code or a link has the ticket, so only those who may change guests see these."""
REVOCATION = Form(
    RevocationSchema,
    Input(
        "returnTo",
        lazy_gettext("The place"),
        options=[("block", lazy_gettext("Stays in the block")), ("public", lazy_gettext("Goes to the public sale"))],
    ),
)


def _build_table(*ticket_columns: Column) -> Table:
    return Table(
        "places",
        Column("title", lazy_gettext("Guest"), sort="name"),
        Column("email", lazy_gettext("E-mail")),
        Column("status", lazy_gettext("State"), STATUS, labels=SLOT_LABELS),
        Column("via", lazy_pgettext("way", "By"), labels=VIA_LABELS),
        *ticket_columns,
        Column("admitted_at", lazy_gettext("Admitted"), TIME),
        Column("gate", lazy_gettext("Gate")),
        sorts=slot_queries.SLOT_SORTS,
        default_sort="name",
        counted=mark_plural("%(num)s place", "%(num)s places"),
        filters=Form(
            FilterSchema,
            Input("q", lazy_gettext("Search for a guest"), type="search"),
            Input("status", lazy_gettext("State"), options=[("", lazy_gettext("Handed out")), *SLOT_LABELS.items()]),
        ),
        empty=lazy_gettext("Guests appear here when you or the holder hand out places."),
        returns_page=True,
    )


PLACES, PLACES_IN_FILE, PLACES_WITHOUT_TICKETS = _build_table(TICKET), _build_table(*TICKET_IN_FILE), _build_table()


@blueprint.page("/<block_id>", access=READ)
def show_block(caller: Caller, event_id: str, block_id: str) -> ResponseReturnValue:
    """Show a block with its figures and its places."""
    event, block = get_event_block(caller, event_id, block_id)
    permissions = get_permissions(caller, event)
    table = PLACES if permissions["may_write"] else PLACES_WITHOUT_TICKETS
    if request.args.get("format") == "csv":
        table = PLACES_IN_FILE if permissions["may_write"] else table
    return render_desk_table(
        "desk/guest_block.html",
        table,
        partial(_list_places, block, with_tickets=permissions["may_write"]),
        event=event,
        record_file=partial(record_export, Action.GUEST_REPORT_EXPORTED, event_id=event_id, subject=block_id),
        block=block,
        title=name_block(block),
        holder=name_holder(block),
        cost=calculate_row_cost(block),
        invoice_label=describe_invoice(block["invoice"]),
        credit=describe_credit(block) if permissions["may_read_money"] else "",
        steps=list_release_steps(block["release_plan"]),
        figures=FIGURES,
        kind_label=KIND_LABELS[block["kind"]],
        state_label=BLOCK_STATE_LABELS[find_block_state(block)],
        ended_places=ENDED_PLACES,
        holder_link_label=LINK_LABELS[describe_allocator_link(block)["status"]],
        open_link_label=LINK_LABELS[describe_open_link(block)["status"]],
        failed_mail=find_failed_mail(event_id, address=block["holder_email"], block_id=block_id),
        has_ended=block["event_cancelled"] or block["event_over"] or block["release_time_passed"],
        **permissions,
    )


@blueprint.page("/<block_id>/places/<slot_id>/revoke", access=WRITE)
def confirm_revocation(caller: Caller, event_id: str, block_id: str, slot_id: str) -> ResponseReturnValue:
    """Say what happens when a place is taken back."""
    event, block = get_event_block(caller, event_id, block_id)
    return _render_revocation(event, block, _get_slot(caller, event_id, block_id, slot_id), REVOCATION.fill())


@blueprint.act("/<block_id>/places/<slot_id>/revoke", access=WRITE)
def revoke(caller: Caller, event_id: str, block_id: str, slot_id: str) -> ResponseReturnValue:
    """Take a place back from its guest."""
    event, block = get_event_block(caller, event_id, block_id)
    slot, form = _get_slot(caller, event_id, block_id, slot_id), REVOCATION.from_request()
    try:
        actions.revoke_slot(caller, event_id, block_id, slot_id, **form.load())
    except FORM_ERRORS as error:
        return _render_revocation(event, block, slot, form.with_error(reword(error)))
    return go_to(
        build_block_path(event_id, block_id), gettext("%(name)s: the place is taken back.", name=name_slot(slot))
    )


def get_event_block(caller: Caller, event_id: str, block_id: str) -> tuple[OwnEvent, queries.BlockRow]:
    """The event, and a block of it. Raises NotFound."""
    return events.get_event(caller, event_id), queries.get_block(caller, event_id, block_id)


def build_block_path(event_id: str, block_id: str) -> str:
    """The path of a block's page."""
    return url_for("desk_guests.show_block", event_id=event_id, block_id=block_id)


def list_slots(block_id: str, *, limit: int, **filters: Any) -> Page:
    """The first places of a block with these filters, and how many there are."""
    return page_of(
        slot_queries.list_slots_query(block_id, **filters),
        id_column=slot_queries.SLOT_ID,
        order=Order(slot_queries.SLOT_ID, False),
        limit=limit,
        after=None,
        with_total=True,
    )


def _list_places(
    block: queries.BlockRow,
    *,
    with_tickets: bool,
    sort: str,
    limit: int,
    after: SortKey | None,
    with_total: bool,
    status: str | None = None,
    q: str | None = None,
) -> Page:
    page = page_of(
        slot_queries.list_slots_query(block["id"], status=status, q=q, handed_out=status is None),
        id_column=slot_queries.SLOT_ID,
        order=Order(slot_queries.SLOT_SORTS[sort.removeprefix("-")], sort.startswith("-")),
        limit=limit,
        after=after,
        with_total=with_total,
    )
    return replace(page, rows=[_describe_place(row, block, with_tickets=with_tickets) for row in page.rows])


def _describe_place(row: Row, block: queries.BlockRow, *, with_tickets: bool) -> Row:
    ticket, ticket_url = "", ""
    if with_tickets and row["status"] in (states.CLAIMED, states.ADMITTED):
        ticket, ticket_url = row["code"], links.build_link_url("ticket", row["id"], row["generation"])
    elif with_tickets and row["status"] == states.INVITED:
        ticket, ticket_url = gettext("Claim link"), links.build_link_url("claim", row["id"], row["generation"])
    party = gettext("party of %(size)s", size=row["party_size"]) if row["party_size"] > 1 else ""
    return {
        **row,
        "title": " · ".join(filter(None, (name_slot(row), party))),
        "timezone": block["timezone"],
        "ticket": ticket,
        "ticket_url": ticket_url,
        "may_end": row["status"] in (states.INVITED, states.CLAIMED),
        "may_move": row["status"] in (states.AVAILABLE, states.INVITED, states.CLAIMED),
    }


def _get_slot(caller: Caller, event_id: str, block_id: str, slot_id: str) -> Row:
    slot = slot_queries.get_slot(caller, event_id, slot_id)
    if slot["block_id"] != block_id:
        raise NotFound()
    return slot


def _render_revocation(event: OwnEvent, block: queries.BlockRow, slot: Row, form: FilledForm) -> Response:
    if slot["status"] == states.CLAIMED:
        ends = gettext("The ticket ends at once, and the gate refuses it.")
    else:
        ends = gettext("Its link or code ends at once.")
    rest = gettext("This cannot be undone; the guest gets no mail, so tell them yourself.")
    credit = describe_credit(block)
    if credit:
        credit = gettext("If it goes back to the public: %(credit)s", credit=credit)
    return render_desk_form(
        form,
        event=event,
        title=gettext("Take the place of %(name)s back?", name=name_slot(slot)),
        lead=" ".join(filter(None, (ends, rest, credit))),
        button=gettext("Take it back"),
        back=build_block_path(event.id, block["id"]),
        is_dangerous=True,
    )

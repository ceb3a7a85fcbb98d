"""The guests of an event: its blocks as a table, with the figures of all of them."""

from dataclasses import replace
from functools import partial
from typing import Any

from flask import request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import GATE_READ, GUESTS_READ, GUESTS_WRITE, MONEY_READ, MONEY_WRITE
from app.allocations import queries, states
from app.allocations.pricing import calculate_row_cost
from app.audit.actions import Action
from app.audit.log import record_export
from app.blueprints.pages.desk.guest_words import (
    BLOCK_LABELS,
    BLOCK_STATE_LABELS,
    ENDED_PLACES,
    KIND_LABELS,
    describe_invoice,
    find_block_state,
    name_block,
    name_holder,
)
from app.blueprints.pages.desk.shell import DeskPages
from app.blueprints.pages.desk.tables import MONEY, NUMBER, STATUS, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import Form, Input
from app.core.errors import ValidationFailed
from app.core.languages import gettext, lazy_gettext, lazy_pgettext, mark_plural
from app.core.paging import Order, Page, SortKey, page_of
from app.events import queries as events
from app.events.queries import OwnEvent
from app.web.access import may
from app.web.fields import Choice, Id
from app.web.rate_limits import Limit, count_request
from app.web.schema import Query

blueprint = DeskPages("desk_guests", __name__, url_prefix="/desk/events/<event_id>/guests")
"""The modules `guest_…` add their pages to it."""
READ, WRITE = may(GUESTS_READ), may(GUESTS_WRITE)
MAIL = WRITE.with_verified_email()
"""For what sends mails, and for the links and codes by which guests get places."""
MAIL_LIMIT, PDF_LIMIT = Limit(60), Limit(120)
ROUTE = "/api/events/<eventId>/allocations/<blockId>"
FIGURES = (
    ("held", lazy_gettext("Places in blocks")),
    ("available", lazy_pgettext("places", "Free")),
    ("invited", lazy_gettext("Invited")),
    ("claimed", lazy_gettext("Have a ticket")),
    ("admitted", lazy_gettext("Admitted")),
    ("revoked", lazy_gettext("Taken back")),
    ("released", lazy_gettext("Given back")),
)
"""The counters of blocks that the figures show. Revoked and given back places are history, and not among the others."""


class FilterSchema(Query):
    ticket_type_id = Id()
    kind = Choice(*states.BLOCK_KINDS)
    status = Choice(*states.BLOCK_STATES)


@blueprint.page("", access=READ)
def show(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the blocks, and the sums of their counters for the same filters."""
    event = events.get_event(caller, event_id)
    permissions = get_permissions(caller, event)
    is_file = request.args.get("format") == "csv"
    table = _build_table(event, with_money=permissions["may_read_money"], for_file=is_file)
    return render_desk_table(
        "desk/guests.html",
        table,
        partial(_list_blocks, caller, event_id),
        event=event,
        record_file=partial(record_export, Action.BLOCKS_EXPORTED, event_id=event_id, subject=event_id),
        totals=_sum_counters(caller, event_id, table),
        figures=FIGURES,
        ended_places=ENDED_PLACES,
        **permissions,
    )


def get_permissions(caller: Caller, event: OwnEvent) -> dict[str, Any]:
    """What the caller may do with the guests of the event, for the buttons."""
    permissions = {
        "may_write": GUESTS_WRITE,
        "may_read_money": MONEY_READ,
        "may_settle": MONEY_WRITE,
        "may_read_gate": GATE_READ,
    }
    return {
        name: caller.may(permission, organisation_id=event.organiser_id, event_id=event.id)
        for name, permission in permissions.items()
    }


def count_act(caller: Caller, limit: Limit, end: str = "") -> None:
    """Count a request against the limit that the page shares with an operation of the API. Raises Throttled."""
    count_request(limit, f"{ROUTE}{end}", account_id=caller.client_id)


def link_block(row: Row) -> str:
    """The page of a block."""
    return url_for("desk_guests.show_block", event_id=row["event_id"], block_id=row["id"])


def _build_table(event: OwnEvent, *, with_money: bool, for_file: bool) -> Table:
    """The table of the blocks. The file has more columns than fit on a page."""
    types = [(ticket_type.id, ticket_type.name) for ticket_type in event.ticket_types]
    file_columns = (
        Column("kind", gettext("Kind"), labels=KIND_LABELS),
        Column("status", gettext("State"), STATUS, labels=BLOCK_STATE_LABELS),
    )
    return Table(
        "blocks",
        Column("title", gettext("Block"), sort="name", link=link_block),
        Column("holder", gettext("Holder")),
        Column("ticket_type_name", gettext("Tickets")),
        *(file_columns if for_file else ()),
        Column("quantity", lazy_pgettext("places", "Places in all"), NUMBER, sort="quantity"),
        Column("available", lazy_pgettext("places", "Free"), NUMBER, sort="available"),
        Column("invited", gettext("Invited"), NUMBER),
        Column("claimed", gettext("Have a ticket"), NUMBER),
        Column("admitted", gettext("Admitted"), NUMBER),
        Column("revoked", gettext("Taken back"), NUMBER),
        Column("released", gettext("Given back"), NUMBER),
        *((Column("total_minor", gettext("Price"), MONEY),) if for_file and with_money else ()),
        *((Column("invoice_label", gettext("Invoice")),) if with_money else ()),
        sorts=queries.BLOCK_SORTS,
        default_sort="name",
        counted=mark_plural("%(num)s block", "%(num)s blocks"),
        filters=Form(
            FilterSchema,
            Input("ticketTypeId", gettext("Tickets"), options=[("", gettext("All")), *types]),
            Input("kind", gettext("Kind"), options=[("", gettext("All")), *KIND_LABELS.items()]),
            Input("status", gettext("State"), options=[("", gettext("All")), *BLOCK_LABELS.items()]),
        ),
        empty=gettext("Blocks appear here when you make one."),
        returns_page=True,
    )


def _sum_counters(caller: Caller, event_id: str, table: Table) -> queries.BlockTotals:
    try:
        filters = table.filters.from_query().load()
    except ValidationFailed:
        filters = {}
    return queries.sum_block_counters(caller, event_id, **filters)


def _list_blocks(
    caller: Caller,
    event_id: str,
    *,
    sort: str,
    limit: int,
    after: SortKey | None,
    with_total: bool,
    **filters: Any,
) -> Page:
    page = page_of(
        queries.list_blocks_query(caller, event_id, **filters),
        id_column=queries.BLOCK_ID,
        order=Order(queries.BLOCK_SORTS[sort.removeprefix("-")], sort.startswith("-")),
        limit=limit,
        after=after,
        with_total=with_total,
    )
    return replace(page, rows=[_describe_row(row) for row in page.rows])


def _describe_row(row: Row) -> Row:
    total_minor = calculate_row_cost(row).total_minor
    return {
        **row,
        "title": name_block(row),
        "status": find_block_state(row),
        "holder": name_holder(row),
        "total_minor": total_minor,
        "invoice_label": describe_invoice(row["invoice"]) or (gettext("Not issued") if total_minor else ""),
    }

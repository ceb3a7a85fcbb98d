"""The search over everything of an organisation, with links to where each thing is shown."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from flask import url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import EVENTS_READ, GUESTS_READ
from app.blueprints.pages.desk.navigation import is_registered
from app.blueprints.pages.desk.shell import DeskPages, count_like, render_desk
from app.blueprints.pages.forms import Form, Input
from app.core.errors import ValidationFailed
from app.core.languages import gettext, lazy_gettext
from app.desk import search
from app.desk.search import APPLICATIONS, BLOCKS, CAMPAIGNS, EVENTS, GUESTS, INVOICES, ITEMS, ORDERS, Group, Hit
from app.desk.search_sql import MAX_HITS
from app.web.access import may
from app.web.fields import Text
from app.web.schema import Query

blueprint = DeskPages("desk_search", __name__, url_prefix="/desk/search")


class SearchSchema(Query):
    q = Text(max=search.MAX_LENGTH)


SEARCH = Form(
    SearchSchema,
    Input("q", lazy_gettext("Search"), type="search", messages={"too_long": lazy_gettext("Enter fewer words.")}),
)
SEARCH.marks_optional = False
LABELS = {
    EVENTS: lazy_gettext("Events"),
    GUESTS: lazy_gettext("Guests"),
    BLOCKS: lazy_gettext("Blocks"),
    APPLICATIONS: lazy_gettext("Stalls"),
    ITEMS: lazy_gettext("Stock"),
    ORDERS: lazy_gettext("Purchase orders"),
    INVOICES: lazy_gettext("Invoices"),
    CAMPAIGNS: lazy_gettext("Messages"),
}


STATUS_LABELS = {
    "available": lazy_gettext("available"),
    "invited": lazy_gettext("invited"),
    "claimed": lazy_gettext("has a ticket"),
    "admitted": lazy_gettext("admitted"),
    "sold": lazy_gettext("sold"),
    "cancelled": lazy_gettext("cancelled"),
    "refunded": lazy_gettext("refunded"),
}
"""The word with which the detail of a guest begins."""


class FoundLink(NamedTuple):
    """Something that was found, as the page shows it. Without a page of its own it has no `url`."""

    title: str
    detail: str
    event_name: str
    url: str


@blueprint.page("", access=may(EVENTS_READ))
def show(caller: Caller) -> ResponseReturnValue:
    """Show what matches every word, by kind."""
    form = SEARCH.from_query()
    try:
        q = form.load().get("q") or ""
    except ValidationFailed as error:
        return render_desk("desk/search.html", form=form.with_error(error), q="", groups=[])
    if search.is_searchable(q):
        count_like(caller, "organiser_desk.search_organisation")
    groups = search.search(caller, q)
    return render_desk(
        "desk/search.html",
        form=form,
        q=q,
        is_short=bool(q) and not search.is_searchable(q),
        groups=[(LABELS[group.kind], _build_links(caller, group), group.has_more) for group in groups],
        max_hits=MAX_HITS,
    )


def _build_links(caller: Caller, group: Group) -> list[FoundLink]:
    return [
        FoundLink(
            hit.title,
            _translate_detail(hit) if group.kind == GUESTS else hit.detail or "",
            "" if group.kind == EVENTS else hit.event_name,
            _LINKS[group.kind](caller, hit),
        )
        for hit in group.hits
    ]


def _translate_detail(hit: Hit) -> str:
    status, *others = (hit.detail or "").split(" · ")
    order = hit.order_number and gettext("order %(number)s", number=hit.order_number)
    return " · ".join(filter(None, [str(STATUS_LABELS.get(status, status)), *others, order, hit.ticket_type]))


def _link(endpoint: str, event_id: str, **values: Any) -> str:
    return url_for(endpoint, event_id=event_id, **values) if is_registered(endpoint) else ""


def _link_guest(caller: Caller, hit: Hit) -> str:
    """Where a guest is: a place in its block, an imported ticket among the tickets, for the gate crew at the gate."""
    if caller.may(GUESTS_READ, organisation_id=hit.organisation_id, event_id=hit.event_id):
        if hit.parent is None:
            return _link("desk_sales.list_tickets", hit.event_id, q=hit.key)
        return _link("desk_guests.show_block", hit.event_id, block_id=hit.parent, q=hit.title)
    if hit.parent is None:
        return _link("desk_gate.show_log", hit.event_id, q=hit.title)
    return _link("desk_guests.show_will_call", hit.event_id, q=hit.title)


def _link_invoice(_: Caller, hit: Hit) -> str:
    if hit.parent is not None:
        return _link("desk_stalls.show_application", hit.event_id, application_id=hit.parent)
    return _link("desk_guests.show_invoice", hit.event_id, block_id=hit.id)


_LINKS: Mapping[str, Callable[[Caller, Hit], str]] = {
    EVENTS: lambda _, hit: _link("desk_event.show", hit.event_id),
    GUESTS: _link_guest,
    BLOCKS: lambda _, hit: _link("desk_guests.show_block", hit.event_id, block_id=hit.id),
    APPLICATIONS: lambda _, hit: _link("desk_stalls.show_application", hit.event_id, application_id=hit.id),
    ITEMS: lambda _, hit: _link("desk_stock.show_item", hit.event_id, item_id=hit.id),
    ORDERS: lambda _, hit: _link("desk_stock.show_order", hit.event_id, order_id=hit.id),
    INVOICES: _link_invoice,
    CAMPAIGNS: lambda _, hit: _link("desk_messages.show_message", hit.event_id, campaign_id=hit.id),
}

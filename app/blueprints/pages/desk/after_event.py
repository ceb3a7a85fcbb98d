"""What comes next at an event that is over, on its overview: each step only for who may do it."""

from typing import NamedTuple

from flask import url_for

from app.accounts.caller import Caller
from app.accounts.permissions import EVENTS_WRITE, GATE_ADMIT, MONEY_READ, STOCK_WRITE
from app.blueprints.pages.desk.shell import may_use
from app.core.languages import gettext, mark_plural, ngettext
from app.desk.after_event import load_open_work
from app.events.queries import OwnEvent
from app.money.documents import OWED_BACK
from app.web.access import may

COPY = may(EVENTS_WRITE, whole_organisation=True)

OWED_BACK_COUNTED = mark_plural("You owe money back for %(num)s invoice.", "You owe money back for %(num)s invoices.")


class NextStep(NamedTuple):
    """A step: what is left, its button, and where the button leads."""

    text: str
    button: str
    url: str


def list_next_steps(caller: Caller, event: OwnEvent) -> list[NextStep]:
    """What the caller does after the event: the report, what is unpaid, conflicts, the count of the stock, the copy."""
    work = load_open_work(event.id)
    fee_count, invoice_count, item_count = work.open_fees, work.open_invoices, work.uncounted_items
    steps = [
        (
            MONEY_READ,
            not work.has_settlement,
            NextStep(
                gettext("There is no settlement report yet."),
                gettext("Make the settlement report"),
                url_for("desk_money.show", event_id=event.id),
            ),
        ),
        (
            MONEY_READ,
            work.open_fees,
            NextStep(
                ngettext("%(num)s stall fee is not paid.", "%(num)s stall fees are not paid.", fee_count),
                gettext("See the unpaid fees"),
                url_for("desk_stalls.show", event_id=event.id, feeState="open"),
            ),
        ),
        (
            MONEY_READ,
            work.open_invoices,
            NextStep(
                ngettext("%(num)s invoice is not paid.", "%(num)s invoices are not paid.", invoice_count),
                gettext("See the invoices"),
                url_for("desk_money.show", event_id=event.id),
            ),
        ),
        (
            MONEY_READ,
            work.owed_back,
            NextStep(
                ngettext(*OWED_BACK_COUNTED, work.owed_back),
                gettext("See what you owe"),
                url_for("desk_money.show", event_id=event.id, state=OWED_BACK, _anchor="documents"),
            ),
        ),
        (
            GATE_ADMIT,
            work.conflicts,
            NextStep(
                ngettext("%(num)s conflict at the gate", "%(num)s conflicts at the gate", work.conflicts),
                gettext("Look at the conflicts"),
                url_for("desk_gate.show_conflicts", event_id=event.id),
            ),
        ),
        (
            STOCK_WRITE,
            work.uncounted_items,
            NextStep(
                ngettext(
                    "%(num)s item of the stock was not counted since the end.",
                    "%(num)s items of the stock were not counted since the end.",
                    item_count,
                ),
                gettext("Count the stock"),
                url_for("desk_stock.show", event_id=event.id),
            ),
        ),
    ]
    allowed = [
        step
        for permission, is_open, step in steps
        if is_open and caller.may(permission, organisation_id=event.organiser_id, event_id=event.id)
    ]
    if may_use(COPY):
        text = gettext("Next year: the same facts, ticket types and stall types in a new draft.")
        allowed.append(
            NextStep(text, gettext("Copy for the next year"), url_for("desk_event.confirm_copy", event_id=event.id))
        )
    return allowed

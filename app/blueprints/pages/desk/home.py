"""The home of the desk: what waits for the person, and their events."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from flask import url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.organisation_details import load_organisation_details
from app.accounts.permissions import DEVICES, EVENTS_READ, EVENTS_WRITE, GATE_ADMIT
from app.allocations.states import OPEN
from app.blueprints.pages.desk.after_event import OWED_BACK_COUNTED
from app.blueprints.pages.desk.event_words import VISIBILITY_LABELS
from app.blueprints.pages.desk.navigation import is_registered
from app.blueprints.pages.desk.settings import ACCESS as SETTINGS
from app.blueprints.pages.desk.shell import DeskPages, may_use, render_desk
from app.blueprints.pages.signed_in import get_team_caller
from app.campaigns.filtered_people_sql import APPLICANTS, GUESTS, STALLHOLDERS, TICKET_HOLDERS
from app.core.languages import gettext, lazy_gettext, mark_plural, ngettext
from app.desk.home import load_home_events
from app.desk.tasks import (
    APPLICATIONS,
    BANK_DETAILS,
    CANCELLATION_KINDS,
    CANCELLED_APPLICATIONS,
    CANCELLED_FEES,
    CANCELLED_GUESTS,
    CANCELLED_HOLDERS,
    CANCELLED_INVOICES,
    CANCELLED_SALES,
    CANCELLED_STALLS,
    CONFLICTS,
    DOCUMENTS,
    FAILED_MAILS,
    FEES,
    INVOICES,
    LOW_STOCK,
    OWED_BACK,
    PUBLISH,
    REFUNDS,
    SETTLEMENT,
    UNDELIVERED,
    Task,
    list_tasks,
    may_do,
)
from app.money import documents
from app.web.access import may

blueprint = DeskPages("desk", __name__)
READ, ADMIT, PAIR = may(EVENTS_READ), may(GATE_ADMIT), may(DEVICES)
CREATE = may(EVENTS_WRITE, whole_organisation=True)


class TaskWords(NamedTuple):
    """How the page names a kind of task: for one and for many, as a kind, its button, and the endpoint that the button
    leads to.

    `filters` are those of the table at the endpoint.
    """

    counted: tuple[str, str]
    name: str
    button: str
    endpoint: str
    filters: Mapping[str, Any] = {}


AFTER_CANCELLATION = lazy_gettext("what is left after a cancellation")
TASK_WORDS = {
    CANCELLED_GUESTS: TaskWords(
        mark_plural(
            "is cancelled: you have not written to ticket holders and guests",
            "is cancelled: you have not written to ticket holders and guests",
        ),
        AFTER_CANCELLATION,
        lazy_gettext("Write to ticket holders and guests"),
        "desk_messages.write",
        {"roles": [TICKET_HOLDERS, GUESTS], "template": "event-cancelled"},
    ),
    CANCELLED_HOLDERS: TaskWords(
        mark_plural(
            "is cancelled: %(num)s holder of a block has places left. Write to them, and credit their invoice or give the "
            "places back",
            "is cancelled: %(num)s holders of blocks have places left. Write to them, and credit their invoices or give "
            "the places back",
        ),
        AFTER_CANCELLATION,
        lazy_gettext("See the blocks"),
        "desk_guests.show",
        {"status": OPEN},
    ),
    CANCELLED_STALLS: TaskWords(
        mark_plural(
            "is cancelled: you have not written to the stalls and applicants",
            "is cancelled: you have not written to the stalls and applicants",
        ),
        AFTER_CANCELLATION,
        lazy_gettext("Write to the stalls and applicants"),
        "desk_messages.write",
        {"roles": [STALLHOLDERS, APPLICANTS], "template": "stalls-cancelled"},
    ),
    CANCELLED_APPLICATIONS: TaskWords(
        mark_plural(
            "is cancelled: %(num)s applicant waits for a decision. Decline the application, or write to them",
            "is cancelled: %(num)s applicants wait for a decision. Decline the applications, or write to them",
        ),
        AFTER_CANCELLATION,
        lazy_gettext("See the applications"),
        "desk_stalls.show",
    ),
    CANCELLED_SALES: TaskWords(
        mark_plural(
            "is cancelled: %(num)s ticket was sold in your shop. Pay it back there, and import the sales again",
            "is cancelled: %(num)s tickets were sold in your shop. Pay them back there, and import the sales again",
        ),
        AFTER_CANCELLATION,
        lazy_gettext("See the sales"),
        "desk_sales.show",
    ),
    CANCELLED_FEES: TaskWords(
        mark_plural(
            "is cancelled: %(num)s paid stall fee is not sent back",
            "is cancelled: %(num)s paid stall fees are not sent back",
        ),
        AFTER_CANCELLATION,
        lazy_gettext("See the paid fees"),
        "desk_stalls.show",
        {"feeState": "paid"},
    ),
    CANCELLED_INVOICES: TaskWords(
        mark_plural(
            "is cancelled: %(num)s invoice is not credited",
            "is cancelled: %(num)s invoices are not credited",
        ),
        AFTER_CANCELLATION,
        lazy_gettext("See the invoices"),
        "desk_money.show",
        {"_anchor": "documents"},
    ),
    CONFLICTS: TaskWords(
        mark_plural("%(num)s conflict at the gate", "%(num)s conflicts at the gate"),
        lazy_gettext("conflicts at the gate"),
        lazy_gettext("Look at the conflicts"),
        "desk_gate.show_conflicts",
    ),
    APPLICATIONS: TaskWords(
        mark_plural("%(num)s application to decide", "%(num)s applications to decide"),
        lazy_gettext("applications"),
        lazy_gettext("Decide"),
        "desk_stalls.show",
        {"status": "submitted"},
    ),
    DOCUMENTS: TaskWords(
        mark_plural("%(num)s application with new documents", "%(num)s applications with new documents"),
        lazy_gettext("new documents of applicants"),
        lazy_gettext("Look at the documents"),
        "desk_stalls.show",
        {"hasNewDocuments": "true"},
    ),
    BANK_DETAILS: TaskWords(
        mark_plural(
            "%(num)s stall fee is due, and you have no bank details",
            "%(num)s stall fees are due, and you have no bank details",
        ),
        lazy_gettext("missing bank details"),
        lazy_gettext("Add bank details"),
        "desk_settings.show_bank",
        {"event_id": None, "next": "/desk"},
    ),
    REFUNDS: TaskWords(
        mark_plural("%(num)s refund was refused", "%(num)s refunds were refused"),
        lazy_gettext("refunds that were refused"),
        lazy_gettext("Send the money"),
        "desk_money.show",
    ),
    OWED_BACK: TaskWords(
        OWED_BACK_COUNTED,
        lazy_gettext("money that you owe back"),
        lazy_gettext("See what you owe"),
        "desk_money.show",
        {"state": documents.OWED_BACK, "_anchor": "documents"},
    ),
    FEES: TaskWords(
        mark_plural("%(num)s stall fee is overdue", "%(num)s stall fees are overdue"),
        lazy_gettext("overdue fees"),
        lazy_gettext("See the unpaid fees"),
        "desk_stalls.show",
        {"feeState": "overdue"},
    ),
    INVOICES: TaskWords(
        mark_plural("%(num)s invoice is overdue", "%(num)s invoices are overdue"),
        lazy_gettext("overdue invoices"),
        lazy_gettext("See the overdue invoices"),
        "desk_money.show",
        {"state": documents.OVERDUE, "_anchor": "documents"},
    ),
    LOW_STOCK: TaskWords(
        mark_plural("%(num)s item is running out", "%(num)s items are running out"),
        lazy_gettext("low stock"),
        lazy_gettext("See the stock"),
        "desk_stock.show",
        {"lowStock": "true"},
    ),
    FAILED_MAILS: TaskWords(
        mark_plural("%(num)s mail failed", "%(num)s mails failed"),
        lazy_gettext("mails that failed"),
        lazy_gettext("Look at the mails"),
        "desk_messages.show_failed_mails",
    ),
    UNDELIVERED: TaskWords(
        mark_plural("%(num)s message did not arrive", "%(num)s messages did not arrive"),
        lazy_gettext("messages that did not arrive"),
        lazy_gettext("Look at them"),
        "desk_messages.show_undelivered",
    ),
    PUBLISH: TaskWords(
        mark_plural("draft, not published yet", "drafts, not published yet"),
        lazy_gettext("drafts"),
        lazy_gettext("Finish it"),
        "desk_event.show",
    ),
    SETTLEMENT: TaskWords(
        mark_plural("over, without a settlement report", "over, without settlement reports"),
        lazy_gettext("settlement reports"),
        lazy_gettext("Make the settlement report"),
        "desk_money.show",
    ),
}
"""A task whose page is not there yet is not shown."""


class TaskItem(NamedTuple):
    """A task as the page shows it."""

    event_name: str
    text: str
    button: str
    url: str


@blueprint.page("", access=READ)
def show(caller: Caller) -> ResponseReturnValue:
    """Show what waits for the person, and their events."""
    kinds = [kind for kind, words in TASK_WORDS.items() if is_registered(words.endpoint)]
    events = load_home_events(caller)
    tasks = list_tasks(caller, kinds)
    has_events = events.running or events.coming or events.past or tasks
    return render_desk(
        "desk/home.html",
        tasks=[_describe_task(task) for task in tasks],
        kinds=", ".join(dict.fromkeys(str(TASK_WORDS[kind].name) for kind in kinds if may_do(caller, kind))),
        events=events,
        first_steps=[] if has_events or not may_use(CREATE) else _list_first_steps(),
        visibility_labels=VISIBILITY_LABELS,
        may_create=may_use(CREATE),
        is_door=may_use(ADMIT) and not may_use(PAIR),
    )


def list_cancellation_tasks(caller: Caller, event_id: str) -> list[TaskItem]:
    """What is left for the caller to do at a cancelled event."""
    return [_describe_task(task) for task in list_tasks(caller, (*CANCELLATION_KINDS, OWED_BACK), event_id=event_id)]


def _list_first_steps() -> list[tuple[str, bool, str]]:
    """What a new organisation does first: the label, whether it is done, and where. Each only for who may do it."""
    first_event = (gettext("Create your first event"), False, url_for("desk_events.add"))
    if not may_use(SETTINGS):
        return [first_event]
    details = load_organisation_details(get_team_caller(SETTINGS).organisation_id)
    return [
        (
            gettext("Give your address, and your VAT number if you have one"),
            bool(details.address),
            f"{url_for('desk_settings.show')}#address",
        ),
        (gettext("Add bank details"), details.bank is not None, url_for("desk_settings.show_bank")),
        first_event,
    ]


def _describe_task(task: Task) -> TaskItem:
    words = TASK_WORDS[task.kind]
    text = ngettext(*words.counted, task.count)
    url = url_for(words.endpoint, **{"event_id": task.event_id, **words.filters})
    return TaskItem(task.event_name, text, words.button, url)

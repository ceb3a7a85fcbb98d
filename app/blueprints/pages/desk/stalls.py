"""The stalls of an event: the applications as a table, and one application."""

from functools import partial
from typing import Any

from flask import request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import EVENTS_WRITE, MONEY_READ, MONEY_WRITE, STALLS_DECIDE, STALLS_INVITE, STALLS_READ
from app.applications import queries, states
from app.applications.actions.contact import OPEN_STATES
from app.applications.documents import LABELS
from app.applications.history import list_acts
from app.applications.open_events import is_event_closed
from app.applications.placed_stalls import find_stall_number
from app.applications.serializers import serialize_application
from app.applications.stall_types import fold_name, list_places
from app.applications.waitlist import find_next, list_waitlists
from app.audit.actions import Action
from app.audit.log import record_export
from app.blueprints.pages.desk.shell import DeskPages, render_desk
from app.blueprints.pages.desk.stall_history import find_acceptors, list_history
from app.blueprints.pages.desk.stall_words import (
    FEE_LABELS,
    LINK_LABELS,
    OFFER_LABELS,
    REFUND_LABELS,
    RISK_LABELS,
    STATE_LABELS,
    describe_payment,
)
from app.blueprints.pages.desk.tables import CODE, DAY, MONEY, STATUS, Column, Row, Table, render_desk_table
from app.blueprints.pages.forms import Form, Input
from app.core.errors import NotFound
from app.core.languages import gettext, lazy_gettext, mark_plural
from app.desk.failed_mails import find_failed_mail
from app.events import queries as events
from app.events.queries import OwnEvent
from app.money.documents import list_fee_documents
from app.web.access import may
from app.web.fields import Boolean, Choice, Text
from app.web.schema import Query

MAX_STATEMENT_BYTES = 2 * 1024 * 1024
MAX_DECIDED = 50
DECIDABLE = (states.SUBMITTED, states.WAITLISTED)
"""The states of applications that several are decided in at once."""
blueprint = DeskPages(
    "desk_stalls", __name__, url_prefix="/desk/events/<event_id>/stalls", max_bytes=MAX_STATEMENT_BYTES
)
"""The modules `stall_…` add their pages to it."""
READ, DECIDE = may(STALLS_READ), may(STALLS_DECIDE).with_verified_email()


class FilterSchema(Query):
    q = Text(max=200)
    status = Choice(*STATE_LABELS)
    stall_type = Text(max=120)
    fee_state = Choice(*queries.FEE_STATES)
    has_new_documents = Boolean()


def link_application(row: Row) -> str:
    """The page of an application."""
    return url_for("desk_stalls.show_application", event_id=row["event_id"], application_id=row["id"])


APPLICATIONS = Table(
    "applications",
    Column("business_name", lazy_gettext("Business"), sort="businessName", link=link_application),
    Column("stall_type", lazy_gettext("Stall type")),
    Column("amount_minor", lazy_gettext("Fee"), MONEY, sort="amountMinor"),
    Column("fee_state", lazy_gettext("State of the fee"), STATUS, labels=FEE_LABELS),
    Column("status", lazy_gettext("State"), STATUS, sort="waiting", labels=STATE_LABELS),
    Column("created_at", lazy_gettext("Applied"), DAY, sort="createdAt"),
    Column("reference", lazy_gettext("Reference"), CODE),
    sorts=queries.APPLICATION_SORTS,
    default_sort="waiting",
    counted=mark_plural("%(num)s application", "%(num)s applications"),
    filters=Form(
        FilterSchema,
        Input("q", lazy_gettext("Search"), type="search"),
        Input("status", lazy_gettext("State"), options=[("", lazy_gettext("All")), *STATE_LABELS.items()]),
        Input("stallType", lazy_gettext("Stall type")),
        Input(
            "feeState",
            lazy_gettext("Fee"),
            options=[("", lazy_gettext("All")), *((state, FEE_LABELS[state]) for state in queries.FEE_STATES)],
        ),
        Input(
            "hasNewDocuments",
            lazy_gettext("Documents"),
            options=[("", lazy_gettext("All")), ("true", lazy_gettext("Not accepted yet"))],
        ),
    ),
    empty=lazy_gettext("Applications appear here when somebody applies."),
)
CONTACT_IN_FILE = (
    Column("contact_name", lazy_gettext("Contact")),
    Column("email", lazy_gettext("E-mail")),
    Column("phone", lazy_gettext("Phone")),
    Column("products", lazy_gettext("Sells")),
)
"""What the page of an application shows to all who may read the table."""


@blueprint.page("", access=READ)
def show(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the applications, those first that wait for a decision."""
    event = events.get_event(caller, event_id)
    record_file = partial(
        record_export, Action.APPLICATIONS_EXPORTED, organisation_id=event.organiser_id, event_id=event.id
    )
    return render_desk_table(
        "desk/stalls.html",
        _build_table(event),
        partial(_list_applications, caller, event_id),
        event=event,
        record_file=record_file,
        decidable=DECIDABLE,
        apply_url=url_for("apply.start", event_id=event.id) if events.is_public(event) else "",
        **get_permissions(caller, event),
    )


@blueprint.page("/<application_id>", access=READ)
def show_application(caller: Caller, event_id: str, application_id: str) -> ResponseReturnValue:
    """Show one application with its documents, what is due, and what can be done."""
    event, row = get_event_application(caller, event_id, application_id)
    application: dict[str, Any] = serialize_application(row)
    acts, permissions = list_acts(row["id"]), get_permissions(caller, event)
    return render_desk(
        "desk/stall.html",
        event=event,
        application=application,
        row=row,
        stall_number=find_stall_number(row["id"]) if row["status"] == states.ACTIVATED else None,
        due={requirement["code"] for requirement in application["requirements"]},
        history=list_history(row, acts, with_texts=permissions["may_settle"]),
        acceptors=find_acceptors(acts),
        state_label=STATE_LABELS[row["status"]],
        fee_label=FEE_LABELS[row["fee_state"]],
        payment_choice=describe_payment(row) if row["amount_minor"] else "",
        risk_labels=RISK_LABELS,
        refund_labels=REFUND_LABELS,
        offer_labels=OFFER_LABELS,
        document_labels=LABELS,
        link_labels=LINK_LABELS,
        states=states,
        contact_states=OPEN_STATES,
        **_find_line(caller, event, row),
        failed_mail=find_failed_mail(event_id, address=row["email"], application_id=application_id),
        may_ask_again=row["status"] in (*states.ACCEPTED_STATES, states.ACTIVATED),
        fee_documents=list_fee_documents(row["id"]) if row["paid_at"] and permissions["may_read_money"] else [],
        is_closed=is_event_closed(event),
        decidable=DECIDABLE,
        **permissions,
    )


def get_permissions(caller: Caller, event: OwnEvent) -> dict[str, Any]:
    """What the caller may do with the stalls of the event, for the buttons."""
    permissions = {
        "may_decide": STALLS_DECIDE,
        "may_settle": MONEY_WRITE,
        "may_read_money": MONEY_READ,
        "may_invite": STALLS_INVITE,
        "may_edit": EVENTS_WRITE,
    }
    return {
        name: caller.may(permission, organisation_id=event.organiser_id, event_id=event.id)
        for name, permission in permissions.items()
    }


def get_event_application(
    caller: Caller, event_id: str, application_id: str
) -> tuple[OwnEvent, queries.ApplicationRecord]:
    """The event, and an application for it. Raises NotFound."""
    event, row = events.get_event(caller, event_id), queries.get_application(caller, application_id)
    if row["event_id"] != event.id:
        raise NotFound()
    return event, row


def _build_table(event: OwnEvent) -> Table:
    """The table with the stall types of the event as a filter, and in a file with the contacts.

    Without any types, applicants have typed theirs.
    """
    names = [listed["name"] for listed in event.stall_types]
    options = [("", gettext("All")), *((name, name) for name in names)]
    table = APPLICATIONS.with_columns(*CONTACT_IN_FILE) if request.args.get("format") == "csv" else APPLICATIONS
    return table.with_options("stallType", options) if names else table


def _list_applications(caller: Caller, event_id: str, **filters: Any) -> queries.ListQuery:
    return queries.list_desk_applications_query(caller, event_id=event_id, **filters)


def _find_line(caller: Caller, event: OwnEvent, row: queries.ApplicationRecord) -> dict[str, Any]:
    """The places of the stall type for which an application waits, and the line; no places for any other."""
    type_key = fold_name(row["stall_type"])
    if row["status"] != states.WAITLISTED:
        return {"places": None}
    places = next((type_ for type_ in list_places(event.id, event.stall_types) if type_.key == type_key), None)
    return {"places": places, "line": list_waitlists(caller, event.id).get(type_key, ()), "find_next": find_next}

"""Mails to applicants, guests and holders of blocks that failed, with the reason."""

from functools import partial

from flask import request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import GUESTS_READ, STALLS_READ
from app.blueprints.pages.desk.message_deliveries import read_ids, record_addresses
from app.blueprints.pages.desk.message_words import MAIL_LABELS
from app.blueprints.pages.desk.messages import WRITE, blueprint
from app.blueprints.pages.desk.shell import go_to, render_confirmation, send_back
from app.blueprints.pages.desk.tables import TIME, Column, Row, Table, render_desk_table
from app.core.languages import gettext, lazy_gettext, mark_plural, ngettext
from app.core.spreadsheet_cells import escape
from app.desk import failed_mails
from app.events import queries as events

OPENING = (STALLS_READ, GUESTS_READ)
"""The permissions for the pages of applications and blocks."""


class SubjectColumn(Column):
    """The business of the application, or the name of the block."""

    def format(self, row: Row) -> str:
        return str(row["business_name"] or row["block_name"] or "")

    def format_csv(self, row: Row, zone: str = "") -> str:
        return escape(self.format(row))


class ReasonColumn(Column):
    """What the mail server said, as it said it, or our own sentence."""

    def format(self, row: Row) -> str:
        reason: str = row["reason"]
        return gettext(reason)


def _link_subject(row: Row) -> str:
    if row["application_id"] and row["business_name"]:
        path = "desk_stalls.show_application"
        return url_for(path, event_id=row["event_id"], application_id=row["application_id"])
    if row["block_id"] and row["block_name"]:
        return url_for("desk_guests.show_block", event_id=row["event_id"], block_id=row["block_id"])
    return ""


def _build_table(*, with_people: bool) -> Table:
    """The table; `with_people` has phone numbers and links, for those who may open the applications and blocks."""
    about = SubjectColumn("id", lazy_gettext("About"), link=_link_subject if with_people else None)
    return Table(
        "failed-mails",
        Column("address", lazy_gettext("Address")),
        Column("kind", lazy_gettext("Mail"), labels=MAIL_LABELS),
        about,
        *([Column("phone", lazy_gettext("Phone"))] if with_people else []),
        ReasonColumn("reason", lazy_gettext("Why")),
        Column("failed_at", lazy_gettext("When"), TIME, sort="failedAt"),
        sorts=failed_mails.SORTS,
        default_sort="-failedAt",
        counted=mark_plural("%(num)s mail", "%(num)s mails"),
        empty=lazy_gettext(
            "Mails to applicants and guests that the mail server refused appear here. There are none now."
        ),
    )


MAILS, MAILS_WITHOUT_PEOPLE = _build_table(with_people=True), _build_table(with_people=False)


@blueprint.page("/failed-mails", access=WRITE)
def show_failed_mails(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the mails that failed, with the way to what they are about."""
    event = events.get_event(caller, event_id)
    view = partial(failed_mails.list_failed_mails_query, caller, event_id)
    record_file = partial(record_addresses, event)
    may_open = (caller.may(permission, organisation_id=event.organiser_id, event_id=event.id) for permission in OPENING)
    table = MAILS if all(may_open) else MAILS_WITHOUT_PEOPLE
    return render_desk_table("desk/failed_mails.html", table, view, event=event, record_file=record_file)


@blueprint.page("/failed-mails/clear", access=WRITE)
def confirm_clearing(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Ask before the chosen mails are taken off the list."""
    event, ids = events.get_event(caller, event_id), read_ids(request.args.getlist("id"))
    if not ids:
        return send_back(_build_list_path(event_id), gettext("Choose the mails that you want to take off the list."))
    return render_confirmation(
        event=event,
        title=ngettext("Take %(num)s mail off the list?", "Take %(num)s mails off the list?", len(ids)),
        text=gettext("Nothing is sent. A mail that fails again is listed again."),
        button=gettext("Take off the list"),
        back=_build_list_path(event_id),
        values={"ids": ",".join(ids)},
    )


@blueprint.act("/failed-mails/clear", access=WRITE)
def clear_failed_mails(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Take the chosen mails off the list. A second time finds none."""
    count = failed_mails.clear_failed_mails(caller, event_id, read_ids(request.form.get("ids", "").split(",")))
    done = ngettext("Taken off the list: %(num)s mail.", "Taken off the list: %(num)s mails.", count)
    return go_to(_build_list_path(event_id), done)


def _build_list_path(event_id: str) -> str:
    return url_for("desk_messages.show_failed_mails", event_id=event_id)

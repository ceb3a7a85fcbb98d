"""Mails to applicants, guests and holders of blocks that failed, with the reason."""

from datetime import datetime
from functools import partial

from flask import request, url_for
from flask.typing import ResponseReturnValue
from marshmallow import ValidationError

from app.accounts.caller import Caller
from app.blueprints.pages.desk.message_deliveries import record_addresses
from app.blueprints.pages.desk.message_words import MAIL_LABELS
from app.blueprints.pages.desk.messages import WRITE, blueprint
from app.blueprints.pages.desk.shell import go_to, render_confirmation
from app.blueprints.pages.desk.tables import TIME, Column, Row, Table, render_desk_table
from app.core.clock import rfc3339
from app.core.errors import NotFound
from app.core.languages import gettext, lazy_gettext, mark_plural, ngettext
from app.desk import failed_mails
from app.events import queries as events
from app.web.fields import TimeField


def _link_subject(row: Row) -> str:
    if row["application_id"] and row["business_name"]:
        path = "desk_stalls.show_application"
        return url_for(path, event_id=row["event_id"], application_id=row["application_id"])
    if row["block_id"] and row["block_name"]:
        return url_for("desk_guests.show_block", event_id=row["event_id"], block_id=row["block_id"])
    return ""


class SubjectColumn(Column):
    """The business of the application, or the name of the block."""

    def format(self, row: Row) -> str:
        return str(row["business_name"] or row["block_name"] or "")


MAILS = Table(
    "failed-mails",
    Column("address", lazy_gettext("Address")),
    Column("kind", lazy_gettext("Mail"), labels=MAIL_LABELS),
    SubjectColumn("id", lazy_gettext("About"), link=_link_subject),
    Column("reason", lazy_gettext("Why")),
    Column("failed_at", lazy_gettext("When"), TIME, sort="failedAt"),
    sorts=failed_mails.SORTS,
    default_sort="-failedAt",
    counted=mark_plural("%(num)s mail", "%(num)s mails"),
    empty=lazy_gettext("Mails to applicants and guests that the mail server refused appear here. There are none now."),
)


@blueprint.page("/failed-mails", access=WRITE)
def show_failed_mails(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the mails that failed, with the way to whom they are about."""
    event = events.get_event(caller, event_id)
    view = partial(failed_mails.list_failed_mails_query, caller, event_id)
    record_file = partial(record_addresses, event)
    return render_desk_table("desk/failed_mails.html", MAILS, view, event=event, record_file=record_file)


@blueprint.page("/failed-mails/clear", access=WRITE)
def confirm_clearing(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Ask before the mails that the person has seen are taken off the list."""
    return render_confirmation(
        event=events.get_event(caller, event_id),
        title=gettext("Clear the list?"),
        text=gettext(
            "The mails that you saw are taken off the list. Nothing is sent. Another mail that fails is listed again."
        ),
        button=gettext("Clear the list"),
        back=url_for("desk_messages.show_failed_mails", event_id=event_id),
        values={"until": rfc3339(_read_time(request.args.get("until")))},
    )


@blueprint.act("/failed-mails/clear", access=WRITE)
def clear_failed_mails(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Take the mails off the list that had failed by then. A second time finds none."""
    until = _read_time(request.form.get("until"))
    count = failed_mails.clear_failed_mails(caller, event_id, until=until)
    return go_to(
        url_for("desk_messages.show_failed_mails", event_id=event_id),
        ngettext("Taken off the list: %(num)s mail.", "Taken off the list: %(num)s mails.", count),
    )


def _read_time(text: str | None) -> datetime:
    """The time when the list was shown. Raises NotFound."""
    try:
        moment: datetime | None = TimeField(required=True).deserialize(text)
    except ValidationError as error:
        raise NotFound() from error
    if moment is None:
        raise NotFound()
    return moment

"""The imports of sales into an event: the list, one of them, and its undo."""

from functools import partial

from flask import Response, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.blueprints.pages.desk.sales import READ_TICKETS, blueprint, get_permissions
from app.blueprints.pages.desk.sales_uploads import IMPORT
from app.blueprints.pages.desk.sales_words import FORMAT_LABELS, IMPORT_LABELS, UNDO_WORDS
from app.blueprints.pages.desk.shell import go_to, render_confirmation, render_desk
from app.blueprints.pages.desk.tables import NUMBER, STATUS, TIME, Column, Row, Table, render_desk_table
from app.core.errors import Conflict, Gone
from app.core.languages import gettext, lazy_gettext, mark_plural
from app.events import queries as events
from app.events import ticket_imports
from app.events.actions.undo_ticket_import import undo_ticket_import
from app.events.queries import OwnEvent


def _link_import(row: Row) -> str:
    return url_for("desk_sales.show_import", event_id=row["event_id"], import_id=row["id"])


IMPORTS = Table(
    "imports",
    Column("number", lazy_gettext("Number"), NUMBER, link=_link_import),
    Column("imported_at", lazy_gettext("Imported"), TIME, sort="importedAt"),
    Column("imported_by", lazy_gettext("By")),
    Column("file_name", lazy_gettext("File")),
    Column("format", lazy_gettext("Kind"), labels=FORMAT_LABELS),
    Column("created", lazy_gettext("New"), NUMBER),
    Column("updated", lazy_gettext("Changed"), NUMBER),
    Column("cancelled", lazy_gettext("Cancelled"), NUMBER),
    Column("unchanged", lazy_gettext("Unchanged"), NUMBER),
    Column("state", lazy_gettext("State"), STATUS, labels=IMPORT_LABELS),
    sorts=ticket_imports.SORTS,
    default_sort="-importedAt",
    counted=mark_plural("%(num)s import", "%(num)s imports"),
    empty=lazy_gettext("Imports appear here when you have imported the sales."),
)


@blueprint.page("/imports", access=READ_TICKETS)
def list_imports(caller: Caller, event_id: str) -> ResponseReturnValue:
    """Show the imports, the latest first."""
    event = events.get_event(caller, event_id)
    view = partial(ticket_imports.list_imports_query, caller, event_id, says_undo=False)
    return render_desk_table("desk/sales_imports.html", IMPORTS, view, event=event, **get_permissions(caller, event))


@blueprint.page("/imports/<import_id>", access=READ_TICKETS)
def show_import(caller: Caller, event_id: str, import_id: str) -> ResponseReturnValue:
    """Show one import, and why it cannot be undone."""
    event, row = events.get_event(caller, event_id), ticket_imports.get_import(caller, event_id, import_id)
    return render_desk(
        "desk/sales_import_done.html",
        event=event,
        row=row,
        format_label=FORMAT_LABELS[row["format"]],
        blocked=UNDO_WORDS.get(row["undo_blocked_by"] or ""),
        **get_permissions(caller, event),
    )


@blueprint.page("/imports/<import_id>/undo", access=IMPORT)
def confirm_undo(caller: Caller, event_id: str, import_id: str) -> ResponseReturnValue:
    """Say what the undo of an import means."""
    return _render_undo(caller, events.get_event(caller, event_id), import_id)


@blueprint.act("/imports/<import_id>/undo", access=IMPORT)
def undo(caller: Caller, event_id: str, import_id: str) -> ResponseReturnValue:
    """Undo an import."""
    try:
        undo_ticket_import(caller, event_id, import_id)
    except (Conflict, Gone) as error:
        return _render_undo(caller, events.get_event(caller, event_id), import_id, error)
    done = gettext("The import is undone. The tickets are as they were before it.")
    return go_to(url_for("desk_sales.show_import", event_id=event_id, import_id=import_id), done)


def _render_undo(caller: Caller, event: OwnEvent, import_id: str, error: Conflict | Gone | None = None) -> Response:
    row = ticket_imports.get_import(caller, event.id, import_id)
    if error is not None and error.code in UNDO_WORDS:
        error = type(error)(str(UNDO_WORDS[error.code]))
    return render_confirmation(
        event=event,
        title=gettext("Undo import %(number)s?", number=row["number"]),
        text=gettext(
            "New tickets that go: %(created)s. The gate does not admit them any more. Changed tickets that get back "
            "what they were: %(updated)s. Ticket types that the import made go as well, if nothing else uses them. "
            "Nobody gets a mail.",
            created=row["created"],
            updated=row["updated"],
        ),
        button=gettext("Undo the import"),
        back=url_for("desk_sales.show_import", event_id=event.id, import_id=import_id),
        is_dangerous=True,
        error=error,
    )

"""Files: what workers make for the organisation, how far they are, and the download of what is ready."""

from functools import partial

from flask import url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.permissions import EVENTS_READ, STOCK_READ
from app.blueprints.pages.desk.shell import DeskPages, go_to, render_confirmation, render_desk
from app.blueprints.pages.desk.tables import NUMBER, TIME, Column, Table, render_desk_table
from app.core.languages import gettext, lazy_gettext, mark_plural
from app.desk.files import FILE_LABELS, SORTS, STOCK, list_files_query
from app.files import actions, queries
from app.files.states import DONE, FAILED, OPEN_STATES, QUEUED, RUNNING
from app.inventory.queries import get_job_file
from app.web.access import may
from app.web.file_responses import build_private_attachment

blueprint = DeskPages("desk_files", __name__, url_prefix="/desk/files")
READ = may(EVENTS_READ)
STATUS_LABELS = {
    QUEUED: lazy_gettext("Waiting"),
    RUNNING: lazy_gettext("In progress"),
    DONE: lazy_gettext("Ready"),
    FAILED: lazy_gettext("Failed"),
}
FILES = Table(
    "files",
    Column("kind", lazy_gettext("File"), labels=FILE_LABELS),
    Column("event_name", lazy_gettext("Event")),
    Column("asked_by", lazy_gettext("Asked by")),
    Column("created_at", lazy_gettext("Asked"), TIME, sort="createdAt"),
    Column("status", lazy_gettext("State"), labels=STATUS_LABELS),
    Column("message", lazy_gettext("Note")),
    Column("kilobytes", lazy_gettext("KB"), NUMBER),
    sorts=SORTS,
    default_sort="-createdAt",
    counted=mark_plural("%(num)s file", "%(num)s files"),
    empty=lazy_gettext("Reports, exports and imports that take a while appear here, and stay for seven days."),
)


@blueprint.page("", access=READ)
def show(caller: Caller) -> ResponseReturnValue:
    """Show the files that the person may see."""
    view = partial(list_files_query, caller)
    return render_desk_table("desk/files.html", FILES, view, open_states=OPEN_STATES, stock=STOCK)


@blueprint.page("/<file_id>", access=READ)
def show_file(caller: Caller, file_id: str) -> ResponseReturnValue:
    """Show how far a file is, and when it is ready its download."""
    file = queries.get_file(caller, file_id)
    return render_desk(
        "desk/file.html",
        file=file,
        message=gettext(file.message) if file.message else "",
        title=_name_file(file.kind),
        state_labels=STATUS_LABELS,
    )


@blueprint.page("/<file_id>/download", access=READ)
def download(caller: Caller, file_id: str) -> ResponseReturnValue:
    """Download a file. It is recorded."""
    content = queries.get_content(caller, file_id)
    return build_private_attachment(content.data, content.name, content.content_type)


@blueprint.page("/stock/<event_id>/<job_id>", access=may(STOCK_READ))
def download_stock_file(caller: Caller, event_id: str, job_id: str) -> ResponseReturnValue:
    """Download a report of the stock, or the errors of an import. It is recorded."""
    return build_private_attachment(*get_job_file(caller, event_id, job_id))


@blueprint.page("/<file_id>/delete", access=READ)
def confirm_deletion(caller: Caller, file_id: str) -> ResponseReturnValue:
    """Ask whether to delete a file."""
    file = queries.get_deletable_file(caller, file_id)
    return render_confirmation(
        title=gettext("Delete “%(file)s”?", file=_name_file(file.kind)),
        text=gettext("The file is deleted for everybody who sees it here. You can ask for a new one.")
        if file.is_over
        else gettext("The work on the file stops, and there will be no file."),
        button=gettext("Delete"),
        back=url_for("desk_files.show"),
        is_dangerous=True,
    )


@blueprint.act("/<file_id>/delete", access=READ)
def delete(caller: Caller, file_id: str) -> ResponseReturnValue:
    """Delete a file."""
    actions.delete_file(caller, file_id)
    return go_to(url_for("desk_files.show"), gettext("The file is deleted."))


def _name_file(kind: str) -> str:
    return str(FILE_LABELS.get(kind) or gettext("File"))

"""The page of a copy of a person's data, linked from the mail, and the file itself.

Link scanners open the page too; opening it changes nothing.
"""

from flask import Response
from flask.typing import ResponseReturnValue

from app.accounts import data_export
from app.blueprints.pages.rendering import Pages, render_page
from app.core.formatting import format_time
from app.web.rate_limits import Limit, count_lookup_failure, count_request

READ_LIMIT, ROUTE = Limit(60), "/data-export/<token>"
FILE_NAME = "my-data.zip"
blueprint = Pages("data_export", __name__, url_prefix="/data-export")


@blueprint.get("/<token>")
def show(token: str) -> ResponseReturnValue:
    """Show what the copy is, and the link to the file."""
    count_request(READ_LIMIT, ROUTE)
    export = data_export.find_export_by_token(token)
    if export is None:
        return _render_ended_link()
    return render_page(
        "pages/data_export.html",
        token=token,
        created=format_time(export.created_at),
        until=format_time(export.expires_at),
        megabytes=max(0.1, round(export.size / 1_000_000, 1)),
    )


@blueprint.get("/<token>/file")
def download(token: str) -> ResponseReturnValue:
    """Send the file."""
    count_request(READ_LIMIT, ROUTE)
    export = data_export.find_export_by_token(token)
    pieces = data_export.read_file(export) if export else None
    if export is None or pieces is None:
        return _render_ended_link()
    response = Response(pieces, content_type="application/zip")
    response.headers.set("Content-Disposition", "attachment", filename=FILE_NAME)
    response.headers["Cache-Control"] = "no-store"
    return response


def _render_ended_link() -> ResponseReturnValue:
    count_lookup_failure()
    return render_page("pages/data_export_ended.html", status=404)

"""What the desk shows of an organisation: `/api/organisations/me/tasks`, `…/search` and `…/files`.

A caller with several teams sees all of them, or that of `Team-Id`. The tier of an admin does not count, as at the desk.
"""

from dataclasses import replace

from flask import Response

from app.accounts.caller import Caller
from app.accounts.permissions import EVENTS_READ
from app.blueprints.desk import schemas
from app.desk.files import SORTS, FileRow, ListQuery, get_listed_file, list_files_query
from app.desk.search import Group, search
from app.desk.tasks import Task, list_tasks
from app.files.actions import delete_file
from app.files.queries import get_content
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.file_responses import build_private_attachment
from app.web.paging import Listing
from app.web.rate_limits import Limit

blp = Blueprint("organiser_desk", __name__, url_prefix="/api/organisations/me", description="The desk of organisers")
READ = may(EVENTS_READ)
SEARCH_LIMIT, CONTENT_LIMIT = Limit(60), Limit(120)


@blp.get("/tasks", access=READ, returns=schemas.TasksData)
def list_waiting_tasks() -> dict[str, list[Task]]:
    """List what waits for you, counted by kind and event: the most urgent kind first, then the next event.

    It has only what your role may do something about.
    """
    return {"tasks": list_tasks(_get_caller_without_tier())}


@blp.get("/search", access=READ, query=schemas.SearchQuery, returns=schemas.SearchData, limit=SEARCH_LIMIT)
def search_organisation(q: str) -> dict[str, list[Group]]:
    """Find what matches every word of `q` in all events, by kind: only what your role may see.

    A word is the beginning of a word of a name, address, code or number; accents and case do not matter. The code of a
    ticket finds its guest only for those who may admit them.
    """
    return {"groups": search(_get_caller_without_tier(), q)}


@blp.get("/files", access=READ, returns=Listing("files", schemas.OrganisationFileRow, SORTS, "-createdAt"))
def list_files() -> ListQuery:
    """List what workers make for the organisation: reports, exports and imports, with the stock's, the newest first.

    Each is there for who has the permission of what it was made for, until seven days after its end.
    """
    return list_files_query(_get_caller_without_tier())


@blp.get("/files/<fileId>", access=READ, returns=schemas.OrganisationFileRow)
def read_file(file_id: str) -> FileRow:
    """Read how far a file is, and of a finished one how large it is."""
    return get_listed_file(_get_caller_without_tier(), file_id)


@blp.get("/files/<fileId>/content", access=READ, content_type="application/octet-stream", limit=CONTENT_LIMIT)
def download_file(file_id: str) -> Response:
    """Get the content of a finished file under its name. The download is an entry of the audit trail.

    The files of the stock are at the operations of the stock.
    """
    content = get_content(_get_caller_without_tier(), file_id)
    return build_private_attachment(content.data, content.name, content.content_type)


@blp.delete("/files/<fileId>", access=READ)
def delete_requested_file(file_id: str) -> None:
    """Delete a file for everybody who sees it; the work on one that is not ready stops.

    The person who asked for it may, and those who may change all events of the organisation.
    """
    delete_file(_get_caller_without_tier(), file_id)


def _get_caller_without_tier() -> Caller:
    return replace(get_current_caller(), tier=None)

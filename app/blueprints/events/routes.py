"""Events for organisers: `/api/events`."""

from typing import Any

from app.accounts.errors import EmailNotVerified
from app.blueprints.events import query_schemas, response_schemas, schemas
from app.events import actions, errors, queries, stats
from app.media.actions import MAX_UPLOAD_BYTES, store_picture
from app.media.errors import UPLOAD_ERRORS
from app.web.access import ORGANISER, ORGANISER_OR_ANALYST, PUBLIC_OR_SIGNED_IN
from app.web.auth import find_current_caller, get_current_caller
from app.web.blueprint import Blueprint
from app.web.errors import TokenMissing
from app.web.images import Picture, PictureFile
from app.web.paging import Listing

blp = Blueprint("events", __name__, url_prefix="/api/events", description="Events and their tickets")

PUBLISHING = [errors.NotPublishable, errors.VisibilityNotReachable, EmailNotVerified]


@blp.post(
    "",
    access=ORGANISER,
    body=schemas.NewEvent,
    returns=response_schemas.EventData,
    status=201,
    idempotent=True,
    errors=PUBLISHING,
)
def create_event(**body: Any) -> Any:
    """Create an event.

    It is a draft until `visibility` or `publishAt` publishes it. A naive time is in the event's time zone, which by
    default is that of the country.
    """
    event = actions.create_event(caller=get_current_caller(), **body)
    return queries.serialize_event(event), {"ETag": f'"{event.version}"'}


@blp.get(
    "",
    access=PUBLIC_OR_SIGNED_IN,
    query=query_schemas.ListFilters,
    returns=Listing("events", response_schemas.EventRow, queries.SORTS, "startsAt"),
)
def list_events(mine: bool, **filters: Any) -> Any:
    """List published events; with `mine=true` and a token, own events in every state.

    An admin's own are everybody's.
    """
    caller = find_current_caller()
    if mine and caller is None:
        raise TokenMissing()
    return queries.list_events_query(caller, mine=mine, **filters)


@blp.post(
    "/upload-cover",
    access=ORGANISER,
    files=PictureFile,
    returns=Picture,
    status=201,
    max_bytes=MAX_UPLOAD_BYTES,
    errors=UPLOAD_ERRORS,
)
def upload_cover(file: Any) -> Any:
    """Upload a picture for an event, and get the address to put into `coverImageUrl`.

    JPEG, PNG or WebP of up to 5 MiB and 40 megapixels. It is written anew without metadata.
    """
    return store_picture(account_id=get_current_caller().id, data=file.read())


@blp.get("/<id>", access=ORGANISER_OR_ANALYST, returns=response_schemas.EventData, etag=True, sparse=True)
def read_event(id: str) -> Any:
    """Read an event of one's own.

    `fields=name,city` answers `id` and those.
    """
    return queries.serialize_event(queries.event(get_current_caller(), id))


@blp.patch(
    "/<id>",
    access=ORGANISER,
    body=schemas.EventChanges,
    returns=response_schemas.EventData,
    etag=True,
    errors=[*PUBLISHING, errors.TicketsCommitted, errors.CapacityCommitted],
)
def change_event(id: str, **body: Any) -> Any:
    """Change the fields that are sent.

    A list replaces the one before. Ticket types are told apart by `id`, else by name; one that is not sent is
    removed, which is refused once tickets of it are sold or allocated.
    """
    event = actions.change_event(caller=get_current_caller(), id=id, **body)
    return queries.serialize_event(event), {"ETag": f'"{event.version}"'}


@blp.delete("/<id>", access=ORGANISER, returns=response_schemas.Removed, etag=True)
def remove_event(id: str, **options: Any) -> Any:
    """Delete an event, or cancel it when tickets or anything else hangs on it; `outcome` says which."""
    return actions.remove_event(caller=get_current_caller(), id=id, **options)


@blp.get("/<id>/ticket-stats", access=ORGANISER_OR_ANALYST, returns=response_schemas.Stats, sparse=True)
def ticket_stats(id: str) -> Any:
    """Read how an event sells: per ticket type, and per day for charts."""
    return stats.ticket_stats(get_current_caller(), id)

"""Events for organisers: `/api/events`."""

from typing import Any

from werkzeug.datastructures import FileStorage

from app.accounts.errors import EmailNotVerified
from app.accounts.permissions import EVENTS_READ, EVENTS_WRITE
from app.blueprints.events import response_schemas, schemas
from app.events import actions, errors, queries, stats
from app.events.discovery_sql import EventFilters
from app.media.actions import MAX_UPLOAD_BYTES, UPLOAD_ERRORS, StoredPicture, store_picture
from app.web.access import PUBLIC_OR_SIGNED_IN, find_current_caller, get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.errors import TokenMissing
from app.web.paging import Listing
from app.web.schema import to_camel_case
from app.web.text_fields import Picture, PictureFile

blp = Blueprint("events", __name__, url_prefix="/api/events", description="Events and their tickets")

SORTS = {to_camel_case(name): column for name, column in queries.SORTS.items()}
Versioned = tuple[dict[str, object], dict[str, str]]
"""An event and the header with its ETag."""
PUBLISHING = [errors.NotPublishable, errors.VisibilityNotReachable, errors.SlugTaken, EmailNotVerified]


@blp.post(
    "",
    access=may(EVENTS_WRITE, whole_organisation=True),
    body=schemas.NewEvent,
    returns=response_schemas.EventData,
    status=201,
    idempotent=True,
    errors=PUBLISHING,
)
def create_event(date_names: dict[str, str], **body: object) -> Versioned:
    """Create an event.

    It is a draft until `visibility` or `publishAt` publishes it. A naive time is in the event's time zone, which by
    default is that of the country.
    """
    with schemas.errors_with_api_names(date_names):
        event = actions.create_event(caller=get_current_caller(), **body)
    return queries.serialize_event(get_current_caller(), event), {"ETag": f'"{event.version}"'}


@blp.get(
    "",
    access=PUBLIC_OR_SIGNED_IN.with_permission(EVENTS_READ),
    query=schemas.OrganiserListQuery,
    returns=Listing("events", response_schemas.EventRow, SORTS, "startsAt"),
)
def list_events(mine: bool, visibility: str | None = None, **filters: Any) -> queries.ListQuery:
    """List published events; with `mine=true` and a token, own events in every state.

    For an admin these are all events.
    """
    caller = find_current_caller()
    if mine and caller is None:
        raise TokenMissing()
    event_filters = EventFilters(**filters)
    return queries.list_events_query(caller, event_filters, mine=mine, visibility_filter=visibility)


@blp.post(
    "/upload-cover",
    access=may(EVENTS_WRITE, whole_organisation=True),
    files=PictureFile,
    returns=Picture,
    status=201,
    max_bytes=MAX_UPLOAD_BYTES,
    errors=UPLOAD_ERRORS,
)
def upload_cover(file: FileStorage) -> StoredPicture:
    """Upload a picture for an event, and get its URL for `coverImageUrl`.

    JPEG, PNG or WebP of up to 5 MiB and 40 megapixels. It is stored without metadata.
    """
    return store_picture(client_id=get_current_caller().client_id, data=file.read())


@blp.post(
    "/<id>/copy",
    access=may(EVENTS_WRITE, whole_organisation=True),
    returns=response_schemas.EventData,
    status=201,
    idempotent=True,
)
def copy_event(id: str) -> Versioned:
    """Copy an own event for the next year: a draft with the same facts, ticket types and prices.

    All times move by 52 weeks, or as many years of 52 weeks as it takes until the copy starts in the future. Tickets,
    stalls, stock and messages stay with the event.
    """
    event = actions.copy_event(caller=get_current_caller(), id=id)
    return queries.serialize_event(get_current_caller(), event), {"ETag": f'"{event.version}"'}


@blp.get("/<id>", access=may(EVENTS_READ), returns=response_schemas.EventData, etag=True, sparse=True)
def read_event(id: str) -> dict[str, object]:
    """Read an own event.

    `fields=name,city` returns only `id` and these fields.
    """
    caller = get_current_caller()
    return queries.serialize_event(caller, queries.get_event(caller, id))


@blp.get("/<id>/missing-facts", access=may(EVENTS_READ), returns=response_schemas.MissingFacts)
def read_missing_facts(id: str) -> dict[str, list[str]]:
    """Read what an event still needs before it can be published."""
    event = queries.get_event(get_current_caller(), id)
    return {"missing": [to_camel_case(name) for name in actions.list_missing_facts(event)]}


@blp.patch(
    "/<id>",
    access=may(EVENTS_WRITE),
    body=schemas.EventChanges,
    returns=response_schemas.EventData,
    etag=True,
    errors=[*PUBLISHING, errors.TicketsCommitted, errors.CapacityCommitted, errors.StallTypeInUse],
)
def change_event(id: str, date_names: dict[str, str], **body: Any) -> Versioned:
    """Change the fields that are sent.

    A list replaces the stored one. Ticket types are matched by `id`, else by name. A type that is not sent is removed,
    which is refused when its tickets are sold or allocated. A stall type that is in use can be neither removed nor
    renamed.
    """
    with schemas.errors_with_api_names(date_names):
        event = actions.change_event(caller=get_current_caller(), id=id, **body)
    return queries.serialize_event(get_current_caller(), event), {"ETag": f'"{event.version}"'}


@blp.delete("/<id>", access=may(EVENTS_WRITE), returns=response_schemas.Removed, etag=True)
def remove_event(id: str, expected_version: int | None) -> actions.RemovedEvent:
    """Delete an event, or cancel it when tickets or other things belong to it; `outcome` says which."""
    return actions.remove_event(caller=get_current_caller(), id=id, expected_version=expected_version)


@blp.get("/<id>/ticket-stats", access=may(EVENTS_READ), returns=response_schemas.Stats, sparse=True)
def ticket_stats(id: str) -> dict[str, object]:
    """Read the sales of an event, per ticket type and per day for charts."""
    return stats.ticket_stats(get_current_caller(), id)

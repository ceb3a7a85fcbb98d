"""The stall types of an event for the organiser, with their places and waitlists."""

from app.accounts.permissions import STALLS_READ
from app.applications import stall_types, waitlist
from app.blueprints.applications import stall_type_schemas
from app.events import queries as events
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint

blp = Blueprint("stall_types", __name__, url_prefix="/api/events", description="The stall types of an event")


@blp.get("/<eventId>/stall-types", access=may(STALLS_READ), returns=stall_type_schemas.StallTypesData)
def list_stall_types(event_id: str) -> dict[str, object]:
    """List the stall types of an event with the places that are taken, and who waits for one in which order.

    A free place goes to the first in line who can get an offer.
    """
    caller = get_current_caller()
    event = events.get_event(caller, event_id)
    lines = waitlist.list_waitlists(caller, event_id)
    types = stall_types.list_places(event_id, event.stall_types)
    return {
        "stall_types": [{**type_._asdict(), "left": type_.left, "line": lines.get(type_.key, ())} for type_ in types]
    }

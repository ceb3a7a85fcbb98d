"""Crew and shifts: `/api/merchants/me/events/{eventId}/crew`."""

from datetime import datetime

from app.accounts.permissions import STALL_MANAGE, STALL_RUN
from app.blueprints.crew import schemas
from app.crew import actions, errors, queries
from app.crew.crew_members import CrewEntry
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint

blp = Blueprint("crew", __name__, url_prefix="/api/merchants/me/events", description="Crew and shifts of a stall")


@blp.get("/<eventId>/crew", access=may(STALL_RUN), returns=schemas.CrewData, etag=True)
def read_crew(event_id: str) -> queries.Crew:
    """Read the crew of one's stall at an event."""
    return queries.get_crew(get_current_caller(), event_id)


@blp.put(
    "/<eventId>/crew",
    access=may(STALL_MANAGE),
    body=schemas.CrewBody,
    returns=schemas.CrewData,
    etag=True,
    errors=[errors.ShiftOpen],
)
def replace_crew(
    event_id: str, crew: list[CrewEntry], expected_version: int | None
) -> tuple[actions.ReplacedCrew, dict[str, str]]:
    """Replace the crew.

    Members who are not in the list are retired and keep their hours. New members, and those with `rotateCode`, have
    their shift code in this response and in no other.
    """
    replaced_crew = actions.replace_crew(
        caller=get_current_caller(), event_id=event_id, expected_version=expected_version, crew=crew
    )
    return replaced_crew, {"ETag": f'"{replaced_crew.version}"'}


@blp.get("/<eventId>/crew/<crewMemberId>/stats", access=may(STALL_RUN), returns=schemas.StatsData)
def crew_stats(event_id: str, crew_member_id: str) -> queries.MemberStats:
    """Read what a member has worked, per day of the event's time zone."""
    return queries.get_member_stats(get_current_caller(), event_id, crew_member_id)


@blp.post(
    "/<eventId>/crew/shift-verify",
    access=may(STALL_RUN),
    body=schemas.VerifyBody,
    returns=schemas.ShiftData,
    errors=[errors.ShiftCodeWrong, errors.ShiftCodeLocked, errors.ShiftTimesCross],
)
def shift_verify(
    event_id: str, code: str, crew_member_id: str | None = None, occurred_at: datetime | None = None
) -> actions.ShiftDetails:
    """Start a shift with its code, or get the one that is open already."""
    return actions.start_shift(
        caller=get_current_caller(),
        event_id=event_id,
        code=code,
        crew_member_id=crew_member_id,
        occurred_at=occurred_at,
    )


@blp.post(
    "/<eventId>/crew/shift-checkout",
    access=may(STALL_RUN),
    body=schemas.CheckoutBody,
    returns=schemas.CheckoutData,
    errors=[errors.NoOpenShift, errors.ShiftTimesCross],
)
def shift_checkout(
    event_id: str, status: str, crew_member_id: str | None = None, occurred_at: datetime | None = None
) -> actions.ShiftStatusChange:
    """End shifts, or start and end breaks, of one member or of everybody at work."""
    return actions.change_shift_status(
        caller=get_current_caller(),
        event_id=event_id,
        status=status,
        crew_member_id=crew_member_id,
        occurred_at=occurred_at,
    )

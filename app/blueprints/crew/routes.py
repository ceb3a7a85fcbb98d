"""Crew and shifts: `/api/merchants/me/events/{eventId}/crew`."""

from datetime import datetime

from flask import Response

from app.accounts.permissions import STALL_MANAGE, STALL_RUN
from app.blueprints.crew import schemas
from app.crew import actions, errors, hours_report, queries
from app.crew.crew_members import CrewEntry
from app.crew.planned_shifts import (
    AtRiskShift,
    PlannedShiftEntry,
    ShiftPlan,
    get_at_risk_shifts,
    get_shift_plan,
    replace_shift_plan,
)
from app.crew.rotating_codes import RotatingCode, get_rotating_code, set_rotating_code
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint
from app.web.rate_limits import Limit

blp = Blueprint("crew", __name__, url_prefix="/api/merchants/me/events", description="Crew and shifts of a stall")
FILE_LIMIT = Limit(60)


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
    errors=[errors.ShiftCodeWrong, errors.ShiftCodeLocked, errors.ShiftTimesCross, errors.StallCodeWrong],
)
def shift_verify(
    event_id: str,
    code: str,
    crew_member_id: str | None = None,
    occurred_at: datetime | None = None,
    stall_code: str | None = None,
) -> actions.ShiftDetails:
    """Start a shift with its code, or get the one that is open already.

    While the stall has a rotating code, send that as `stallCode` too.
    """
    return actions.start_shift(
        caller=get_current_caller(),
        event_id=event_id,
        code=code,
        crew_member_id=crew_member_id,
        occurred_at=occurred_at,
        stall_code=stall_code,
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


@blp.get("/<eventId>/crew/planned-shifts", access=may(STALL_RUN), returns=schemas.ShiftPlanData, etag=True)
def read_planned_shifts(event_id: str) -> ShiftPlan:
    """Read the planned shifts of one's stall at an event, in the order of time."""
    return get_shift_plan(get_current_caller(), event_id)


@blp.put(
    "/<eventId>/crew/planned-shifts",
    access=may(STALL_MANAGE),
    body=schemas.ShiftPlanBody,
    returns=schemas.ShiftPlanData,
    etag=True,
)
def replace_planned_shifts(
    event_id: str, planned_shifts: list[PlannedShiftEntry], expected_version: int | None
) -> tuple[ShiftPlan, dict[str, str]]:
    """Replace the planned shifts.

    A shift has at most 16 hours, and a person has one at a time.
    """
    plan = replace_shift_plan(
        caller=get_current_caller(),
        event_id=event_id,
        expected_version=expected_version,
        planned_shifts=planned_shifts,
    )
    return plan, {"ETag": f'"{plan.version}"'}


@blp.get("/<eventId>/crew/rotating-code", access=may(STALL_RUN), returns=schemas.RotatingCodeData)
def read_rotating_code(event_id: str) -> RotatingCode:
    """Read the present rotating code of one's stall. It changes every 30 seconds."""
    return get_rotating_code(get_current_caller(), event_id)


@blp.put(
    "/<eventId>/crew/rotating-code",
    access=may(STALL_MANAGE),
    body=schemas.RotatingCodeBody,
    returns=schemas.RotatingCodeData,
)
def change_rotating_code(event_id: str, rotating_code: bool) -> RotatingCode:
    """Turn the rotating code of one's stall on or off.

    While it is on, a shift begins only with the code that the stall shows, besides the shift code.
    """
    return set_rotating_code(caller=get_current_caller(), event_id=event_id, rotating_code=rotating_code)


@blp.get("/<eventId>/crew/at-risk", access=may(STALL_RUN), returns=schemas.AtRiskData)
def list_at_risk(event_id: str) -> dict[str, list[AtRiskShift]]:
    """List the planned shifts that have begun, or begin within 30 minutes, whose person is not checked in."""
    return {"planned_shifts": get_at_risk_shifts(get_current_caller(), event_id)}


@blp.get("/<eventId>/crew/hours.csv", access=may(STALL_MANAGE), content_type="text/csv", limit=FILE_LIMIT)
def hours_csv(event_id: str) -> Response:
    """Get the hours of the crew as CSV, a row for each person and day of the event's time zone."""
    report = hours_report.load_hours_report(get_current_caller(), event_id)
    return _build_file_response(hours_report.build_hours_csv(report), "text/csv; charset=utf-8", "csv")


@blp.get("/<eventId>/crew/hours.pdf", access=may(STALL_MANAGE), content_type="application/pdf", limit=FILE_LIMIT)
def hours_pdf(event_id: str) -> Response:
    """Get the hours of the crew as a PDF."""
    report = hours_report.load_hours_report(get_current_caller(), event_id)
    return _build_file_response(hours_report.draw_hours(report), "application/pdf", "pdf")


def _build_file_response(content: bytes, content_type: str, extension: str) -> Response:
    headers = {"Content-Disposition": f"attachment; filename=hours.{extension}", "Cache-Control": "private, no-store"}
    return Response(content, content_type=content_type, headers=headers)

"""Jobs of crew: automatic checkout, planned shifts of an event that moves, and the end of the crew of a deleted merchant or
an ended participation.
"""

from datetime import timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.core.jobs import Delivery, Run, job
from app.core.outbox import enqueue
from app.core.transaction import transaction
from app.crew import crew_members
from app.crew.actions import AUTO_CHECKOUT, IS_OPEN_SQL, check_out_forgotten_shifts
from app.crew.errors import StallHasShifts
from app.crew.models import CrewMember, PlannedShift, Shift
from app.crew.planned_shifts import move_shifts
from app.events.event_changes import EventSchedule, on_event_move
from app.events.event_rows import belongs_to
from app.events.models import Event
from app.invitations.models import Participation
from app.invitations.participation import on_participation_ended
from app.merchants.deletion_hooks import MerchantDeletion, on_merchant_deleted

ERASED_NAME = "Former crew"


@job("crew.close_forgotten_shifts", Delivery.LOCAL, every=timedelta(minutes=15))
def close_forgotten_shifts(run: Run) -> None:
    """Ends shifts that are open for over 16 hours, and deletes expired counts of wrong codes."""
    with transaction() as session:
        run.done_in(session)
        check_out_forgotten_shifts(session)
        crew_members.delete_expired_tries(session)


@on_event_move
def enqueue_shift_moves(session: OrmSession, event: Event, previous: EventSchedule) -> None:
    """Enqueues the move of the planned shifts if the event begins on another day.

    It is a job, because a change of a plan locks the stall before the event.
    """
    days = previous.count_days_to(event.starts_at, event.timezone)
    if days:
        enqueue("crew.move_planned_shifts", event_id=event.id, days=days)


@job("crew.move_planned_shifts", Delivery.LOCAL)
def move_planned_shifts(run: Run, *, event_id: str, days: int) -> None:
    """Moves the planned shifts that have not begun by as many days as the event."""
    with transaction() as session:
        run.done_in(session)
        move_shifts(session, event_id, days)


@on_merchant_deleted
def erase_crew(session: OrmSession, deletion: MerchantDeletion) -> None:
    """Ends open shifts, deletes planned ones, and erases the crew's names and contacts; their hours stay."""
    of_merchant = CrewMember.merchant_id == deletion.account_id
    shift_update = (
        update(Shift)
        .where(Shift.crew_member_id.in_(select(CrewMember.id).where(of_merchant)), IS_OPEN_SQL)
        .values(ended_at=func.now(), changed_at=func.now(), ended_by=AUTO_CHECKOUT, break_since=None)
    )
    session.execute(delete(PlannedShift).where(PlannedShift.merchant_id == deletion.account_id))
    session.execute(
        update(CrewMember)
        .where(of_merchant)
        .values(name=ERASED_NAME, phone=None, email=None, retired_at=func.coalesce(CrewMember.retired_at, func.now()))
        .add_cte(shift_update.cte("shift_update"))
        .execution_options(synchronize_session=False)
    )


@on_participation_ended
def delete_crew(session: OrmSession, participation: Participation) -> None:
    """Deletes the crew of a stall and its planned shifts. Raises StallHasShifts if somebody has worked there."""
    merchant_id, event_id = participation.merchant_id, participation.event_id
    of_stall = (CrewMember.merchant_id == merchant_id, CrewMember.event_id == event_id)
    shift_query = select(Shift.id).join(CrewMember, belongs_to(Shift.crew_member_id, CrewMember)).where(*of_stall)
    if session.scalar(shift_query.limit(1)) is not None:
        raise StallHasShifts()
    plan_of_stall = (PlannedShift.merchant_id == merchant_id, PlannedShift.event_id == event_id)
    session.execute(delete(PlannedShift).where(*plan_of_stall).execution_options(synchronize_session=False))
    session.execute(delete(CrewMember).where(*of_stall).execution_options(synchronize_session=False))

"""What happens at stalls by itself."""

from datetime import timedelta

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.core.jobs import Delivery, Run, job
from app.core.transaction import transaction
from app.crew import guard
from app.crew.closing import AUTO, OPEN, close_forgotten
from app.crew.models import CrewMember, Shift
from app.merchants.farewell import Erased, forgets_merchants

FORMER = "Former crew"


@job("crew.close_forgotten_shifts", Delivery.LOCAL, every=timedelta(minutes=15))
def close_forgotten_shifts(run: Run) -> None:
    """Ends shifts that are open for over 16 hours, and forgets wrong codes that no longer count."""
    with transaction() as session:
        run.done_in(session)
        close_forgotten(session)
        guard.forget_old(session)


@forgets_merchants
def forget(session: OrmSession, erased: Erased) -> None:
    """Ends what is open, and keeps hours without names."""
    theirs = CrewMember.merchant_id == erased.account_id
    listed = erased.covers(func.coalesce(CrewMember.listed_at, CrewMember.created_at))
    members = select(CrewMember.id).where(theirs, listed)
    session.execute(
        update(Shift)
        .where(Shift.crew_member_id.in_(members), OPEN, erased.covers(Shift.started_at))
        .values(ended_at=func.now(), changed_at=func.now(), ended_by=AUTO, break_since=None)
        .execution_options(synchronize_session=False)
    )
    session.execute(
        update(CrewMember)
        .where(theirs, listed)
        .values(name=FORMER, phone=None, email=None, retired_at=func.coalesce(CrewMember.retired_at, func.now()))
        .execution_options(synchronize_session=False)
    )

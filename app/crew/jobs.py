"""What happens at stalls by itself."""

from datetime import timedelta

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session as OrmSession

from app.core.jobs import Delivery, Run, job
from app.core.transaction import transaction
from app.crew import guard
from app.crew.closing import AUTO, OPEN, close_forgotten
from app.crew.models import CrewMember, Shift
from app.merchants.deletion_hooks import MerchantDeletion, on_merchant_deleted

FORMER = "Former crew"


@job("crew.close_forgotten_shifts", Delivery.LOCAL, every=timedelta(minutes=15))
def close_forgotten_shifts(run: Run) -> None:
    """Ends shifts that are open for over 16 hours, and forgets wrong codes that no longer count."""
    with transaction() as session:
        run.done_in(session)
        close_forgotten(session)
        guard.forget_old(session)


@on_merchant_deleted
def erase_crew(session: OrmSession, leaving: MerchantDeletion) -> None:
    """Ends what is open, and keeps hours without names."""
    theirs = CrewMember.merchant_id == leaving.account_id
    ended = (
        update(Shift)
        .where(Shift.crew_member_id.in_(select(CrewMember.id).where(theirs)), OPEN)
        .values(ended_at=func.now(), changed_at=func.now(), ended_by=AUTO, break_since=None)
    )
    session.execute(
        update(CrewMember)
        .where(theirs)
        .values(name=FORMER, phone=None, email=None, retired_at=func.coalesce(CrewMember.retired_at, func.now()))
        .add_cte(ended.cte("ended"))
        .execution_options(synchronize_session=False)
    )

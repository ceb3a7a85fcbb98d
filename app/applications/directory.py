"""The merchant directory for an event, with the applications that its merchants have sent to the event."""

from sqlalchemy import ScalarSelect, select

from app.accounts.caller import Caller
from app.applications.models import Application
from app.applications.states import ACTIVATED, OPEN_STATES
from app.invitations import directory
from app.invitations.queries import ListQuery
from app.merchants.models import MerchantProfile


def list_directory_query(
    caller: Caller, event_id: str, *, q: str | None = None, category: str | None = None, city: str | None = None
) -> ListQuery:
    """The directory of `app.invitations`, with the state of each merchant's newest application that has not ended.

    Raises NotFound for the event.
    """
    statement = directory.list_directory_query(caller, event_id, q=q, category=category, city=city)
    return statement.add_columns(_application_status_sql(event_id).label("application_status"))


def _application_status_sql(event_id: str) -> ScalarSelect[str]:
    statement = (
        select(Application.status)
        .where(
            Application.account_id == MerchantProfile.account_id,
            Application.event_id == event_id,
            Application.status.in_((*OPEN_STATES, ACTIVATED)),
        )
        .order_by(Application.created_at.desc(), Application.id.desc())
        .limit(1)
    )
    return statement.correlate(MerchantProfile).scalar_subquery()

"""The action of a person who asks for a copy of their data."""

from sqlalchemy.dialects.postgresql import insert

from app.accounts.caller import Caller
from app.accounts.data_export import EXPORTS_PER_DAY
from app.accounts.errors import ExportInProgress
from app.accounts.personal_data_models import DataExport
from app.audit.actions import Action
from app.audit.log import record
from app.core import throttle
from app.core.errors import Throttled
from app.core.ids import new_id
from app.core.outbox import enqueue
from app.core.transaction import transaction


def request_export(*, caller: Caller) -> None:
    """Has a copy of the caller's data made; its link comes by mail. One at a time, and one a day.

    Raises ExportInProgress, Throttled.
    """
    with transaction() as session:
        # The unique index of queued exports lets one of concurrent requests through.
        statement = insert(DataExport).values(id=new_id(), account_id=caller.id).on_conflict_do_nothing()
        export_id = session.scalar(statement.returning(DataExport.id))
        if export_id is None:
            raise ExportInProgress()
        daily_limit = throttle.hit(session, EXPORTS_PER_DAY, caller.id)
        if daily_limit.exceeded:
            raise Throttled("You can have one copy of your data a day.", retry_after=daily_limit.seconds)
        record(session, Action.OWN_DATA_EXPORTED, caller=caller, account_id=caller.id, subject=caller.id)
        enqueue("accounts.export_data", export_id=export_id)

"""Work of allocations that leaves the request: letters, and blocks whose time has come."""

import app.allocations.invoicing.models
import app.allocations.tickets.models  # noqa: F401
from app.allocations import books, deliveries
from app.allocations.actions.release import release
from app.core.errors import NotFound
from app.core.jobs import Delivery, Run, job
from app.core.transaction import transaction

__all__ = ["deliveries", "release_in_time"]


@job("allocations.release", Delivery.LOCAL)
def release_in_time(run: Run, *, block_id: str) -> None:
    """Gives what nobody has claimed back to the public, at the block's `release_at`."""
    with transaction() as session:
        run.done_in(session)
        try:
            block = books.locked_behind(session, block_id=block_id)
        except NotFound:
            return
        if block["over"]:
            release(session, block, books.SERVICE)

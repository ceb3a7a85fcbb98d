"""What the desk shows of an organisation: `/api/organisations/me/tasks`.

A caller with several teams sees all of them, or that of `Team-Id`. The tier of an admin does not count, as at the desk.
"""

from dataclasses import replace

from app.accounts.caller import Caller
from app.accounts.permissions import EVENTS_READ
from app.blueprints.desk import schemas
from app.desk.tasks import Task, list_tasks
from app.web.access import get_current_caller, may
from app.web.blueprint import Blueprint

blp = Blueprint("organiser_desk", __name__, url_prefix="/api/organisations/me", description="The desk of organisers")
READ = may(EVENTS_READ)


@blp.get("/tasks", access=READ, returns=schemas.TasksData)
def list_waiting_tasks() -> dict[str, list[Task]]:
    """List what waits for you, counted by kind and event: the most urgent kind first, then the next event.

    It has only what your role may do something about.
    """
    return {"tasks": list_tasks(_get_caller_without_tier())}


def _get_caller_without_tier() -> Caller:
    return replace(get_current_caller(), tier=None)

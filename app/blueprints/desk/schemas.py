"""Response schemas of the desk."""

from marshmallow import fields

from app.desk.tasks import APPLICATIONS, TASK_QUERIES
from app.web.fields import List, Nested, WholeNumber
from app.web.schema import Schema


class TaskRow(Schema):
    """What waits at an event."""

    kind = fields.String(
        required=True,
        metadata={
            "enum": list(TASK_QUERIES),
            "example": APPLICATIONS,
            "description": "What waits: `conflicts` at the gate, `applications` to decide, `refunds` that were refused, "
            "`fees` that are overdue, messages that are `undelivered`, items with `low_stock`, a draft to `publish`, "
            "or a `settlement` report to make.",
        },
    )
    event_id = fields.String(required=True)
    event_name = fields.String(required=True)
    count = WholeNumber(required=True, metadata={"example": 3, "description": "How many wait."})


class TasksData(Schema):
    """What waits for the caller."""

    tasks = List(Nested(TaskRow), required=True, metadata={"description": "What waits, the most urgent kind first."})

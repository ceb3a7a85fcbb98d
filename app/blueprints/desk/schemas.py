"""Request and response schemas of the desk."""

from marshmallow import fields

from app.desk.search import GUESTS, KINDS, MAX_LENGTH, MIN_LENGTH
from app.desk.search_sql import MAX_HITS
from app.desk.tasks import APPLICATIONS, TASK_QUERIES
from app.files.states import DONE, STEPS
from app.web.fields import Boolean, List, Nested, Text, TimeField, WholeNumber
from app.web.schema import Query, Schema


class TaskRow(Schema):
    """What waits at an event."""

    kind = fields.String(
        required=True,
        metadata={
            "enum": list(TASK_QUERIES),
            "example": APPLICATIONS,
            "description": "What waits: `conflicts` at the gate, `applications` to decide, handed in `documents` that "
            "nobody has accepted or asked for again, missing `bank_details` while fees are due, `refunds` that were refused, "
            "`owed_back`: invoices of blocks for which you owe money back, `fees` and `invoices` of blocks that are overdue, "
            "`failed_mails` to applicants and guests, messages that are `undelivered`, items with "
            "`low_stock`, a draft to `publish`, or a `settlement` report to make. After a cancellation: `cancelled_guests` and "
            "`cancelled_stalls` (one each: nobody has written to these people since), `cancelled_holders`: holders of blocks with "
            "unused places, `cancelled_applications` that wait for a "
            "decision, `cancelled_sales`: tickets that are sold in your shop, `cancelled_fees` that were paid and not "
            "sent back, and `cancelled_invoices` to credit.",
        },
    )
    event_id = fields.String(required=True)
    event_name = fields.String(required=True)
    count = WholeNumber(required=True, metadata={"example": 3, "description": "How many wait."})


class TasksData(Schema):
    """What waits for the caller."""

    tasks = List(Nested(TaskRow), required=True, metadata={"description": "What waits, the most urgent kind first."})


class SearchQuery(Query):
    """What to search for."""

    q = Text(
        min=MIN_LENGTH,
        max=MAX_LENGTH,
        required=True,
        metadata={
            "example": "frieda",
            "description": f"Words; at least {MIN_LENGTH} letters or digits find something.",
        },
    )


class HitRow(Schema):
    """Something that was found."""

    id = fields.String(
        required=True,
        metadata={"description": "Its id; for the invoice of a block the id of the block."},
    )
    title = fields.String(required=True, metadata={"example": "Frieda Amupolo", "description": "Its name or number."})
    detail = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "example": "claimed · frieda@example.com",
            "description": "More about it, in parts that ` · ` separates; of a guest it begins with the state.",
        },
    )
    parent_id = fields.String(
        required=True,
        allow_none=True,
        attribute="parent",
        metadata={"description": "Id of the block of a place, or of the application of its invoice; null for others."},
    )
    event_id = fields.String(required=True)
    event_name = fields.String(required=True)
    order_number = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "example": "K7TNE",
            "description": "The number of a ticket's order; null if it has none, or if it is the code and you may not see codes.",
        },
    )
    ticket_type = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": "Weekend pass", "description": "The ticket type of a guest; null for others."},
    )


class GroupRow(Schema):
    """The first things of a kind that were found."""

    kind = fields.String(
        required=True, metadata={"enum": list(KINDS), "example": GUESTS, "description": "Kind of what was found."}
    )
    hits = List(Nested(HitRow), required=True, metadata={"description": f"The first {MAX_HITS} that were found."})
    has_more = Boolean(required=True, metadata={"example": False, "description": "Whether there are more."})


class SearchData(Schema):
    """What was found, by kind."""

    groups = List(Nested(GroupRow), required=True, metadata={"description": "Only kinds of which something was found."})


class OrganisationFileRow(Schema):
    """What a worker makes, without its content."""

    id = fields.String(required=True)
    kind = fields.String(
        required=True,
        metadata={
            "example": "settlement",
            "description": "What it is; `stock_report` and `stock_import` begin with the kind of the stock.",
        },
    )
    event_id = fields.String(
        required=True, allow_none=True, metadata={"description": "Id of the event; null for the whole organisation."}
    )
    event_name = fields.String(required=True, allow_none=True)
    status = fields.String(
        required=True,
        metadata={
            "enum": list(STEPS),
            "example": DONE,
            "description": "How far it is; if it `failed`, the message says why.",
        },
    )
    progress = WholeNumber(required=True, metadata={"example": 100, "description": "How much is done, in percent."})
    message = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": None, "description": "Why it failed, or what it did; null while it works."},
    )
    has_content = Boolean(required=True, metadata={"example": True, "description": "Whether there is a file."})
    kilobytes = WholeNumber(
        required=True, allow_none=True, metadata={"example": 84, "description": "Size of the file, rounded up."}
    )
    asked_by = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": "Nangula Shikongo", "description": "Name of the person who asked for it."},
    )
    may_delete = Boolean(required=True, metadata={"description": "Whether you may delete it."})
    created_at = TimeField(required=True)

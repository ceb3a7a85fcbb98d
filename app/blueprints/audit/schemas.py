"""Request and response schemas of the audit trail."""

from marshmallow import fields

from app.audit.actions import ACTOR_KINDS, AREAS, Action
from app.web.fields import Choice, EndTimeField, Id, Text, TimeField
from app.web.schema import Query, Schema

ACTIONS = [action.value for action in Action]
ID = {"example": "6565a1f0c3d2e1b0a9f8e7d6"}
NAIVE_TIMES = "a time without an offset is in the event's zone, elsewhere in that of Windhoek"


def _id(description: str) -> fields.String:
    """An id that may be missing. It may be that of a thing that is gone."""
    return fields.String(required=True, allow_none=True, metadata={**ID, "description": description})


class AuditQuery(Query):
    """The entries to return."""

    action = Choice(*ACTIONS, metadata={"example": Action.PAYOUT_REQUESTED.value})
    area = Choice(*AREAS, metadata={"example": "money", "description": "all actions of this area"})
    actor = Id(metadata={"description": "who acted: an account, a session, a device or an API key"})
    subject = Text(
        max=120, metadata={"example": "6565a1f0c3d2e1b0a9f8e7d6", "description": "id of what it was done on"}
    )
    since = TimeField(data_key="from", metadata={"description": NAIVE_TIMES})
    until = EndTimeField(data_key="to")


class AdminAuditQuery(AuditQuery):
    """The entries to return, of an organisation, an event or an account."""

    organisation_id = Id(metadata={"description": "the organisation of the event, or itself"})
    event_id = Id()
    account_id = Id(metadata={"description": "the account that acted, or on which it was done"})


class AuditEntryRow(Schema):
    """An act. It has ids; the name of the actor is the present one."""

    id = fields.String(required=True)
    at = TimeField(required=True)
    action = fields.String(
        required=True,
        metadata={"enum": ACTIONS, "example": Action.PAYOUT_REQUESTED.value, "description": "what was done"},
    )
    actor_kind = fields.String(
        required=True,
        metadata={
            "enum": list(ACTOR_KINDS),
            "example": "person",
            "description": "`system` is a job or a command, `guest` a person who is not signed in",
        },
    )
    actor_id = _id("the account that acted, or for which a device or a key acted")
    actor_name = fields.String(
        required=True, allow_none=True, metadata={"example": "Ndapewa Iita", "description": "their name now"}
    )
    session_id = _id("the session, the device or the key")
    organisation_id = _id("the organisation in which it was done")
    event_id = _id("the event on which it was done")
    account_id = _id("the account on which it was done")
    subject_kind = fields.String(required=True, metadata={"example": "payout", "description": "kind of the thing"})
    subject_id = _id("the thing on which it was done")
    network = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": "196.44.130.0/24", "description": "the client's network, truncated; null for jobs"},
    )
    request_id = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": "5f3c9a1be2d04c77", "description": "the request or the job, as in the log"},
    )
    data = fields.Dict(
        required=True,
        metadata={"example": {"amountMinor": 50000}, "description": "more about the act; never names or addresses"},
    )

"""Request and response schemas of the audit trail."""

from marshmallow import fields

from app.audit.actions import ACTOR_KINDS, AREAS, Action
from app.web.fields import Choice, EndTimeField, Id, Text, TimeField
from app.web.schema import Query, Schema

ACTIONS = [action.value for action in Action]
NAIVE_TIMES = "a time without an offset is in the event's zone, elsewhere in that of Windhoek"


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


class OrganisationAuditQuery(AuditQuery):
    """The entries to return, of one of several organisations."""

    organisation_id = Id(metadata={"description": "one of several organisations; by default your own"})


class AdminAuditQuery(AuditQuery):
    """The entries to return, of an organisation, an event or an account."""

    organisation_id = Id(metadata={"description": "the organisation of the event, or itself"})
    event_id = Id()
    account_id = Id(metadata={"description": "the account that acted, or on which it was done"})


class AuditEntryRow(Schema):
    """An act. It has ids; the name of the actor is the present one."""

    id = fields.String(required=True)
    at = TimeField(required=True)
    action = fields.String(required=True, metadata={"enum": ACTIONS, "example": Action.PAYOUT_REQUESTED.value})
    actor_kind = fields.String(required=True, metadata={"enum": list(ACTOR_KINDS), "example": "person"})
    actor_id = fields.String(required=True, allow_none=True)
    actor_name = fields.String(required=True, allow_none=True)
    session_id = fields.String(required=True, allow_none=True)
    organisation_id = fields.String(required=True, allow_none=True)
    event_id = fields.String(required=True, allow_none=True)
    account_id = fields.String(required=True, allow_none=True)
    subject_kind = fields.String(required=True)
    subject_id = fields.String(required=True, allow_none=True)
    network = fields.String(required=True, allow_none=True)
    request_id = fields.String(required=True, allow_none=True)
    data = fields.Dict(required=True)

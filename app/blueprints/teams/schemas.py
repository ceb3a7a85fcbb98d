"""Request and response schemas of teams, devices and API keys."""

from typing import Any

from marshmallow import fields, post_load

from app.accounts.organisation_details import BankDetails
from app.accounts.permissions import DEVICE_KINDS, MERCHANT, ORGANISER, OWNER, ROLES, SCOPES
from app.web.confirmation import ConfirmedBody
from app.web.fields import Boolean, Choice, Email, EndTimeField, Id, List, Nested, Secret, Text, TimeField
from app.web.schema import Query, Schema
from app.web.text_fields import BankNumber, EmailName, GroupedDigits, Name, PostalAddress, UploadUrl

MAX_EVENTS = 100
ID = {"example": "6565a1f0c3d2e1b0a9f8e7d6"}
EVENT_IDS = {
    "example": None,
    "description": "the events that the role is limited to; null or absent for all",
}
ALL_ROLES = list(dict.fromkeys((*ROLES[ORGANISER], *ROLES[MERCHANT])))
ROLE = {"enum": ALL_ROLES, "example": "door", "description": "The role in the team."}
OFFERED_ROLES = {kind: tuple(role for role in roles if role != OWNER) for kind, roles in ROLES.items()}

PENDING_CONTACT = {
    "example": None,
    "description": "The contact address that its mailbox has not confirmed yet; null when nothing waits.",
}
CONTACT = {
    "example": "hello@windhoek-lights.example",
    "description": "Where guests, merchants and the public write to; null for the address with which the owner signs in. A new one counts when the link of a mail to it was opened.",
}


class BankDetailsBody(Schema):
    account_name = Name(required=True, min=2, max=120, metadata={"example": "Windhoek Lights CC"})
    account_number = BankNumber(required=True, max=34, metadata={"example": "62 0012 3456 7"})
    bank_name = Text(required=True, min=2, max=120, metadata={"example": "Bank Windhoek"})
    branch_code = BankNumber(max=20, allow_none=True, metadata={"example": "482172"})

    @post_load
    def build(self, values: dict[str, Any], **_: object) -> BankDetails:
        return BankDetails(**{"branch_code": None, **values})


class OrganisationData(Schema):
    id = fields.String(required=True, metadata=ID)
    name = fields.String(required=True, metadata={"example": "Windhoek Lights"})
    address = fields.String(required=True, allow_none=True, metadata={"example": "12 Lüderitz Street, Windhoek"})
    vat_number = fields.String(required=True, allow_none=True, metadata={"example": "1234567015"})
    contact_email = fields.String(required=True, allow_none=True, metadata=CONTACT)
    pending_contact_email = fields.String(required=True, allow_none=True, metadata=PENDING_CONTACT)
    bank = Nested(BankDetailsBody, required=True, allow_none=True)
    logo_url = fields.String(required=True, allow_none=True)
    requires_second_factor = Boolean(required=True)
    transfers_only = Boolean(
        required=True, metadata={"description": "stall fees are paid by bank transfer, and not from mobile wallets"}
    )


class OrganisationChanges(ConfirmedBody):
    name = Name(min=2, max=200, metadata={"example": "Windhoek Lights"})
    address = PostalAddress(allow_none=True, metadata={"example": "12 Lüderitz Street, Windhoek"})
    vat_number = GroupedDigits(max=20, allow_none=True, metadata={"example": "1234567015"})
    contact_email = Email(allow_none=True, metadata=CONTACT)
    bank = Nested(BankDetailsBody, allow_none=True, metadata={"rare": True})
    logo = UploadUrl(data_key="logoUrl", allow_none=True, metadata={"rare": True})
    requires_second_factor = Boolean(metadata={"example": False})
    transfers_only = Boolean(
        metadata={"example": False, "description": "stall fees are paid by bank transfer, and not from mobile wallets"}
    )


class MemberBody(Schema):
    email = Email(required=True)
    role = Choice(
        *OFFERED_ROLES[ORGANISER], required=True, metadata={"example": "door", "description": "The role in the team."}
    )
    event_ids = List(Id(), min=1, max=MAX_EVENTS, allow_none=True, metadata=EVENT_IDS)


class MerchantMemberBody(Schema):
    email = Email(required=True)
    role = Choice(
        *OFFERED_ROLES[MERCHANT], required=True, metadata={"example": "cashier", "description": "The role in the team."}
    )


class MemberChanges(Schema):
    role = Choice(*OFFERED_ROLES[ORGANISER], metadata={"example": "door", "description": "The role in the team."})
    event_ids = List(Id(), min=1, max=MAX_EVENTS, allow_none=True, metadata=EVENT_IDS)


class MerchantMemberChanges(Schema):
    role = Choice(
        *OFFERED_ROLES[MERCHANT], required=True, metadata={"example": "cashier", "description": "The role in the team."}
    )


class OwnershipBody(ConfirmedBody):
    pass


class MemberRow(Schema):
    id = fields.String(required=True, metadata=ID)
    account_id = fields.String(required=True, metadata=ID)
    name = fields.String(required=True)
    email = fields.String(required=True)
    role = fields.String(required=True, metadata=ROLE)
    event_ids = fields.List(fields.String(), required=True, allow_none=True, metadata=EVENT_IDS)
    since = TimeField(required=True)


class RemovalQuery(Query):
    end_devices_and_keys = Boolean(
        load_default=False, metadata={"description": "ends the devices and API keys that the member made, too"}
    )


class RemovalData(Schema):
    working_devices = fields.Integer(required=True, metadata={"example": 2})
    working_api_keys = fields.Integer(required=True, metadata={"example": 1})
    ended_devices = fields.Integer(required=True, metadata={"example": 0})
    ended_api_keys = fields.Integer(required=True, metadata={"example": 0})


class CreatorRow(Schema):
    account_id = fields.String(required=True, attribute="id", metadata=ID)
    name = fields.String(required=True)


class MemberChanged(Schema):
    id = fields.String(required=True, metadata=ID)
    role = fields.String(required=True, metadata=ROLE)
    event_ids = fields.List(fields.String(), required=True, allow_none=True, metadata=EVENT_IDS)


class TeamInviteRow(Schema):
    id = fields.String(required=True, metadata=ID)
    email = fields.String(required=True)
    role = fields.String(required=True, metadata=ROLE)
    event_ids = fields.List(fields.String(), required=True, allow_none=True, metadata=EVENT_IDS)
    created_at = TimeField(required=True)
    expires_at = TimeField(required=True)


class MembersData(Schema):
    members = fields.List(fields.Nested(MemberRow), required=True)
    invitations = fields.List(fields.Nested(TeamInviteRow), required=True)


class InvitationData(Schema):
    id = fields.String(required=True, metadata=ID)
    kind = fields.String(required=True, metadata={"enum": [ORGANISER, MERCHANT], "example": ORGANISER})
    team_name = fields.String(required=True, metadata={"example": "Windhoek Lights"})
    email = fields.String(required=True)
    role = fields.String(required=True, metadata=ROLE)
    event_names = fields.List(fields.String(), required=True, metadata={"example": ["Windhoek Lights"]})
    expires_at = TimeField(required=True)


class JoinedData(Schema):
    kind = fields.String(required=True, metadata={"enum": [ORGANISER, MERCHANT], "example": ORGANISER})
    team_id = fields.String(required=True, attribute="id", metadata=ID)


class MembershipRow(Schema):
    id = fields.String(required=True, metadata=ID)
    team_id = fields.String(required=True, metadata=ID)
    kind = fields.String(required=True, metadata={"enum": [ORGANISER, MERCHANT], "example": ORGANISER})
    team_name = fields.String(required=True, metadata={"example": "Windhoek Lights"})
    role = fields.String(required=True, metadata=ROLE)
    event_ids = fields.List(fields.String(), required=True, allow_none=True, metadata=EVENT_IDS)


class MembershipsData(Schema):
    memberships = fields.List(fields.Nested(MembershipRow), required=True)


class EventDeviceBody(Schema):
    kind = Choice(*DEVICE_KINDS, required=True, metadata={"example": "gate"})
    name = EmailName(required=True, max=80, metadata={"example": "Gate A, phone 1"})


class EventDeviceRow(Schema):
    id = fields.String(required=True, metadata=ID)
    kind = fields.String(required=True, metadata={"enum": list(DEVICE_KINDS), "example": "gate"})
    name = fields.String(required=True)
    created_at = TimeField(required=True)
    created_by = fields.Nested(CreatorRow, required=True, attribute="creator")
    paired_at = TimeField(required=True, allow_none=True)
    last_seen_at = TimeField(required=True, allow_none=True)


class EventDevicesData(Schema):
    devices = fields.List(fields.Nested(EventDeviceRow), required=True)


class NewEventDevice(EventDeviceRow):
    pairing_code = fields.String(required=True, metadata={"example": "7K3QF9M2XA"})
    pairing_url = fields.String(required=True, metadata={"example": "https://example.com/pair/7K3QF9M2XA"})
    pairing_qr = fields.String(required=True, metadata={"example": "data:image/svg+xml,…"})
    pairing_expires_at = TimeField(required=True)


class PairBody(Schema):
    code = Secret(required=True, min=1, max=40, metadata={"example": "7K3QF9M2XA"})


class PairedData(Schema):
    id = fields.String(required=True, metadata=ID)
    kind = fields.String(required=True, metadata={"enum": list(DEVICE_KINDS), "example": "gate"})
    name = fields.String(required=True)
    event_id = fields.String(required=True, metadata=ID)
    event_name = fields.String(required=True)
    device_token = fields.String(required=True, metadata={"example": "ecd_…"})
    works_until = TimeField(required=True)


class ApiKeyBody(ConfirmedBody):
    name = Name(required=True, max=80, metadata={"example": "Ticket shop"})
    scopes = List(Choice(*SCOPES), required=True, min=1, max=len(SCOPES), metadata={"example": ["gate"]})
    expires_at = EndTimeField(allow_none=True, metadata={"description": "by default it works until you end it"})


class ApiKeyRow(Schema):
    id = fields.String(required=True, metadata=ID)
    name = fields.String(required=True)
    scopes = fields.List(fields.String(), required=True, metadata={"example": ["gate"]})
    hint = fields.String(required=True, metadata={"example": "x7Qa"})
    created_at = TimeField(required=True)
    created_by = fields.Nested(CreatorRow, required=True, attribute="creator")
    expires_at = TimeField(required=True, allow_none=True)
    last_used_at = TimeField(required=True, allow_none=True)


class ApiKeysData(Schema):
    api_keys = fields.List(fields.Nested(ApiKeyRow), required=True)


class NewApiKey(ApiKeyRow):
    key = fields.String(required=True, metadata={"example": "eck_live_…"})


def list_attributes(schema: type[Schema], row: object) -> dict[str, object]:
    """The attributes of the row that the schema shows, for a response with more fields."""
    names = [field.attribute or name for name, field in schema().fields.items()]
    return {name: getattr(row, name) for name in names}

"""Requests and responses of a merchant's own operations (specification 4.3)."""

import re
from typing import Any

from marshmallow import fields

from app.merchants.states import FLOOR_STATUSES, STATUSES
from app.web.fields import Boolean, Choice, List, Nested, Phone, Secret, Text, TimeField, WholeNumber, field_error
from app.web.payout_detail_fields import Digits, Msisdn
from app.web.schema import Schema
from app.web.text_fields import Name, NewPassword, Zone

PASSWORD_METADATA = {"example": "a quiet evening at Sossusvlei", "format": "password"}
_LANGUAGE_PATTERN = re.compile(r"[a-zA-Z]{2,3}(-[a-zA-Z0-9]{2,8}){0,3}")


class Language(Text):
    """A language tag."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not _LANGUAGE_PATTERN.fullmatch(text):
            raise field_error("unknown_value", "Must be a language tag, like en or af-NA.")
        return text


class Confirmation(fields.Field[Any]):
    """A confirmation: a given word, in any letter case, or true."""

    def __init__(self, word: str) -> None:
        metadata = {"example": word, "description": f"`{word}` in any letter case, or `true`"}
        super().__init__(required=True, metadata=metadata, error_messages={"required": "This field is required."})
        self.word = word

    def make_error(self, key: str, **kwargs: object) -> Any:
        return field_error("required", "This field is required.")

    def _deserialize(self, value: object, attr: str | None, data: object, **kwargs: object) -> bool:
        is_confirmed = value is True or (isinstance(value, str) and value.strip().upper() == self.word)
        if not is_confirmed:
            raise field_error("not_confirmed", f"Must be {self.word}, or true.")
        return True


class PayoutDetails(Schema):
    """Where payouts go. A missing field stays as it is; null removes it."""

    destination = Choice("payrail", "bank", allow_none=True)
    account_name = Name(min=2, max=120, allow_none=True, metadata={"example": "Kapana Corner CC"})
    account_number = Digits(max=34, allow_none=True, metadata={"example": "62 0012 3456 7"})
    bank_name = Text(min=2, max=120, allow_none=True, metadata={"example": "Bank Windhoek"})
    branch_code = Digits(max=20, allow_none=True, metadata={"example": "482172"})
    msisdn = Msisdn(allow_none=True, metadata={"example": "+264811234567"})


class Channels(Schema):
    email = Boolean()
    sms = Boolean()
    push = Boolean()


class SettingsBody(Schema):
    """Missing fields stay as they are."""

    language = Language(max=35, metadata={"example": "en"})
    notifications = Nested(Channels)
    timezone = Zone(max=64, metadata={"example": "Africa/Windhoek"})
    auto_accept_invites = Boolean(metadata={"description": "accept invitations without a fee automatically"})


class MerchantChanges(Schema):
    name = Name(min=2, max=120, metadata={"example": "Frieda Amupolo"})
    phone = Phone(min=4, max=32, allow_none=True)
    business_name = Name(min=2, max=200, metadata={"example": "Kapana Corner"})
    stall_name = Name(max=100, allow_none=True, metadata={"example": "Kapana Corner, gate B"})
    category = Text(max=80, allow_none=True, metadata={"example": "food", "description": "for the directory"})
    city = Text(max=120, allow_none=True, metadata={"example": "Windhoek", "description": "for the directory"})
    payout_details = Nested(PayoutDetails, required=True)
    settings = Nested(SettingsBody, required=True)


class ChangePasswordBody(Schema):
    current_password = Secret(required=True, max=128, metadata=PASSWORD_METADATA)
    new_password = NewPassword(required=True, metadata=PASSWORD_METADATA)


class ResumeBody(Schema):
    current_password = Secret(required=True, metadata=PASSWORD_METADATA)
    confirmation = Confirmation("RESUME")


class DeleteBody(Schema):
    current_password = Secret(required=True, metadata=PASSWORD_METADATA)
    confirmation = Confirmation("DELETE")


class MerchantAccount(Schema):
    id = fields.String(required=True)
    name = fields.String(required=True)
    email = fields.String(required=True)
    roles = List(fields.String(metadata={"example": "merchant"}), required=True)
    phone = fields.String(metadata={"example": "+264811234567", "description": "present only when set"})
    email_verified = Boolean(required=True)
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "example": STATUSES[0]})
    business_name = fields.String(required=True, allow_none=True)
    stall_name = fields.String(required=True, allow_none=True)
    category = fields.String(required=True, allow_none=True)
    city = fields.String(required=True, allow_none=True)
    payout_details = Nested(PayoutDetails, required=True, metadata={"description": "numbers are masked"})
    settings = Nested(SettingsBody, required=True)
    floor_status = fields.String(required=True, metadata={"enum": list(FLOOR_STATUSES), "example": FLOOR_STATUSES[0]})
    version = WholeNumber(required=True)


class StatusData(Schema):
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "example": STATUSES[0]})
    paused_at = TimeField(allow_none=True)


class DeletedData(Schema):
    status = fields.String(required=True, metadata={"enum": list(STATUSES), "example": STATUSES[-1]})
    money_may_return_until = TimeField(
        required=True,
        allow_none=True,
        metadata={"description": "until then a bank or wallet may return the last payout"},
    )

"""Requests and responses of the operations on preferences and push devices."""

from typing import Any

from marshmallow import fields

from app.subscriptions.channels import PLATFORMS
from app.web.fields import Boolean, Choice, Id, List, Nested, Secret, TimeField, WholeNumber, field_error
from app.web.schema import Schema

MAX_TOKEN_LENGTH, MAX_RESUBSCRIBES = 1024, 200
TOKEN_METADATA = {
    "example": "fcm:dGhpcyBpcyBubyB0b2tlbg",
    "description": "the token that the push service gave to the app",
}
FROM_ALL_METADATA = {"description": "true: no organiser may write, on any channel"}


class DeviceToken(Secret):
    """A token of a push service: printable ASCII."""

    def __init__(self) -> None:
        super().__init__(max=MAX_TOKEN_LENGTH, required=True, metadata=TOKEN_METADATA)

    def _deserialize(self, value: object, attr: str | None, data: object, **kwargs: object) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not (text.isascii() and text.isprintable()):
            raise field_error("invalid_characters", "Must be printable ASCII.")
        return text


class Preferences(Schema):
    email = Boolean(required=True)
    sms = Boolean(required=True)
    push = Boolean(required=True)
    unsubscribed_from_all = Boolean(required=True, metadata=FROM_ALL_METADATA)


class Ended(Schema):
    organiser_id = Id(required=True)
    name = fields.String(required=True)
    since = TimeField(required=True)


class PreferencesData(Preferences):
    unsubscribed_from = List(Nested(Ended), required=True, metadata={"description": "organisers who may not write"})
    version = WholeNumber(required=True)


class PreferencesBody(Schema):
    email = Boolean()
    sms = Boolean()
    push = Boolean()
    unsubscribed_from_all = Boolean(metadata=FROM_ALL_METADATA)
    resubscribe = List(Id(), max=MAX_RESUBSCRIBES, metadata={"description": "ids of organisers who may write again"})


class DeviceBody(Schema):
    token = DeviceToken()
    platform = Choice(*PLATFORMS, required=True)


class DeviceGoneBody(Schema):
    token = DeviceToken()


class DeviceData(Schema):
    id = Id(required=True)
    platform = fields.String(required=True)
    created_at = TimeField(required=True)
    seen_at = TimeField(required=True)


class RemovedData(Schema):
    removed = Boolean(required=True, metadata={"description": "whether the device was registered"})

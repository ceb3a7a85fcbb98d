"""What the operations on one's wishes and devices take and give."""

from typing import Any

from marshmallow import fields

from app.subscriptions.channels import PLATFORMS
from app.web.fields import Choice, Flag, Id, Items, Moment, Object, Secret, Whole, problem
from app.web.schema import Schema

MAX_TOKEN_LENGTH, MAX_RESUBSCRIBES = 1024, 200
TOKEN_METADATA = {"example": "fcm:dGhpcyBpcyBubyB0b2tlbg", "description": "as the push service gave it to the app"}
FROM_ALL_METADATA = {"description": "true: no organiser may write, on any channel"}


class DeviceToken(Secret):
    """A token of a push service: printable ASCII."""

    def __init__(self) -> None:
        super().__init__(max=MAX_TOKEN_LENGTH, required=True, metadata=TOKEN_METADATA)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if not (text.isascii() and text.isprintable()):
            raise problem("invalid_characters", "Must be printable ASCII.")
        return text


class Preferences(Schema):
    email = Flag(required=True)
    sms = Flag(required=True)
    push = Flag(required=True)
    unsubscribed_from_all = Flag(required=True, metadata=FROM_ALL_METADATA)


class Ended(Schema):
    organiser_id = Id(required=True)
    name = fields.String(required=True)
    since = Moment(required=True)


class PreferencesData(Preferences):
    unsubscribed_from = Items(Object(Ended), required=True, metadata={"description": "who may not write any more"})
    version = Whole(required=True)


class PreferencesBody(Schema):
    email = Flag()
    sms = Flag()
    push = Flag()
    unsubscribed_from_all = Flag(metadata=FROM_ALL_METADATA)
    resubscribe = Items(Id(), max=MAX_RESUBSCRIBES, metadata={"description": "ids of organisers who may write again"})


class DeviceBody(Schema):
    token = DeviceToken()
    platform = Choice(*PLATFORMS, required=True)


class DeviceGoneBody(Schema):
    token = DeviceToken()


class DeviceData(Schema):
    id = Id(required=True)
    platform = fields.String(required=True)
    created_at = Moment(required=True)
    seen_at = Moment(required=True)


class RemovedData(Schema):
    removed = Flag(required=True, metadata={"description": "whether it was there"})

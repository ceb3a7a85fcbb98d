"""What the operations of campaigns take (specification 4.0-N and 4.6)."""

from typing import Any

from marshmallow import ValidationError, validates_schema

from app.blueprints.campaigns.custom_fields import Destination, Listed, OneLine
from app.campaigns import validation
from app.campaigns.states import AUDIENCES, CHANNELS, HOLDERS, STATES
from app.web.fields import Boolean, Choice, CodedMessage, Id, List, Number, OneOf, Text, TimeField
from app.web.images import ImageUrl
from app.web.schema import Query, RequiredFieldsSchema, Schema

ID = {"example": "6565a1f0c3d2e1b0a9f8e7d6"}
MOST_USERS = 500


def channels(**options: Any) -> Listed:
    return Listed(Text(validate=[OneOf(CHANNELS)]), min=1, max=10, example=["email"], choices=CHANNELS, **options)


class Checked(Schema):
    """What is wrong with several fields together is told with what is wrong with each."""

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def hangs_together(self, data: dict[str, Any], sent: Any, **_: Any) -> None:
        values: dict[str, list[str]] = {}
        for fault in validation.find_faults(data):
            # What was sent and is wrong for itself is not missing.
            if fault.code != "required" or not (isinstance(sent, dict) and sent.get(fault.path)):
                values.setdefault(fault.path, []).append(CodedMessage(fault.code, fault.message))
        if values:
            raise ValidationError(values)


def _fields(*, required: bool) -> dict[str, Any]:
    """Fields of a campaign; `required` are those of a new one."""
    need: dict[str, Any] = {"required": required}
    return {
        "name": OneLine(min=2, max=120, **need, metadata={"example": "Gates and parking"}),
        "template_id": Text(min=1, max=64, **need, metadata={"example": "event-reminder"}),
        "title": OneLine(min=1, max=160, **need, metadata={"example": "{eventName}: see you soon"}),
        "body": Text(min=1, max=600, **need, metadata={"example": "Hello {firstName}, the gates open at 17:00."}),
        "href": Destination(max=300, allow_none=True, metadata={"example": "https://example.com/lights"}),
        "image_url": ImageUrl(allow_none=True),
        "banner_url": ImageUrl(allow_none=True),
        "channels": channels(**need),
        "ab_test_enabled": Boolean(metadata={"example": False}),
        "variant_b_title": OneLine(max=160, allow_none=True, metadata={"example": "Tomorrow: {eventName}"}),
        "variant_b_body": Text(max=600, allow_none=True, metadata={"rare": True}),
        "ab_split_percent": Number(min=10, max=90, metadata={"example": 50, "description": "the share of variant B"}),
        "scheduled_at": TimeField(
            allow_none=True,
            metadata={"rare": True, "description": "when to send; a naive time is the event's. Not with sendNow"},
        ),
        "send_now": Boolean(**need, metadata={"example": False}),
        "audience_type": Choice(*AUDIENCES, **need),
        "user_ids": Listed(
            Id(),
            max=MOST_USERS,
            example=[ID["example"]],
            doubles=True,
            allow_none=True,
            metadata={"rare": True, "description": "for specific_users: a list, or one text with commas"},
        ),
        "respect_preferences": Boolean(**need, metadata={"example": True}),
    }


def _create_schema(name: str, doc: str, members: dict[str, Any]) -> type[Schema]:
    return type(name, (Checked,), {**members, "__doc__": doc})


NewCampaign = _create_schema("NewCampaign", "A campaign.", _fields(required=True))
CampaignChanges = _create_schema("CampaignChanges", "Fields of a campaign.", _fields(required=False))
AudienceBody = _create_schema(
    "AudienceBody",
    "As much of a campaign as is known; by default the holders, by e-mail, their preferences respected.",
    {
        **_fields(required=False),
        "channels": channels(load_default=lambda: ["email"]),
        "audience_type": Choice(*AUDIENCES, load_default=HOLDERS),
        "respect_preferences": Boolean(load_default=True),
    },
)


class TestBody(RequiredFieldsSchema, Checked):
    """The texts to look at, and on which channels."""

    required_names = ("title", "body")

    title = _fields(required=False)["title"]
    body = _fields(required=False)["body"]
    href = _fields(required=False)["href"]
    image_url = _fields(required=False)["image_url"]
    banner_url = _fields(required=False)["banner_url"]
    ab_test_enabled = _fields(required=False)["ab_test_enabled"]
    variant_b_title = _fields(required=False)["variant_b_title"]
    variant_b_body = _fields(required=False)["variant_b_body"]
    channels = channels(load_default=lambda: ["email"])


class ResendBody(Schema):
    """Which of the uncertain messages to send again; all of them, up to five hundred, when none is named."""

    recipient_ids = List(Id(), min=1, max=500, metadata={"rare": True})


class CampaignFilters(Query):
    status = Choice(*STATES, metadata={"example": "sent"})


class PeopleQuery(Query):
    q = Text(min=2, max=100, required=True, metadata={"example": "frieda"})

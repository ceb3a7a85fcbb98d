"""Request schemas of campaigns (specification 4.0-N and 4.6), with their custom fields."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from marshmallow import fields

from app.applications.states import STATES as APPLICATION_STATES
from app.campaigns.filtered_people_sql import ROLES
from app.campaigns.queries import UNDELIVERED
from app.campaigns.states import AUDIENCES, HOLDERS, RECIPIENT_STATES, STATES
from app.core.errors import ValidationFailed
from app.core.languages import LANGUAGES
from app.desk.failed_mails import MAX_CLEARED
from app.web.campaign_fields import MOST_CHOICES, CheckedSchema, Destination, ListOrText, OneLine, channels
from app.web.fields import (
    Boolean,
    Choice,
    Id,
    List,
    Nested,
    Number,
    Text,
    TimeField,
)
from app.web.schema import Query, RequiredFieldsSchema, Schema, to_camel_case
from app.web.text_fields import ImageUrl

ID = {"example": "6565a1f0c3d2e1b0a9f8e7d6"}
MOST_USERS = 500


class AudienceFilter(Schema):
    """The people of an event by their roles; they must meet all conditions that are about their role."""

    roles = List(
        Choice(*ROLES, metadata={"example": "ticket_holders"}),
        min=1,
        max=len(ROLES),
        required=True,
        metadata={"description": "Which people; each gets the message once."},
    )
    ticket_type_ids = List(
        Id(metadata=ID), max=MOST_CHOICES, metadata={"description": "For ticket holders and guests; without it all."}
    )
    admitted = Boolean(
        allow_none=True,
        metadata={"example": True, "description": "Whether ticket holders and guests have entered; null: all."},
    )
    block_ids = List(Id(metadata=ID), max=MOST_CHOICES, metadata={"description": "For guests; without it all blocks."})
    application_states = List(
        Choice(*APPLICATION_STATES, metadata={"example": "submitted"}),
        max=len(APPLICATION_STATES),
        metadata={"description": "For applicants; without it all who were not declined and have not withdrawn."},
    )
    languages = List(
        Choice(*LANGUAGES, metadata={"example": "de"}),
        max=len(LANGUAGES),
        metadata={"description": "For everybody; people without a known language count as readers of English."},
    )


def _fields(*, required: bool) -> dict[str, fields.Field[Any]]:
    """The fields of a campaign, with `required` as those of a new one."""
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
        "user_ids": ListOrText(
            Id(),
            max=MOST_USERS,
            example=[ID["example"]],
            keep_duplicates=True,
            allow_none=True,
            metadata={"rare": True, "description": "for specific_users: a list, or one text with commas"},
        ),
        "audience_filter": Nested(
            AudienceFilter, allow_none=True, metadata={"rare": True, "description": "for filtered_people"}
        ),
        "respect_preferences": Boolean(**need, metadata={"example": True}),
    }


def _create_schema(name: str, doc: str, members: dict[str, fields.Field[object]]) -> type[Schema]:
    return type(name, (CheckedSchema,), {**members, "__doc__": doc})


NewCampaign = _create_schema("NewCampaign", "A campaign.", _fields(required=True))
CampaignChanges = _create_schema("CampaignChanges", "Fields of a campaign.", _fields(required=False))
AudienceBody = _create_schema(
    "AudienceBody",
    "Any fields of a campaign; by default an e-mail to all holders that respects their preferences.",
    {
        **_fields(required=False),
        "channels": channels(load_default=lambda: ["email"]),
        "audience_type": Choice(*AUDIENCES, load_default=HOLDERS),
        "respect_preferences": Boolean(load_default=True),
    },
)


class TestBody(RequiredFieldsSchema, CheckedSchema):
    """The texts of a test, and its channels."""

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
    """The uncertain messages to send again; without ids all of them, up to five hundred."""

    recipient_ids = List(Id(), min=1, max=500, metadata={"rare": True})


class CampaignFilters(Query):
    status = Choice(*STATES, metadata={"example": "sent"})


class RecipientFilters(Query):
    q = Text(min=2, max=254, metadata={"example": "frieda", "description": "A part of a name, or a whole address."})
    state = Choice(*RECIPIENT_STATES, metadata={"example": "sent"})


class UndeliveredFilters(Query):
    state = Choice(*UNDELIVERED, metadata={"example": "failed"})
    campaign_id = Id(metadata={"description": "only the messages of this campaign"})


class ClearBody(Schema):
    ids = List(Id(), required=True, min=1, max=MAX_CLEARED, metadata={"description": "of failed mails"})


class PeopleQuery(Query):
    q = Text(min=2, max=100, required=True, metadata={"example": "frieda"})


@contextmanager
def problems_with_api_names() -> Iterator[None]:
    """Gives the problems of a ValidationFailed the names of the API."""
    try:
        yield
    except ValidationFailed as error:
        for problem in error.data["errors"]:
            problem["path"] = to_camel_case(problem["path"])
        raise

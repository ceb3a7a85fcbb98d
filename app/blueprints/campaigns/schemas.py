"""Request schemas of campaigns (specification 4.0-N and 4.6), with their custom fields."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from marshmallow import ValidationError, fields, validates_schema

from app.campaigns import validation
from app.campaigns.states import AUDIENCES, CHANNELS, HOLDERS, STATES
from app.core.addresses import is_url
from app.core.errors import ValidationFailed
from app.web.fields import (
    BaseField,
    Boolean,
    Choice,
    CodedMessage,
    Id,
    List,
    Number,
    OneOf,
    Text,
    TimeField,
    field_error,
)
from app.web.safe_redirect import is_local_path
from app.web.schema import Query, RequiredFieldsSchema, Schema, to_camel_case
from app.web.text_fields import ImageUrl

ID = {"example": "6565a1f0c3d2e1b0a9f8e7d6"}
MOST_USERS = 500


class ListOrText(BaseField, fields.Field[Any]):
    """A list without duplicates, or one text with entries separated by commas."""

    def __init__(
        self,
        inner: fields.Field[Any],
        *,
        min: int = 0,
        max: int,
        example: list[str],
        choices: Sequence[str] = (),
        keep_duplicates: bool = False,
        **kwargs: Any,
    ) -> None:
        self.inner_list, self.keep_duplicates = List(inner, min=min, max=max), keep_duplicates
        entry = {"type": "string", **({"enum": list(choices)} if choices else {})}
        entries = {"type": "array", "items": entry, "minItems": min, "maxItems": max}
        metadata = {"anyOf": [entries, {"type": "string"}], "example": example, **kwargs.pop("metadata", {})}
        super().__init__(metadata=metadata, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        self.inner_list.data_key = self.data_key
        entries = [entry for part in value.split(",") if (entry := part.strip())] if isinstance(value, str) else value
        loaded = self.inner_list.deserialize(entries, attr, data)
        return loaded if self.keep_duplicates else list(dict.fromkeys(loaded))


def channels(**options: Any) -> ListOrText:
    return ListOrText(Text(validate=[OneOf(CHANNELS)]), min=1, max=10, example=["email"], choices=CHANNELS, **options)


class CheckedSchema(Schema):
    """Reports problems across fields together with those of single fields."""

    @validates_schema(skip_on_field_errors=False, pass_original=True)
    def check_across_fields(self, data: dict[str, object], original: object, **_: object) -> None:
        messages: dict[str, list[str]] = {}
        for fault in validation.find_faults(data):
            name = to_camel_case(fault.field)
            # A field that was sent and is invalid on its own is not missing.
            if fault.code != "required" or not (isinstance(original, dict) and original.get(name)):
                messages.setdefault(name, []).append(CodedMessage(fault.code, fault.message))
        if messages:
            raise ValidationError(messages)


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
        "respect_preferences": Boolean(**need, metadata={"example": True}),
    }


def _create_schema(name: str, doc: str, members: dict[str, fields.Field[object]]) -> type[Schema]:
    return type(name, (CheckedSchema,), {**members, "__doc__": doc})


class OneLine(Text):
    """A text without line breaks, for headers of e-mails."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if len(text.splitlines()) > 1:
            raise field_error("invalid_characters", "Must be one line, without line breaks.")
        return text


class Destination(Text):
    """The link of a button: an https URL or a path of this site. An empty text means no link."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        href = super()._deserialize(value, attr, data, **kwargs)
        is_valid = href.isprintable() and (is_url(href, ("https",)) or is_local_path(href))
        if href and not is_valid:
            raise field_error("invalid_url", "Must be an https address, or a path of this site like /events/lights.")
        return href or None


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

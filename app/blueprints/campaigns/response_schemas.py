"""Response schemas of campaigns."""

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, pre_dump

from app.blueprints.campaigns.schemas import AudienceFilter
from app.campaigns.queries import build_figures
from app.campaigns.states import CHANNELS, HOLDERS, UNCERTAIN
from app.campaigns.suppressions import ALL_CHANNELS, REASONS, STOPPED
from app.core.addresses import mask_address
from app.desk.failed_mails import MAIL_KINDS
from app.web.fields import Boolean, List, Nested, Number, TimeField, WholeNumber
from app.web.schema import Schema
from app.web.suppression_fields import REASON_DESCRIPTION

ID = {"example": "6565a1f0c3d2e1b0a9f8e7d6"}


class Reachable(Schema):
    """How many people each channel reaches; 0 for channels that are not used."""

    email = WholeNumber(required=True)
    sms = WholeNumber(required=True)
    push = WholeNumber(required=True)


class Excluded(Schema):
    """How many get no message, by the reason."""

    opted_out = WholeNumber(required=True, data_key="optedOut", attribute="optedOut")
    no_address = WholeNumber(required=True, data_key="noAddress", attribute="noAddress")
    suppressed = WholeNumber(required=True)
    duplicate = WholeNumber(
        required=True, metadata={"description": "further tickets of people who are counted already"}
    )
    not_related = WholeNumber(required=True, data_key="notRelated", attribute="notRelated")


class Split(Schema):
    """How many people get each variant."""

    A = WholeNumber(required=True, data_key="A")
    B = WholeNumber(required=True, data_key="B")


class AudienceData(Schema):
    """The audience in figures, which are null while a large audience has not been counted."""

    type = fields.String(required=True, metadata={"example": HOLDERS})
    total = WholeNumber(
        required=True, metadata={"description": "tickets, or ids: the people and everything in excluded"}
    )
    people = WholeNumber(
        required=True, allow_none=True, metadata={"description": "reached on at least one of the channels"}
    )
    reachable = Nested(Reachable, required=True, allow_none=True)
    excluded = Nested(Excluded, required=True, allow_none=True)
    variants = Nested(Split, required=True, allow_none=True)


class Sampled(Schema):
    name = fields.String(required=True, allow_none=True, metadata={"example": "Frieda Amupolo"})
    email = fields.String(required=True, metadata={"example": "f•••@example.com"})
    tickets = WholeNumber(required=True)
    channels = List(fields.String(metadata={"example": "email"}), required=True)


class PreviewData(AudienceData):
    sample = List(Nested(Sampled), required=True)


class BroadcastData(Schema):
    campaign_id = fields.String(required=True, attribute="id", metadata=ID)
    status = fields.String(required=True, metadata={"example": "sending"})
    scheduled_at = TimeField(required=True, allow_none=True)
    audience = Nested(AudienceData, required=True)
    version = WholeNumber(required=True)


class Figures(Schema):
    """The messages by their state, one for each person and channel."""

    total = WholeNumber(required=True)
    sent = WholeNumber(required=True)
    failed = WholeNumber(required=True)
    suppressed = WholeNumber(
        required=True, metadata={"description": "left out, because they unsubscribed between the start and the sending"}
    )
    uncertain = WholeNumber(
        required=True, metadata={"description": "handed over without a confirmation that it arrived"}
    )
    pending = WholeNumber(required=True)
    clicked = WholeNumber(required=True)


class Variants(Schema):
    A = Nested(Figures, required=True, data_key="A")
    B = Nested(Figures, required=True, data_key="B")


class CampaignRow(Schema):
    """A campaign with its figures, in total and for each variant."""

    @pre_dump
    def add_figures(self, row: Mapping[str, Any], **_: Any) -> dict[str, object]:
        variants = {variant: build_figures((row["tallies"] or {}).get(variant, {})) for variant in ("A", "B")}
        progress = {name: sum(figures[name] for figures in variants.values()) for name in variants["A"]}
        return {**row, "progress": progress, "variants": variants, "history": row.get("history") or []}

    id = fields.String(required=True, metadata=ID)
    event_id = fields.String(required=True, metadata=ID)
    name = fields.String(required=True, metadata={"example": "Gates and parking"})
    status = fields.String(required=True, metadata={"example": "sent"})
    template_id = fields.String(required=True, metadata={"example": "event-reminder"})
    title = fields.String(required=True)
    body = fields.String(required=True)
    href = fields.String(required=True, allow_none=True)
    image_url = fields.String(required=True, allow_none=True)
    banner_url = fields.String(required=True, allow_none=True)
    channels = List(fields.String(metadata={"example": "email"}), required=True)
    ab_test_enabled = Boolean(required=True)
    variant_b_title = fields.String(required=True, allow_none=True)
    variant_b_body = fields.String(required=True, allow_none=True)
    ab_split_percent = Number(required=True)
    audience_type = fields.String(required=True, metadata={"example": HOLDERS})
    user_ids = List(fields.String(metadata=ID), required=True)
    audience_filter = Nested(AudienceFilter, required=True, allow_none=True)
    respect_preferences = Boolean(required=True)
    scheduled_at = TimeField(required=True, allow_none=True)
    started_at = TimeField(required=True, allow_none=True)
    finished_at = TimeField(required=True, allow_none=True)
    audience = Nested(AudienceData, required=True, allow_none=True)
    progress = Nested(Figures, required=True)
    variants = Nested(Variants, required=True)
    copied_from = fields.String(required=True, allow_none=True, metadata=ID)
    version = WholeNumber(required=True)
    created_at = TimeField(required=True)
    updated_at = TimeField(required=True)


class Act(Schema):
    verb = fields.String(required=True, metadata={"example": "scheduled"})
    actor_id = fields.String(required=True, allow_none=True, metadata=ID)
    at = fields.String(required=True, metadata={"example": "2026-12-04T16:00:00.000Z"})
    details = fields.Dict(required=True)


class CampaignData(CampaignRow):
    unsubscribed = fields.Function(
        lambda row: sum(row["unsubscribed_people"].values()),
        required=True,
        metadata={
            "type": "integer",
            "example": 2,
            "description": "People who unsubscribed after this message was sent to them, from you or from all organisers.",
        },
    )
    history = List(Nested(Act), required=True)


class RecipientRow(Schema):
    """A recipient with a masked address, which is null if the data of the person was erased."""

    @pre_dump
    def mask_address(self, row: Mapping[str, Any], **_: Any) -> dict[str, object]:
        return {**row, "address": mask_address(row["address"])}

    id = fields.String(required=True, metadata=ID)
    channel = fields.String(required=True, metadata={"example": "email"})
    name = fields.String(required=True, allow_none=True)
    address = fields.String(required=True, allow_none=True, metadata={"example": "f•••@example.com"})
    variant = fields.String(required=True, metadata={"example": "A"})
    state = fields.String(required=True, metadata={"example": UNCERTAIN})
    reason = fields.String(required=True, allow_none=True)
    settled_at = TimeField(required=True, allow_none=True)


class UndeliveredRow(RecipientRow):
    """A message that failed or is uncertain, with its campaign."""

    campaign_id = fields.String(required=True, metadata=ID)
    campaign_name = fields.String(required=True, metadata={"example": "Doors", "description": "Name of the campaign."})


class FailedMailRow(Schema):
    """A mail that failed, with a masked address."""

    id = fields.String(required=True, metadata=ID)
    kind = fields.String(
        required=True, metadata={"enum": list(MAIL_KINDS), "example": "applications.mail", "description": "what it is"}
    )
    application_id = fields.String(
        required=True, allow_none=True, metadata={**ID, "description": "the application that it is about, or null"}
    )
    block_id = fields.String(
        required=True, allow_none=True, metadata={**ID, "description": "the block that it is about, or null"}
    )
    address = fields.Function(
        lambda row: mask_address(row["address"]),
        required=True,
        metadata={"type": "string", "example": "f•••@example.com"},
    )
    reason = fields.String(
        required=True, metadata={"example": "the mail server refused the address", "description": "why it failed"}
    )
    failed_at = TimeField(required=True, metadata={"description": "when the last attempt failed"})


class ClearedMails(Schema):
    cleared = WholeNumber(required=True, metadata={"example": 3, "description": "mails"})


class MailPreview(Schema):
    subject = fields.String(required=True, metadata={"example": "Doors open at six", "description": "Its subject."})
    text = fields.String(required=True, metadata={"example": "See you at the gate.", "description": "Its plain text."})
    html = fields.String(
        required=True, metadata={"example": "<p>See you at the gate.</p>", "description": "Its HTML document."}
    )


class SmsPreview(Schema):
    text = fields.String(
        required=True, metadata={"example": "Doors open at six: see you at the gate.", "description": "Its text."}
    )


class PushPreview(Schema):
    title = fields.String(required=True, metadata={"example": "Doors open at six", "description": "Its title."})
    text = fields.String(required=True, metadata={"example": "See you at the gate.", "description": "Its text."})
    href = fields.String(
        required=True,
        allow_none=True,
        metadata={"example": "https://example.com/gates", "description": "What it opens; null without a link."},
    )
    image_url = fields.String(
        required=True, allow_none=True, metadata={"example": None, "description": "Its picture; null without one."}
    )


class VariantPreviewRow(Schema):
    """A variant on each channel."""

    name = fields.String(required=True, metadata={"enum": ["A", "B"], "example": "A", "description": "The variant."})
    email = Nested(MailPreview, required=True, metadata={"description": "The e-mail."})
    sms = Nested(SmsPreview, required=True, metadata={"description": "The text message."})
    sms_parts = WholeNumber(
        required=True, metadata={"example": 1, "description": "How many text messages a provider charges."}
    )
    push = Nested(PushPreview, required=True, metadata={"description": "The push message."})


class CampaignPreviewData(Schema):
    variants = List(
        Nested(VariantPreviewRow), required=True, metadata={"description": "Variant A, and B if it has one."}
    )


class Resent(Schema):
    campaign_id = fields.String(required=True, metadata=ID)
    resent = WholeNumber(required=True)


class TestData(Schema):
    channels = List(fields.String(metadata={"example": "email"}), required=True)
    to = fields.String(required=True, metadata={"example": "nangula@windhoek-lights.example"})
    messages = WholeNumber(required=True)


class TemplateRow(Schema):
    id = fields.String(required=True, metadata={"example": "event-reminder"})
    name = fields.String(required=True, metadata={"example": "Reminder"})
    description = fields.String(required=True)
    title = fields.String(required=True)
    body = fields.String(required=True)
    placeholders = List(fields.String(metadata={"example": "firstName"}), required=True)


class Placeholder(Schema):
    name = fields.String(required=True, metadata={"example": "firstName"})
    description = fields.String(required=True)


class TemplatesData(Schema):
    templates = List(Nested(TemplateRow), required=True)
    placeholders = List(Nested(Placeholder), required=True)


class UserRow(Schema):
    id = fields.String(required=True, metadata={**ID, "description": "for userIds: of a ticket, or of a merchant"})
    name = fields.String(required=True, allow_none=True, metadata={"example": "Frieda Amupolo"})
    email = fields.String(required=True, allow_none=True, metadata={"example": "f•••@example.com"})
    participates = Boolean(required=True)
    tickets = WholeNumber(required=True)


class UsersData(Schema):
    users = List(Nested(UserRow), required=True)


class SuppressionRow(Schema):
    """An address that gets no messages of the organisation."""

    address = fields.String(
        required=True,
        metadata={"example": "gone@example.com", "description": "E-mail address, telephone number or device."},
    )
    channel = fields.String(
        required=True,
        metadata={
            "enum": [ALL_CHANNELS, *CHANNELS],
            "example": ALL_CHANNELS,
            "description": "The channel on which it gets none; `all` unless it bounced.",
        },
    )
    reason = fields.String(
        required=True, metadata={"enum": list(REASONS), "example": STOPPED, "description": REASON_DESCRIPTION}
    )
    details = fields.String(
        required=True, metadata={"example": "", "description": "Answer of the mail server, if it bounced."}
    )
    since = TimeField(required=True)


class StoppedData(Schema):
    """An address that gets no more messages."""

    address = fields.String(
        required=True, metadata={"example": "frieda@example.com", "description": "The address, in lower case."}
    )
    added = Boolean(required=True, metadata={"description": "False if it was on the list already."})

"""Previews of a campaign: each variant on each channel, as the caller would get it. Nothing is sent."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.accounts.caller import Caller
from app.campaigns.delivery import build_context, find_test_recipient
from app.campaigns.message_templates import MessageContent, RecipientContext, render_mail, render_push, render_sms
from app.clients.message import Message
from app.clients.push import Push
from app.clients.sms import Sms, count_parts
from app.core.errors import NotFound
from app.core.languages import SOURCE_LANGUAGE, use_language

PREVIEW_KEY = "preview"


@dataclass(frozen=True)
class VariantPreview:
    """A variant as an e-mail, a text message with its number of parts, and a push message."""

    name: str
    email: Message
    sms: Sms
    sms_parts: int
    push: Push


def preview_variants(caller: Caller, campaign: Mapping[Any, Any]) -> list[VariantPreview]:
    """The variants of a campaign that the caller has read, in English as they are sent, with the caller's name.

    Raises NotFound.
    """
    recipient = find_test_recipient(caller.id, campaign["event_id"])
    if recipient is None:
        raise NotFound()
    context = build_context(recipient)
    variants = ("A", "B") if campaign["ab_test_enabled"] else ("A",)
    with use_language(SOURCE_LANGUAGE):
        return [_preview_variant(context, name, _build_content(campaign, name)) for name in variants]


def _build_content(campaign: Mapping[Any, Any], variant: str) -> MessageContent:
    is_second = variant == "B"
    return MessageContent(
        title=(is_second and campaign["variant_b_title"]) or campaign["title"],
        body=(is_second and campaign["variant_b_body"]) or campaign["body"],
        href=campaign["href"],
        image_url=campaign["image_url"],
        banner_url=campaign["banner_url"],
    )


def _preview_variant(context: RecipientContext, name: str, content: MessageContent) -> VariantPreview:
    sms = render_sms(context, content, to="", key=PREVIEW_KEY)
    return VariantPreview(
        name=name,
        email=render_mail(context, content, to=context.person, key=PREVIEW_KEY),
        sms=sms,
        sms_parts=count_parts(sms.text),
        push=render_push(context, content, (PREVIEW_KEY, "", ""), key=PREVIEW_KEY),
    )

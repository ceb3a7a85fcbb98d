"""Rendering a campaign's message as an e-mail, a text message or a push message."""

from dataclasses import dataclass

from flask import current_app

from app.campaigns.placeholders import Facts, fill_placeholders, placeholder_values
from app.clients.message import Message
from app.clients.push import Push
from app.clients.sms import Sms
from app.subscriptions.click_tracking import build_click_url
from app.subscriptions.emails import CampaignSender, render_campaign_email
from app.subscriptions.unsubscribe_links import build_unsubscribe_links


@dataclass(frozen=True)
class MessageContent:
    """The texts of a message, with placeholders. Without `recipient_id` it is a test, whose clicks are not counted."""

    title: str
    body: str
    href: str | None
    image_url: str | None
    banner_url: str | None
    recipient_id: str | None

    @property
    def link(self) -> str | None:
        """The URL of its button."""
        if not self.href:
            return None
        return build_click_url(self.recipient_id) if self.recipient_id else absolute_url(self.href)


@dataclass(frozen=True)
class RecipientContext:
    """The recipient's e-mail address, the facts for the texts, and the organiser of the event."""

    person: str
    facts: Facts
    organiser_id: str
    organiser_email: str | None


Device = tuple[str, str, str]
"""The id, token and platform of a device."""


def absolute_url(href: str) -> str:
    """The absolute URL; a path belongs to this site."""
    return f"{current_app.extensions['settings'].PUBLIC_BASE_URL}{href}" if href.startswith("/") else href


def render_mail(recipient: RecipientContext, content: MessageContent, *, to: str, key: str) -> Message:
    """The message as an e-mail with its unsubscribe links."""
    title, body = _fill_texts(recipient, content)
    facts = recipient.facts
    return render_campaign_email(
        to=to,
        key=key,
        sender=CampaignSender(name=facts.organiser_name, reply_to=recipient.organiser_email, event=facts.event_name),
        unsubscribe=build_unsubscribe_links(recipient.person, recipient.organiser_id),
        title=title,
        body=body,
        href=content.link,
        destination=absolute_url(content.href) if content.href else None,
        image_url=content.image_url or content.banner_url,
    )


def render_sms(recipient: RecipientContext, content: MessageContent, *, to: str, key: str) -> Sms:
    """The message as a text message: texts, link, and how to unsubscribe."""
    title, body = _fill_texts(recipient, content)
    unsubscribe = f"No more of this: {build_unsubscribe_links(recipient.person, recipient.organiser_id).url}"
    lines = [title, body, content.link, unsubscribe]
    return Sms(to=to, text="\n\n".join(line for line in lines if line), key=key, sender=recipient.facts.organiser_name)


def render_push(recipient: RecipientContext, content: MessageContent, device: Device, *, key: str) -> Push:
    """The message for one device. Each device has its own key: two devices get two messages."""
    title, body = _fill_texts(recipient, content)
    device_id, token, platform = device
    return Push(
        token=token,
        platform=platform,
        title=title,
        text=body,
        key=f"{key}-{device_id}",
        href=content.link,
        image_url=content.image_url or content.banner_url,
    )


def _fill_texts(recipient: RecipientContext, content: MessageContent) -> tuple[str, str]:
    values = placeholder_values(recipient.facts)
    title = fill_placeholders(content.title, values)
    return title if content.recipient_id else f"Test: {title}", fill_placeholders(content.body, values)

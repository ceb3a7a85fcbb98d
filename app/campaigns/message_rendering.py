"""A campaign's message as it leaves: as a mail, a text message, and a message on a device."""

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
    """What is said, with placeholders. Without `recipient_id` it is a test: marked as one, its links count nothing."""

    title: str
    body: str
    href: str | None
    image_url: str | None
    banner_url: str | None
    recipient_id: str | None

    @property
    def link(self) -> str | None:
        """Where its one button leads."""
        if not self.href:
            return None
        return build_click_url(self.recipient_id) if self.recipient_id else address_of(self.href)


@dataclass(frozen=True)
class RecipientContext:
    """Who reads it, by the e-mail address, what the texts can tell, and whose event it is."""

    person: str
    facts: Facts
    organiser_id: str
    organiser_email: str | None


Device = tuple[str, str, str]
"""Its id, its token, its platform."""


def address_of(href: str) -> str:
    """The whole address; a path is one of this site."""
    return f"{current_app.extensions['settings'].PUBLIC_BASE_URL}{href}" if href.startswith("/") else href


def render_mail(reader: RecipientContext, copy: MessageContent, *, to: str, key: str) -> Message:
    """The message as a mail, with the links by which its reader says no."""
    title, body = _format_details(reader, copy)
    facts = reader.facts
    return render_campaign_email(
        to=to,
        key=key,
        sender=CampaignSender(name=facts.organiser_name, reply_to=reader.organiser_email, event=facts.event_name),
        unsubscribe=build_unsubscribe_links(reader.person, reader.organiser_id),
        title=title,
        body=body,
        href=copy.link,
        leads_to=address_of(copy.href) if copy.href else None,
        image_url=copy.image_url or copy.banner_url,
    )


def render_sms(reader: RecipientContext, copy: MessageContent, *, to: str, key: str) -> Sms:
    """The message as a text: what it says, where it leads, and how to end it."""
    title, body = _format_details(reader, copy)
    no_more = f"No more of this: {build_unsubscribe_links(reader.person, reader.organiser_id).url}"
    lines = [title, body, copy.link, no_more]
    return Sms(to=to, text="\n\n".join(line for line in lines if line), key=key, sender=reader.facts.organiser_name)


def render_push(reader: RecipientContext, copy: MessageContent, device: Device, *, key: str) -> Push:
    """The message for one device. Each has a key of its own: two devices get two messages."""
    title, body = _format_details(reader, copy)
    device_id, token, platform = device
    return Push(
        token=token,
        platform=platform,
        title=title,
        text=body,
        key=f"{key}-{device_id}",
        href=copy.link,
        image_url=copy.image_url or copy.banner_url,
    )


def _format_details(reader: RecipientContext, copy: MessageContent) -> tuple[str, str]:
    values = placeholder_values(reader.facts)
    title = fill_placeholders(copy.title, values)
    return title if copy.recipient_id else f"Test: {title}", fill_placeholders(copy.body, values)

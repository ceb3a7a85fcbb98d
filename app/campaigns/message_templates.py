"""The texts of campaigns: built-in templates, placeholders, and rendering as an email, a text message or a push message.

`{firstName}` becomes the person's first name; nothing is evaluated. Text in doubled braces stays as it is, and so does a
brace without a plain name. A text is filled once: a value that looks like a placeholder stays.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches

from flask import current_app

from app.clients.email_templates import one_line, safe_display_name
from app.clients.message import Message
from app.clients.push import Push
from app.clients.sms import Sms
from app.core.formatting import format_day, format_time
from app.core.languages import mark_for_translation
from app.subscriptions.emails import CampaignSender, render_campaign_email
from app.subscriptions.message_links import build_click_url, build_unsubscribe_links


@dataclass(frozen=True)
class Template:
    """A title and a body with placeholders, and their purpose."""

    id: str
    name: str
    description: str
    title: str
    body: str

    @property
    def placeholders(self) -> list[str]:
        """The placeholders of its texts, in the order of first use."""
        return placeholders_in(f"{self.title} {self.body}")


UNFILLED = "…"
"""A line of a template that has only this is the place for the text of the organiser."""
TEMPLATES = {
    template.id: template
    for template in (
        Template(
            "event-reminder",
            "Reminder",
            "The days before: when and where, so that people need not look for it.",
            "{eventName}: see you soon",
            "Hello {firstName},\n\n{eventName} begins {startsAt} at {venue}, {city}. You have {tickets}. "
            "Bring the code on your telephone or on paper, and come a little early.\n\n{organiserName}",
        ),
        Template(
            "line-up",
            "Line-up",
            "Who plays, and when the programme is out.",
            "{eventName}: the line-up is out",
            "Hello {firstName},\n\nThe line-up of {eventName} is complete. Have a look at who plays on {startDate} "
            "and plan your evening.\n\n{organiserName}",
        ),
        Template(
            "event-change",
            "Change",
            "Something that people have to know is different now.",
            "{eventName}: please note a change",
            "Hello {firstName},\n\nSomething has changed for {eventName}. It now begins {startsAt} at {venue}, {city}. "
            "Your tickets stay valid.\n\n{organiserName}",
        ),
        Template(
            "event-cancelled",
            "Cancellation",
            "The event is cancelled: for ticket holders and guests.",
            "{eventName} is cancelled",
            "Hello {firstName},\n\nWe are sorry: {eventName}, planned for {startDate}, is cancelled. Your tickets are not "
            "valid any more.\n\nIf you have questions, also about your money, please ask us, the organiser: write to "
            "{contactEmail}.\n\n{organiserName}",
        ),
        Template(
            "stalls-cancelled",
            "Cancellation, to the stalls",
            "The event is cancelled: for stallholders and applicants.",
            "{eventName} is cancelled",
            "Hello {firstName},\n\nWe are sorry: {eventName}, planned for {startDate}, is cancelled, so there are no "
            "stalls. You need not do anything more for your stall or your application.\n\nIf you have questions, also "
            "about a stall fee that you paid, please ask us, the organiser: write to {contactEmail}.\n\n{organiserName}",
        ),
        Template(
            "sold-out-warning",
            "Nearly sold out",
            "For people who want to bring a friend.",
            "{eventName} is nearly sold out",
            "Hello {firstName},\n\nOnly a few tickets are left for {eventName} on {startDate}. If a friend wants to come "
            "along, now is the time.\n\n{organiserName}",
        ),
        Template(
            "thank-you",
            "Thank you",
            "The days after.",
            "Thank you for coming to {eventName}",
            "Hello {firstName},\n\nThank you for being at {eventName}. It was good to have you there. "
            "We hope to see you again.\n\n{organiserName}",
        ),
        Template(
            "blank",
            "Blank",
            "An empty page, with a greeting.",
            "{eventName}",
            f"Hello {{firstName}},\n\n{UNFILLED}\n\n{{organiserName}}",
        ),
    )
}
PLACEHOLDERS = {
    "firstName": mark_for_translation("the first word of the person's name, or “there”"),
    "name": mark_for_translation("the person's name, or “there”"),
    "tickets": mark_for_translation("how many the person has: “one ticket”, “3 tickets”"),
    "ticketCount": mark_for_translation("the same as a figure"),
    "eventName": mark_for_translation("the event's name"),
    "startsAt": mark_for_translation("when it begins, with the time zone's city"),
    "startDate": mark_for_translation("the day on which it begins"),
    "endsAt": mark_for_translation("when it ends"),
    "venue": mark_for_translation("where it is"),
    "city": mark_for_translation("in which city"),
    "organiserName": mark_for_translation("who organises it"),
    "contactEmail": mark_for_translation("the organiser’s e-mail address for questions"),
}
UNNAMED = "there"
_TOKEN = re.compile(r"\{\{.*?\}\}|\{([A-Za-z][A-Za-z0-9_]*)\}", re.DOTALL)


@dataclass(frozen=True)
class Facts:
    """The facts of the event and the recipient that fill placeholders. The zone is the event's."""

    event_name: str
    starts_at: datetime
    ends_at: datetime
    zone: str
    venue: str
    city: str
    organiser_name: str
    contact_email: str
    person_name: str | None
    places: int


def placeholders_in(text: str) -> list[str]:
    """The names of the placeholders, each once, in the order of first use."""
    return list(dict.fromkeys(match[1] for match in _TOKEN.finditer(text) if match[1]))


def unknown_in(text: str) -> dict[str, str | None]:
    """Unknown placeholders, each with the most similar known one."""
    return {name: _nearest(name) for name in placeholders_in(text) if name not in PLACEHOLDERS}


def is_unfilled(text: str) -> bool:
    """Whether a line of the text is still the mark of a template. The mark within a sentence is a normal ellipsis."""
    return any(line.strip() == UNFILLED for line in text.splitlines())


def placeholder_values(facts: Facts) -> dict[str, str]:
    """A value for every placeholder, each on one line."""
    name = safe_display_name(one_line(facts.person_name or "")) or UNNAMED
    values = {
        "firstName": name.split()[0],
        "name": name,
        "tickets": {0: "no ticket", 1: "one ticket"}.get(facts.places, f"{facts.places} tickets"),
        "ticketCount": str(facts.places),
        "eventName": facts.event_name,
        "startsAt": format_time(facts.starts_at, facts.zone),
        "startDate": format_day(facts.starts_at, facts.zone),
        "endsAt": format_time(facts.ends_at, facts.zone),
        "venue": facts.venue,
        "city": facts.city,
        "organiserName": facts.organiser_name,
        "contactEmail": facts.contact_email,
    }
    return {name: one_line(value) for name, value in values.items()}


def fill_placeholders(text: str, values: Mapping[str, str]) -> str:
    """The text with its placeholders filled in, once."""
    return _TOKEN.sub(lambda match: values.get(match[1], match[0]) if match[1] else match[0], text)


def _nearest(name: str) -> str | None:
    by_lower_name = {placeholder.lower(): placeholder for placeholder in PLACEHOLDERS}
    matches = get_close_matches(name.lower()[:40].replace("_", ""), by_lower_name, n=1, cutoff=0.6)
    return by_lower_name[matches[0]] if matches else None


@dataclass(frozen=True)
class MessageContent:
    """The texts of a message, with placeholders. Without `recipient_id` it is a test or a preview: clicks are not counted.

    The title of a test says so.
    """

    title: str
    body: str
    href: str | None
    image_url: str | None
    banner_url: str | None
    recipient_id: str | None = None
    is_test: bool = False

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
    return f"Test: {title}" if content.is_test else title, fill_placeholders(content.body, values)

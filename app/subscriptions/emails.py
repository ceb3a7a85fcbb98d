"""Renders a campaign message as the mail of one recipient."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from app.clients.email_templates import render_email, shorten
from app.clients.message import Message
from app.subscriptions.message_links import UnsubscribeLinks

MAX_TITLE_LENGTH, MAX_PREHEADER_LENGTH = 160, 110
_PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*\n\s*")


@dataclass(frozen=True, kw_only=True)
class CampaignSender:
    """The organiser's name, the address for replies, and the event of a campaign mail."""

    name: str
    reply_to: str | None
    event: str


def render_campaign_email(
    *,
    to: str,
    key: str,
    sender: CampaignSender,
    unsubscribe: UnsubscribeLinks,
    title: str,
    body: str,
    href: str | None = None,
    destination: str | None = None,
    image_url: str | None = None,
    label: str = "Read more",
) -> Message:
    """The mail of one recipient, from texts without placeholders. The same `key` gives the same Message-ID.

    `href` is the https address of the button. When it is a tracked link, `destination` is the destination, whose host the
    mail shows. `image_url` is an https address. The texts are plain: HTML and template syntax are escaped. The title is
    cut to one line of MAX_TITLE_LENGTH characters.
    """
    paragraphs = [paragraph.split("\n") for paragraph in _PARAGRAPH_BREAK.split(_normalize_newlines(body))]
    return render_email(
        "campaign",
        to=to,
        key=key,
        sender_name=sender.name,
        reply_to=sender.reply_to,
        headers=unsubscribe.headers,
        keep_links=True,
        title=shorten(" ".join(title.split()), MAX_TITLE_LENGTH),
        preheader=_build_preheader(paragraphs),
        paragraphs=paragraphs,
        organiser=sender.name,
        event=sender.event,
        href=href,
        destination_host=urlsplit(destination).hostname if destination else None,
        image_url=image_url,
        label=label,
        unsubscribe_url=unsubscribe.url,
    )


def _normalize_newlines(body: str) -> str:
    return body.replace("\r\n", "\n").replace("\r", "\n").strip()


def _build_preheader(paragraphs: Sequence[Sequence[str]]) -> str:
    """The start of the text, which mail programs show next to the subject."""
    return shorten(" ".join(" ".join(line) for line in paragraphs), MAX_PREHEADER_LENGTH)

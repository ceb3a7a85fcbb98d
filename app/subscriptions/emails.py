"""What an organiser writes to many, as the mail that one person gets."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from app.clients.email_templates import render_email, shorten
from app.clients.message import Message
from app.subscriptions.unsubscribe_links import UnsubscribeLinks

MAX_TITLE_LENGTH, MAX_PREHEADER_LENGTH = 160, 110
_PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*\n\s*")


@dataclass(frozen=True, kw_only=True)
class CampaignSender:
    """In whose name a mail goes out, and where answers to it arrive; the event that it is about."""

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
    leads_to: str | None = None,
    image_url: str | None = None,
    label: str = "Read more",
) -> Message:
    """The mail for one person, from texts in which everything is filled in. The same `key` gives the same Message-ID.

    `href` is where the button goes, an https address of at most a few hundred characters; when that only counts and
    leads on, `leads_to` is the address behind it, whose host is said. `image_url` is an https address as well. Nothing
    in the texts is markup, of HTML or of templates; a title keeps one line, and 160 characters.
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
        destination_host=urlsplit(leads_to).hostname if leads_to else None,
        image_url=image_url,
        label=label,
        unsubscribe_url=unsubscribe.url,
    )


def _normalize_newlines(body: str) -> str:
    return body.replace("\r\n", "\n").replace("\r", "\n").strip()


def _build_preheader(paragraphs: Sequence[Sequence[str]]) -> str:
    """The first words, for the line that a mail program shows beside the subject."""
    return shorten(" ".join(" ".join(line) for line in paragraphs), MAX_PREHEADER_LENGTH)
